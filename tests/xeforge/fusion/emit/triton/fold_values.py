"""Runs folds down columns and along rows in Triton's interpreter, and prints how far off each is.

A process of its own, because the interpreter is chosen when triton is loaded.
"""

import json
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.fusion import emitted
from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import tensors_of
from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import riders
from xeforge.fusion.fuse import split
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.interpret import interpret

SMALL = replace(TARGET, longest_row=64, chunk=64, units=1)
"""Holds hardly anything, so that small columns are walked in steps."""
TERMS = 5
"""Of a partial fold, so that the last part is cut short."""


def _fold(op, *shape, dims, order=None, before=None):
    def build(recorder):
        value = recorder.input(*shape)
        if order is not None:
            value = recorder.op("permute", value, order)
        if before is not None:
            value = recorder.op(before, value)
        if op == "prod":
            return recorder.op(op, value, dims[0], False)
        return recorder.op(op, value, dims[0] if op == "softmax" else dims)

    return build


def _batch_norm(recorder):
    x, pair = recorder.input(4, 3, 5, 7), (recorder.parameter(3), recorder.parameter(3))
    return recorder.op("batch_norm", x, *pair, None, None, True, 0.1, 1e-2, False)


def _group_norm(recorder):
    x, pair = recorder.input(2, 12, 30), (recorder.parameter(12), recorder.parameter(12))
    return recorder.op("group_norm", x, 3, *pair, 1e-2, False)


def _riders(recorder):
    """Return a fold of a matrix, and small ones that ride in its launch."""
    return (
        recorder.op("sum", recorder.input(180, 100), [0]),
        recorder.op("amax", recorder.parameter(300), [0]),
        recorder.op("mean", recorder.parameter(40, 7), [0]),
    )


GRAPHS = {
    **{op: _fold(op, 23, 37, dims=[0]) for op in ("sum", "amax", "amin", "prod", "mean")},
    **{f"{op} inside": _fold(op, 3, 23, 10, dims=[1]) for op in ("logsumexp", "var", "softmax")},
    "softmax down": _fold("softmax", 40, 33, dims=[0]),
    "gelu before": _fold("sum", 40, 33, dims=[0], before="gelu"),
    "channels": _fold("amax", 2, 17, 3, 5, dims=[1]),
    "turned": _fold("mean", 6, 17, 8, dims=[1], order=[2, 1, 0]),
    "turned twice": _fold("sum", 6, 17, 8, dims=[0, 1], order=[2, 0, 1]),
    "batch norm": _batch_norm,
    "group norm": _group_norm,
    "all": _fold("sum", 30, 50, dims=[0, 1]),
    "few rows": _fold("logsumexp", 3, 130, dims=[1]),
    "riders": _riders,
}
HALVES = ("sum", "softmax down")
FORMS = {
    "whole held": (False, TARGET),
    "whole in steps": (False, SMALL),
    "parts in steps": (True, SMALL),
}


def main():
    """Print the largest error of each file, in units of the largest value."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, build in GRAPHS.items():
            for dtype in ("float32", "float16") if name in HALVES else ("float32",):
                recorder = Recorder(dtype, seed=len(name))
                made = build(recorder)
                outputs = made if isinstance(made, tuple) else (made,)
                program = canonical.run(program_of(recorder, *outputs))
                for kind, text in _files(program, recorder):
                    key = f"{name} {dtype} {kind}"
                    place = key.replace(" ", "_")
                    got = emitted.run(text, Path(folder), place, *_call(recorder))
                    found[key] = {"error": _error(program, recorder, got), "text": text}
    json.dump(found, sys.stdout)


def _files(program, recorder):
    for kind, (is_split, target) in FORMS.items():
        plan = riders.run(grow(_in_parts(program) if is_split else program, Limits(H200)))
        check_plan(plan)
        yield kind, emit(plan, tensors_of(recorder), target)


def _in_parts(program):
    for stmt in program.statements:
        if stmt.reduce is not None and not stmt.constraints:
            program = split.run(program, stmt.name, TERMS)
    return program


def _call(recorder):
    tensors = tensors_of(recorder)
    given = {each.name: recorder.tensors[each.name] for each in tensors}
    return given, {each.name: each.path for each in tensors if each.path}


def _error(program, recorder, outputs):
    wanted = interpret(program, recorder.given(), exact=True)
    most = 0.0
    for name, got in zip(program.outputs, outputs, strict=True):
        want = np.asarray(wanted[name], np.float64)
        if got.shape != want.shape:
            return float("inf")
        most = max(most, float(abs(got - want).max() / abs(want).max()))
    return most


if __name__ == "__main__":
    main()
