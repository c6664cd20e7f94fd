"""Random programs through the C emitter, against the oracle.

    python -m benchmarks.fusion.fuzz_c --programs 2000 --out found.json

Every plan of the search and the unfused one are emitted; many plans share one call of the
compiler. Half of the programs are compiled for targets with tiny limits and caches, so that small
programs take the ways of large ones.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.fusion.products import ProductGraph
from tests.xeforge.fusion.emit.c.programs import TARGET
from tests.xeforge.fusion.emit.c.programs import faults
from tests.xeforge.fusion.graphs import program_of
from tests.xeforge.fusion.random_graphs import Grower
from xeforge.errors import UserError
from xeforge.fusion.emit.c.build import compile_text
from xeforge.fusion.emit.c.load import load
from xeforge.fusion.emit.c.source import FLAGS
from xeforge.fusion.emit.c.source import CSource
from xeforge.fusion.emit.c.source import emit
from xeforge.fusion.emit.c.source import joined
from xeforge.fusion.emit.c.target import X86
from xeforge.fusion.emit.c.target import this_machine
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.search import search
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Plan
from xeforge.fusion.plan import unfused

DTYPES = ("float32", "float64", "float32", "bfloat16", "float16")
PRODUCT_EVERY = 3
STEPS = 9
BATCH = 25
TARGETS = (
    TARGET,
    this_machine(),
    replace(TARGET, vector_bytes=16, march=X86.march, flags=X86.flags),
)
"""Tiny limits with the vectors of this machine, its own limits, and tiny ones without AVX."""


@dataclass(frozen=True, slots=True)
class Case:
    """One program and what is run of it."""

    seed: int
    dtype: str
    program: Program
    given: dict[str, Any]
    sources: tuple[tuple[str, CSource], ...]
    refused: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the programs; print and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--optimise", default="-O1", help="level for the compiler")
    parser.add_argument("--out", type=Path, default=None, help="JSON file for the result")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    counts: Counter[str] = Counter()
    families: Counter[str] = Counter()
    failing: list[dict[str, Any]] = []
    seeds = range(options.first, options.first + options.programs)
    for start in range(0, len(seeds), BATCH):
        target = TARGETS[start // BATCH % len(TARGETS)]
        cases = [case(seed, target, families) for seed in seeds[start : start + BATCH]]
        with tempfile.TemporaryDirectory() as folder:
            found = batch(cases, options.optimise, Path(folder))
        counts.update(each["verdict"] for each in found)
        failing += [each for each in found if each["verdict"] != "right"]
        done = start + len(cases)
        print(f"{done} programs {dict(counts)} {time.monotonic() - begun:.0f} s", flush=True)
    summary = {
        "programs": len(seeds),
        **{name: counts[name] for name in ("right", "wrong", "refused")},
        "groups": dict(families),
        "seconds": round(time.monotonic() - begun),
        "failing": failing,
    }
    if options.out is not None:
        options.out.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(" ".join(f"{name}={value}" for name, value in summary.items() if name != "failing"))
    for each in failing:
        print(each["seed"], each["verdict"], each["plan"], each["detail"])
    return 1 if counts["wrong"] else 0


def case(seed: int, target: Any, families: Counter[str]) -> Case:
    """Make one program and emit it under each plan."""
    dtype = DTYPES[seed % len(DTYPES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        is_product = seed % PRODUCT_EVERY == 0
        grower = ProductGraph(seed, dtype) if is_product else Grower(seed, 1 + seed % STEPS, dtype)
        program = program_of(grower.recorder, *grower.outputs())
    given = grower.recorder.given()
    sources = []
    for name, plan in plans(program):
        families.update(group.family for group in plan.groups)
        try:
            entry = f"c{seed}_{len(sources)}"
            sources.append((name, emit(plan, target, entry=entry)))
        except UserError as error:
            return Case(seed, dtype, program, given, (), f"{name}: {error}")
    return Case(seed, dtype, program, given, tuple(sources))


def plans(program: Program) -> tuple[tuple[str, Plan], ...]:
    """Return the plans to try: one nest per statement, and all that the search returns."""
    found = [("nests", unfused(program))]
    for each in search(program, CPU):
        if all(each.plan.groups != plan.groups for _, plan in found):
            found.append((each.name, each.plan))
    return tuple(found)


def batch(cases: Sequence[Case], level: str, folder: Path) -> list[dict[str, Any]]:
    """Compile the sources of all programs together, run them, and say which are wrong."""
    sources = [source for each in cases for _, source in each.sources]
    flags = (f"-march={sources[0].target.march}", "-fopenmp")
    flags = (*(level if each == "-O3" else each for each in FLAGS), *flags)
    library = compile_text(joined(sources), flags, folder=folder)
    return [judged(each, library) for each in cases]


def judged(each: Case, library: Path) -> dict[str, Any]:
    """Run the plans of one program up to the first that is wrong."""
    named = {"seed": each.seed, "dtype": each.dtype, "plan": "", "detail": ""}
    if each.refused:
        return {**named, "verdict": "refused", "detail": each.refused}
    for name, source in each.sources:
        found = faults(each.program, load(library, source), each.given)
        if found:
            detail = "; ".join(found)
            return {**named, "verdict": "wrong", "plan": name, "detail": detail} | {
                "target": source.target.name,
                "source": source.functions,
            }
    return {**named, "verdict": "right"}


if __name__ == "__main__":
    sys.exit(main())
