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
class Rates:
    """How fast a card is, for a guess which tiles come first.

    Attributes:
        matrix_flops_per_s: Of products of two-byte factors, as large products reach it.
        bandwidth_bytes_per_s: Of device memory, as a copy reaches it.
        cache_bytes_per_s: From the last-level cache to all multiprocessors together.
        port_bytes_per_s: From it to one of them.
        latency_seconds: From asking for an operand to having it, under load.
        launch_seconds: From the end of one kernel to the start of the next.
        describe_seconds: What making descriptors costs at the start of a program.
        pointers_reached: Part of the matrix rate that is left where threads compute addresses.
    """

    matrix_flops_per_s: float
    bandwidth_bytes_per_s: float
    cache_bytes_per_s: float
    port_bytes_per_s: float
    latency_seconds: float = 1.2e-6
    launch_seconds: float = 2.0e-6
    describe_seconds: float = 1.0e-6
    pointers_reached: float = 0.85


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
        rates: Of a usual card of this architecture.
        most_warps: Largest ``num_warps`` that a program may have.
        longest_row: Elements of a row up to which it is held in registers.
        chunk: Elements of a longer row that are looked at together.
        registers: Of one multiprocessor, 32 bits each.
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
    rates: Rates
    most_warps: int = 32
    longest_row: int = 16384
    chunk: int = 4096
    registers: int = 65536

    def with_units(self, units: int) -> "TritonTarget":
        """Return the target of a card that has another number of multiprocessors."""
        return replace(self, units=units)

    def with_bandwidth(self, bytes_per_s: float) -> "TritonTarget":
        """Return the target of a card that has another memory."""
        return replace(self, rates=replace(self.rates, bandwidth_bytes_per_s=bytes_per_s))


_NVIDIA: tuple[Precision, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
_AMD: tuple[Precision, ...] = ("ieee", "bf16x3", "bf16x6")
_INTEL: tuple[Precision, ...] = ("tf32", "tf32x3", "ieee")

_HOPPER = Rates(7.6e14, 4.3e12, 9.5e12, 1.1e11)
"""Measured on an H200: the rate of products of 1024 x 8192 x 8192 halves in tiles of 128 x 256, of
a copy, and of the operands of these tiles; with two stages a step of k took 1.05 us. The port is 64
bytes a clock (whitepaper), costs of launches and descriptors are rules of thumb."""
_AMPERE = Rates(2.2e14, 1.7e12, 4.0e12, 9.0e10, describe_seconds=0.0, pointers_reached=1.0)
_BLACKWELL = Rates(1.6e15, 7.0e12, 1.5e13, 1.2e11)
_CDNA3 = Rates(6.5e14, 4.3e12, 1.0e13, 1.3e11, describe_seconds=0.0, pointers_reached=1.0)
_RDNA3 = Rates(9.0e13, 8.0e11, 3.0e12, 1.0e11, describe_seconds=0.0, pointers_reached=1.0)
_XE2 = Rates(8.0e13, 4.0e11, 1.5e12, 1.6e11, describe_seconds=0.0, pointers_reached=1.0)
"""All but Hopper: parts of what the vendors publish, not measured."""

_ALL = (
    TritonTarget("cuda:80", 108, 32, 166912, False, _NVIDIA, "tf32x3", True, 4, _AMPERE),
    TritonTarget("cuda:90", 132, 32, 232448, True, _NVIDIA, "tf32x3", True, 5, _HOPPER),
    TritonTarget("cuda:100", 148, 32, 232448, True, _NVIDIA, "tf32x3", True, 5, _BLACKWELL),
    TritonTarget(
        "hip:gfx942", 304, 64, 65536, False, _AMD, "ieee", False, 2, _CDNA3, most_warps=16
    ),
    TritonTarget("hip:gfx1100", 96, 32, 65536, False, _AMD, "ieee", False, 2, _RDNA3),
    TritonTarget("xpu:bmg", 20, 16, 131072, False, _INTEL, "tf32x3", False, 3, _XE2),
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
