"""A kernel needs more registers than a thread has.

Looks for configurations and launches whose accumulators take more than 256 elements of each of 32
lanes, and for kernels that the compiler made spill. Misses operands, masks and addresses, which
come on top. Source: 255 registers of 32 bits a thread (CUDA programming guide, table of compute
capabilities); Intel Xe2: 256 registers of 64 bytes a thread of 16 lanes in the large mode.
Accumulators that live in tensor memory (compute capability 10.0) are not held by threads.
"""

from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.accumulators import accumulated
from xeforge.source.facts import FileFacts
from xeforge.source.spills import is_fused
from xeforge.source.spills import spilling

NAME: Final = "high_register_pressure"
LANES: Final = 32
MOST_ELEMENTS: Final = 256


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each such setting, and each spilling kernel once."""
    return (*_of_settings(facts), *_of_build(facts))


def _of_settings(facts: FileFacts) -> Iterator[Issue]:
    seen: set[int] = set()
    for name, settings in facts.settings.items():
        for each in settings:
            size = accumulated(facts.bodies[name], each.values)
            if size is None or each.num_warps is None or each.line in seen:
                continue
            share = size / (LANES * each.num_warps)
            if share > MOST_ELEMENTS:
                seen.add(each.line)
                yield slow(
                    NAME,
                    each.line,
                    f"{name} accumulates {size} elements on {each.num_warps} warps: {share:g} "
                    "registers a thread",
                    "take a smaller tile or more warps",
                )


def _of_build(facts: FileFacts) -> Iterator[Issue]:
    for name, report in spilling(facts).items():
        if not is_fused(facts, name):
            kernel = facts.contents.jit_function(name)
            yield slow(
                NAME,
                kernel.line if kernel else 1,
                f"{name} spills {report.spill_bytes} bytes a thread with "
                f"{report.num_warps} warps ({report.registers or 'unknown'} registers)",
                "take a smaller tile, more warps or fewer stages",
            )
