"""What a processor can do, as the C emitter needs to know it."""

import os
from dataclasses import dataclass
from pathlib import Path

from xeforge.errors import BadRequest

_PROCESSOR = Path("/proc/cpuinfo")
_ONE_CORE_CACHE_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """From which sizes on loops are cut or shared; tests make them small.

    Attributes:
        parallel_points: Below so many points, starting threads costs more than they save.
        block_points: Inner loops of twice as many points are cut, so that threads can share them.
        parts: Pieces of one long loop; fixed, so that sums do not depend on how many threads run.
        chunk: Terms that are summed in one accumulator before it goes into the next one.
        lanes: Rows that are computed together where vectors run across rows.
        lane_chunk: As `chunk`, for each of these rows.
        few: Fewer elements or rows than this do not share out well among threads.
        dot_rows: Products of no more rows are single folds: nothing is packed.
        tile_rows: Rows of a block of a contraction, where the caches allow so many.
    """

    parallel_points: int = 2**14
    block_points: int = 8192
    parts: int = 64
    chunk: int = 1024
    lanes: int = 1024
    lane_chunk: int = 128
    few: int = 16
    dot_rows: int = 3
    tile_rows: int = 96


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """A level of vector instructions and the caches beside it.

    Attributes:
        name: Key of `TARGETS`.
        march: Argument of the compiler's ``-march=``.
        flags: Names in ``/proc/cpuinfo`` that a processor must list.
        vector_bytes: Width of a register.
        vector_registers: How many there are.
        cache_bytes: Second-level cache of one core that tiles may count on.
        first_cache_bytes: First-level data cache of one core.
        limits: Sizes at which loops are cut.
    """

    name: str
    march: str
    flags: tuple[str, ...]
    vector_bytes: int
    vector_registers: int
    cache_bytes: int = _ONE_CORE_CACHE_BYTES
    first_cache_bytes: int = 32 * 1024
    limits: Limits = Limits()


AVX512 = CpuTarget(
    "avx512",
    "x86-64-v4",
    ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "fma", "f16c", "bmi2"),
    64,
    32,
)
AVX2 = CpuTarget("avx2", "x86-64-v3", ("avx2", "fma", "f16c", "bmi2"), 32, 16)
X86 = CpuTarget("x86-64", "x86-64", (), 16, 16)
TARGETS = {each.name: each for each in (AVX512, AVX2, X86)}
"""Widest first."""


def find_target(name: str) -> CpuTarget:
    """Look up a level by name; ``"cpu"`` is the widest one that this machine has.

    Raises:
        BadRequest: There is no such level, or none fits this machine.
    """
    if name == "cpu":
        return this_machine()
    if name not in TARGETS:
        raise BadRequest(
            f"no CPU target {name!r}",
            field="target",
            remedy=f"use one of cpu, {', '.join(TARGETS)}",
        )
    return TARGETS[name]


def this_machine() -> CpuTarget:
    """Return the widest level whose instructions this processor lists.

    Raises:
        BadRequest: The processor is not an x86-64 or its features cannot be read.
    """
    if os.uname().machine != "x86_64" or not _PROCESSOR.exists():
        raise BadRequest(
            f"C is emitted for x86-64 under Linux, this is {os.uname().machine}", field="target"
        )
    lines = _PROCESSOR.read_text(encoding="utf-8").splitlines()
    listed = next((line.partition(":")[2] for line in lines if line.startswith("flags")), "")
    have = set(listed.split())
    return next(each for each in TARGETS.values() if have.issuperset(each.flags))
