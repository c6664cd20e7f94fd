"""What Triton can do on a target, by release; nothing is asked at run time."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from typing import Literal
from typing import TypeAlias

from xeforge.errors import BadRequest

Precision: TypeAlias = Literal["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"]
"""How a float32 product is made of what the matrix unit takes."""


@dataclass(frozen=True, slots=True)
class TritonTarget:
    """One architecture under one range of releases.

    Attributes:
        name: As in Triton's own targets: ``"cuda:90"``, ``"hip:gfx942"``, ``"xpu:bmg"``.
        units: Multiprocessors; a persistent kernel has as many programs.
        lanes: Threads of a warp.
        shared_bytes: Shared memory that one program may claim.
        has_descriptors: Whether tensor descriptors made on the device are more than a slow
            spelling of pointers.
        precisions: Words that ``tl.dot`` takes for ``input_precision``.
        full_precision: The fastest one that keeps the accuracy of float32.
        buffers_count_stages: Whether ``num_stages`` is the number of buffers in shared memory
            (NVIDIA); elsewhere one stage is held in registers, or it is a hint to prefetch.
        most_stages: Largest value worth trying.
        most_warps: Largest ``num_warps`` that a program may have.
        longest_row: Elements of a row up to which it is held in registers.
        chunk: Elements of a longer row that are looked at together.
    """

    name: str
    units: int
    lanes: int
    shared_bytes: int
    has_descriptors: bool
    precisions: tuple[Precision, ...]
    full_precision: Precision
    buffers_count_stages: bool
    most_stages: int
    most_warps: int = 32
    longest_row: int = 16384
    chunk: int = 4096

    def with_units(self, units: int) -> "TritonTarget":
        """Return the target of a card that has another number of multiprocessors."""
        return replace(self, units=units)


_NVIDIA: tuple[Precision, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
_AMD: tuple[Precision, ...] = ("ieee", "bf16x3", "bf16x6")
_INTEL: tuple[Precision, ...] = ("tf32", "tf32x3", "ieee")

_ALL = (
    TritonTarget("cuda:80", 108, 32, 166912, False, _NVIDIA, "tf32x3", True, 4),
    TritonTarget("cuda:90", 132, 32, 232448, True, _NVIDIA, "tf32x3", True, 5),
    TritonTarget("cuda:100", 148, 32, 232448, True, _NVIDIA, "tf32x3", True, 5),
    TritonTarget("hip:gfx942", 304, 64, 65536, False, _AMD, "ieee", False, 2, most_warps=16),
    TritonTarget("hip:gfx1100", 96, 32, 65536, False, _AMD, "ieee", False, 2),
    TritonTarget("xpu:bmg", 20, 16, 131072, False, _INTEL, "tf32x3", False, 3),
)
TARGETS: Mapping[str, TritonTarget] = {each.name: each for each in _ALL}
RELEASES = ("3.6", "3.7")
"""Releases on which these rows were checked: both have the same words for all of them."""


def find_target(name: str, release: str = RELEASES[0]) -> TritonTarget:
    """Return the row of a target.

    Args:
        name: Key of `TARGETS`.
        release: Of Triton, ``"3.6"`` or ``"3.6.0"``.

    Raises:
        BadRequest: There is no row, or the release was not checked.
    """
    short = ".".join(release.split(".")[:2])
    if short not in RELEASES:
        raise BadRequest(f"Triton {release} was not checked; {', '.join(RELEASES)} were")
    if name not in TARGETS:
        raise BadRequest(f"no target {name}; there are {', '.join(TARGETS)}")
    return TARGETS[name]
