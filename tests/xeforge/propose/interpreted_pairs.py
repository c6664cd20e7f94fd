"""Runs original and rewritten kernel files in Triton's interpreter and compares their outputs.

Reads a JSON list of pairs from standard input, writes a JSON list of results. Started as a process
of its own, because the interpreter must be switched on before Triton is imported.
"""

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class Driver(DriverBase):
    """Enough of a driver for ``@triton.autotune`` to construct itself without a device."""

    def __init__(self):
        pass

    @classmethod
    def is_active(cls):
        return True

    def map_python_to_cpp_type(self, ty):
        return ty

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def get_benchmarker(self):
        def bench(function, quantiles=None, **_):
            function()
            return [1.0] * len(quantiles) if quantiles else 1.0

        return bench


def load(source, folder, number):
    path = Path(folder) / f"kernel_{number}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"kernel_{number}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outputs(module, pair, seed):
    torch.manual_seed(seed)
    model = module.Model(*pair.get("init", [])).to(getattr(torch, pair["dtype"]))
    torch.manual_seed(seed + 1)
    inputs = [torch.randn(*shape).to(getattr(torch, pair["dtype"])) for shape in pair["shapes"]]
    with torch.no_grad():
        found = model(*inputs)
    return found if isinstance(found, tuple) else (found,)


def compare(pair, folder, number):
    original = load(pair["original"], folder, 2 * number)
    rewritten = load(pair["rewritten"], folder, 2 * number + 1)
    wanted = outputs(original, pair, 7)
    got = outputs(rewritten, pair, 7)
    worst = max(
        float((a.double() - b.double()).abs().max()) for a, b in zip(wanted, got, strict=True)
    )
    scale = max(float(a.double().abs().max()) for a in wanted)
    same = [(a.dtype, a.shape) for a in wanted] == [(b.dtype, b.shape) for b in got]
    finite = all(bool(torch.isfinite(a).all()) for a in wanted)
    return {"name": pair["name"], "worst": worst, "scale": scale, "same": same, "finite": finite}


def main():
    triton.runtime.driver.set_active(Driver())
    pairs = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        found = [compare(pair, folder, number) for number, pair in enumerate(pairs)]
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
