"""Folder, registry and file names agree; the five packages import one way only."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = re.compile(r'^NAME(?:: [^=]+)? = "(\w+)"', re.MULTILINE)


def module_names(folder: str) -> set[str]:
    return {path.stem for path in (ROOT / folder).glob("*.py") if path.stem != "__init__"}


def test_every_stage_file_is_registered_under_its_own_name():
    from xeforge.pipeline.stages import STAGES

    names = [stage.name for stage in STAGES]
    assert len(names) == len(set(names))
    assert set(names) == module_names("xeforge/pipeline/stages")


@pytest.mark.parametrize(
    ("package", "registry"),
    [
        ("xeforge.verify.checks", "CHECKS"),
        ("xeforge.verify.gates", "GATES"),
        ("xeforge.propose.recipes", "RECIPES"),
        ("xeforge.intake.issues", "DETECTORS"),
    ],
)
def test_every_strategy_file_is_registered_under_its_own_name(package, registry):
    names = [
        each[0] if isinstance(each, tuple) else each.NAME
        for each in getattr(importlib.import_module(package), registry)
    ]
    assert len(names) == len(set(names))
    declared = {}
    for path in (ROOT / package.replace(".", "/")).glob("*.py"):
        found = NAME.search(path.read_text(encoding="utf-8"))
        if found:
            declared[path.stem] = found[1]
    assert set(names) == set(declared.values())
    assert all(stem == name for stem, name in declared.items())


def test_every_stage_asks_only_proposers_that_exist():
    from xeforge.pipeline.stages import STAGES
    from xeforge.propose import PROPOSERS

    known = {proposer.name for proposer in PROPOSERS}
    assert {name for stage in STAGES for name in stage.proposers} == known


def test_every_recipe_belongs_to_a_stage_that_applies_recipes():
    from xeforge.pipeline.stages import STAGE_BY_NAME
    from xeforge.propose.recipes import RECIPES

    for recipe in RECIPES:
        assert "recipe_apply" in STAGE_BY_NAME[recipe.STAGE].proposers


def test_the_command_line_imports_neither_torch_nor_triton():
    code = (
        "import importlib, sys, xeforge.app.main as main, bench_workers.host.evaluator;"
        "[importlib.import_module(f'xeforge.app.{name}') for name in main.COMMANDS];"
        "bad = {'torch', 'triton', 'dspy', 'litellm', 'openai', 'anthropic'} & set(sys.modules);"
        "sys.exit(', '.join(sorted(bad)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_is_a_module_and_stands_in_the_readme():
    from xeforge.app.main import COMMANDS

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert (ROOT / "xeforge" / "app" / f"{name}.py").is_file()
        assert f"`xeforge {name}" in readme or name == "demo"


def test_the_untrusted_side_imports_nothing_of_ours():
    ours = {"xeforge", "knowledge", "bench_workers", "agents", "api"}
    for path in (ROOT / "bench_workers" / "child").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                roots = {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                roots = {(node.module or "").split(".")[0]}
            else:
                continue
            assert not roots & ours, f"{path}:{node.lineno}"
