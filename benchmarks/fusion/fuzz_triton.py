"""Random programs through the Triton emitter and Triton's interpreter, against the oracle.

    python -m benchmarks.fusion.fuzz_triton --programs 300 --out found.json

Every second program is around a product, every fourth one folds down columns; the rest is anything.
The interpreter has no bfloat16 worth the name, so programs are in float32 and float16.
"""

import argparse
import json
import math
import random
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fusion import emitted
from benchmarks.fusion.columns import ColumnGraph
from benchmarks.fusion.products import ProductGraph
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.errors import UserError
from xeforge.fusion.emit.triton.contraction import problem_of
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.split import split_sum
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.target import find_target
from xeforge.fusion.emit.triton.tile import Form
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.words import power_of_two
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import roundings
from xeforge.fusion.fuse import split
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.search import search
from xeforge.fusion.interpret import interpret
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Plan
from xeforge.fusion.plan import unfused

TOLERANCES = {"float32": 2e-5, "float16": 4e-3}
"""Error that is always allowed, in units of an output's largest value."""
FACTOR = 8.0
"""How often the error of rounding each operator alone (the oracle's own) may be exceeded."""
STEPS = 8
HALF_EVERY = 3
PART_TERMS = 7
"""Of folds in two steps."""
PRODUCT_EVERY = 2
COLUMNS_EVERY = 4
_OFTEN = 0.4
"""How often factors are copied, columns have an accumulator beside, the host makes descriptors."""
USUAL = find_target("cuda:90")
CHUNKS = {ProductGraph: 16, Grower: 2, ColumnGraph: 64}
"""Elements of a row that the smallest target looks at together."""
CASES = (USUAL, replace(USUAL, units=1))
"""Targets with few units, or that hold hardly anything: small programs take the ways of large."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the programs; print and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--out", type=Path, default=None, help="JSON file for the result")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(options.first, options.first + options.programs)
        cases = [case(seed, Path(folder)) for seed in seeds]
    counts = Counter(each["verdict"] for each in cases)
    summary = {
        "programs": len(cases),
        **{name: counts[name] for name in ("right", "wrong", "refused")},
        "statements": sum(each.get("statements", 0) for each in cases),
        "failing": [each for each in cases if each["verdict"] != "right"],
    }
    if options.out is not None:
        options.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(" ".join(f"{name}={value}" for name, value in summary.items() if name != "failing"))
    for each in summary["failing"]:
        print(each["seed"], each["verdict"], each["detail"].strip().splitlines()[-1])
    return 1 if counts["wrong"] else 0


def case(seed: int, folder: Path) -> dict[str, Any]:
    """Make one program, emit it under each plan, run it and say how far off it is."""
    dtype = "float16" if seed % HALF_EVERY == HALF_EVERY - 1 else "float32"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        is_product = seed % PRODUCT_EVERY == 0
        grower = grown(seed, dtype)
        recorder = grower.recorder
        program = program_of(recorder, *grower.outputs())
    named = {"seed": seed, "dtype": dtype, "statements": len(program.statements)}
    wanted = interpret(program, recorder.given(), exact=True)
    rounded = interpret(program, recorder.given(), exact=False)
    for name, plan in plans(
        program, with_nests=not is_product, drops_roundings=seed // STEPS % 2 == 1
    ):
        try:
            target = targets(CHUNKS[type(grower)])[seed // HALF_EVERY % HALF_EVERY]
            text = emit(plan, parameters(recorder), target, tiles(plan, seed))
        except UserError as error:
            return {**named, "verdict": "refused", "plan": name, "detail": str(error)}
        try:
            found = emitted.run(text, folder, f"case_{seed}_{name}", *call_of(recorder))
            detail = difference(program, found, wanted, rounded, TOLERANCES[dtype])
        except Exception:  # noqa: BLE001  whatever an emitted file raises is a finding
            detail = traceback.format_exc()
        if detail:
            return {**named, "verdict": "wrong", "plan": name, "detail": detail, "source": text}
    return {**named, "verdict": "right", "detail": ""}


def grown(seed: int, dtype: str) -> Any:
    """Return what makes the graph of a seed."""
    if seed % PRODUCT_EVERY == 0:
        return ProductGraph(seed, dtype)
    if seed % COLUMNS_EVERY == COLUMNS_EVERY - 1:
        return ColumnGraph(seed, dtype)
    return Grower(seed, 1 + seed % STEPS, dtype)


def plans(
    program: Program, *, with_nests: bool, drops_roundings: bool
) -> tuple[tuple[str, Plan], ...]:
    """Return the plans to try for a program: those of the search, and one nest per statement."""
    found = [("nests", unfused(program))] if with_nests else []
    # Large blocks take the interpreter seconds: of products, the two most fused plans.
    for each in search(program, H200)[: None if with_nests else 2]:
        if all(each.plan.groups != plan.groups for _, plan in found):
            found.append((each.name, roundings.run(each.plan) if drops_roundings else each.plan))
    found += [(f"{name}_split", cut) for name, plan in found[:1] for cut in _cut(plan)]
    found += [("parts", cut) for cut in _in_parts(program)]
    return tuple(found)


def _in_parts(program: Program) -> Iterator[Plan]:
    """Yield a plan with every long fold in two steps, of parts that need not be equal."""
    made = program = canonical.run(program)
    for stmt in program.statements:
        terms = math.prod(each.extent for each in stmt.axes if each.name in stmt.reduced())
        if stmt.reduce is not None and not stmt.constraints and terms > PART_TERMS:
            made = split.run(made, stmt.name, PART_TERMS)
    if made is not program:
        yield grow(made, Limits(H200))


def _cut(plan: Plan) -> Iterator[Plan]:
    """Yield a plan with the sum of a contraction in parts, where one has equal parts."""
    for group in plan.groups:
        deep = group.extent("k") if group.family == "contraction" else 1
        parts = next((each for each in (4, 3, 2) if deep % each == 0 and deep > each), None)
        if parts is not None and len(group.axes["k"]) == 1:
            yield split_sum(plan, group.name, parts)
            return


def targets(chunk: int) -> tuple[TritonTarget, ...]:
    """Return targets; the last one holds rows of hardly any length."""
    return (*CASES, replace(USUAL, longest_row=chunk, chunk=chunk, units=3))


def tiles(plan: Plan, seed: int) -> dict[str, list[Tile]]:
    """Choose small tiles of every form, so that small problems have many of them."""
    choice = random.Random(seed)  # noqa: S311  repeatable, not secret
    found = {}
    for group in plan.groups:
        if group.family == "contraction":
            problem = problem_of(group, plan.program)
            least = max(16, power_of_two(problem.folded))
            form: Form = choice.choice(("pointers", "descriptors", "persistent"))
            pads = problem.padded_k > 0 and choice.random() < _OFTEN
            is_described = form != "pointers" and (problem.may_describe or pads)
            beside = is_described and problem.folded == 1 and choice.random() < _OFTEN
            found[group.name] = [
                Tile(
                    m=choice.choice((16, 32)),
                    n=least * choice.choice((1, 2)),
                    k=16,
                    warps=4,
                    stages=2,
                    group_m=choice.randint(1, 3),
                    form=form,
                    parts=1 if beside else choice.choice((1, 2)),
                    pads=pads,
                    beside=16 if beside else 0,
                    is_hosted=form != "pointers" and choice.random() < _OFTEN,
                )
            ]
    return found


def parameters(recorder: Any) -> list[Any]:
    """Return the tensors of a graph with a path in the state for each parameter."""
    return [replace(each, path=f"held.{each.name}") for each in recorder.parameters]


def call_of(recorder: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """Return tensors by name, inputs in order, and the paths of parameters."""
    tensors = (*recorder.inputs, *recorder.parameters)
    given = {each.name: recorder.tensors[each.name] for each in tensors if each.value is None}
    paths = {each.name: each.path for each in parameters(recorder) if each.value is None}
    return given, paths


def difference(
    program: Program, found: Sequence[Any], wanted: Any, rounded: Any, tolerance: float
) -> str:
    """Say which output is off by more than its tolerance; empty: none is."""
    for name, got in zip(program.outputs, found, strict=True):
        want = np.asarray(wanted[name], np.float64)
        if got.shape != want.shape:
            return f"{name} has the shape {got.shape}, not {want.shape}"
        finite = np.isfinite(want)
        scale = max(1.0, float(np.abs(want[finite]).max())) if finite.any() else 1.0
        usual = np.abs(np.asarray(rounded[name], np.float64) - want)[finite]
        allowed = tolerance * scale + FACTOR * (float(usual.max()) if usual.size else 0.0)
        if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
            return f"{name} is finite where it should not be, or the reverse"
        off = np.abs(got - want)[finite]
        if off.size and not float(off.max()) <= allowed:
            return f"{name} is off by {float(off.max()):.3g}; {allowed:.3g} is allowed"
    return ""


if __name__ == "__main__":
    sys.exit(main())
