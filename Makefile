# One command per intent. `make help` lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test check golden intel-check format clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "XeForge needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[kernels,dev]'
	@touch $@

setup: $(VENV)/.installed ## make the environment and install XeForge into it

demo: $(VENV)/.installed ## optimize an example kernel on the device of this machine
	@tools/system-packages.sh demo
	@$(BIN)/xeforge demo

test: $(VENV)/.installed ## install what the tests need, then run them
	@tools/system-packages.sh test
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/.installed ## ruff, mypy, import contracts, size gate
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/sizes.py

golden: $(VENV)/.installed ## write anew what the fusion compiler makes; look at the difference
	$(BIN)/python -m tests.xeforge.fusion.golden.write

intel-check: $(VENV)/.installed ## optional: an environment for `xeforge structure`, then its test
	@PYTHON='$(PYTHON)' tools/intel-environment.sh $(VENV)-intel
	$(BIN)/python -m pytest -m intel tests/bench_workers/host/test_lowering.py

format: $(VENV)/.installed ## format the code
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .

clean: ## remove the environment and caches
	rm -rf $(VENV) $(VENV)-intel .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
