"""Computes every scalar function in Triton's interpreter and with the oracle; prints both.

A process of its own, because the interpreter is chosen when triton is loaded.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import torch

from benchmarks.fusion import emitted
from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import all_functions
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.interpret import interpret
from xeforge.fusion.plan import unfused

SPECIAL = [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 1e-8, -1e-8, 0.5, 2.5]


def main():
    """Print, for each dtype and function, what both computed."""
    random = np.random.default_rng(0)
    found = {}
    for dtype in ("float32", "float64", "float16"):
        a = np.concatenate([SPECIAL, random.uniform(-30, 30, 40), random.uniform(-0.4, 0.4, 40)])
        b = np.concatenate([SPECIAL[::-1], random.integers(-3, 4, 40), random.uniform(-2, 2, 40)])
        given = {"a": a, "b": b}
        kind = getattr(torch, dtype)
        tensors = {name: torch.tensor(value).to(kind) for name, value in given.items()}
        rounded = {name: value.to(torch.float64).numpy() for name, value in tensors.items()}
        made = all_functions(dtype, a.size)
        wanted = interpret(made, rounded, exact=True)
        text = emit(unfused(made), (), TARGET)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = emitted.run(text, Path(folder), f"all_{dtype}", tensors, {})
        for name, values in zip(made.outputs, got, strict=True):
            found[f"{dtype} {name[:-2]}"] = {
                "at": rounded["a"].tolist(),
                "wanted": np.asarray(wanted[name], np.float64).tolist(),
                "got": values.tolist(),
            }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
