"""What a piece of hardware can do, as numbers with units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Backend = Literal["cuda", "xpu", "cpu"]


@dataclass(frozen=True, slots=True)
class CompileTarget:
    """How Triton is told to compile for a device without having one.

    Attributes:
        backend: Triton's backend name: ``"cuda"``, ``"hip"`` or ``"xpu"``.
        arch: Architecture as that backend wants it, e.g. ``90`` or ``"gfx942"``.
        warp_size: Lanes of one warp or sub-group.
    """

    backend: str
    arch: int | str
    warp_size: int


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of a matrix product worth trying first on a device.

    Attributes:
        m, n, k: Rows, columns and depth of the tile in elements.
        num_warps: Warps (sub-groups) of one program.
        num_stages: Depth of the software pipeline.
    """

    m: int
    n: int
    k: int
    num_warps: int
    num_stages: int


@dataclass(frozen=True, slots=True)
class Device:
    """One model of accelerator (not one card in one machine).

    Every number carries its unit in its name and its origin in `sources`. What is not known is
    None or missing, never guessed; a check that needs it says so.

    Attributes:
        name: Key used in specs, queues and knowledge packs, e.g. ``"nvidia-h200"``.
        title: Name for people.
        vendor: ``"nvidia"``, ``"intel"``, ``"amd"`` or ``"generic"``.
        backend: Which torch device type drives it.
        match: Lower-case product names that a card of this model reports, exact.
        compile_target: How to compile ahead of time for it; None when Triton cannot.
        compute_units: Streaming multiprocessors, Xe-cores or CPU cores.
        bandwidth_bytes_per_s: Peak rate of device memory.
        l2_bandwidth_bytes_per_s: Sustained rate of the last-level cache.
        l2_bytes: Size of the last-level cache.
        matrix_flops_per_s: Peak dense rate of the matrix units for each operand dtype.
        vector_flops_per_s: Peak rate of the vector units for each dtype.
        shared_bytes_per_group: On-chip memory one work-group may claim.
        shared_bytes_per_unit: On-chip memory of one compute unit.
        registers_per_unit: 32-bit registers of one compute unit.
        registers_per_thread: Most 32-bit registers one thread may use.
        threads_per_unit: Most threads resident on one compute unit.
        threads_per_group: Most threads of one work-group.
        groups_per_unit: Most work-groups resident on one compute unit.
        lane_counts: Legal sub-group (warp) widths, ascending.
        num_warps: Legal values of Triton's ``num_warps``, ascending.
        num_stages: Values of Triton's ``num_stages`` worth trying, ascending.
        spill_bytes_per_thread: Spills above this are refused before any device time is spent.
        launch_seconds: Cost of one kernel launch that work cannot hide.
        groups_per_s: Rate at which work-groups (Triton programs) can be started; None: not known.
        tiles: Tiles of matrix products worth trying first, best first.
        sources: Where each number was read or measured, by field name.
    """

    name: str
    title: str
    vendor: str
    backend: Backend
    match: tuple[str, ...]
    compile_target: CompileTarget | None
    compute_units: int
    bandwidth_bytes_per_s: float
    l2_bandwidth_bytes_per_s: float | None
    l2_bytes: int
    matrix_flops_per_s: Mapping[str, float]
    vector_flops_per_s: Mapping[str, float]
    shared_bytes_per_group: int | None
    shared_bytes_per_unit: int | None
    registers_per_unit: int | None
    registers_per_thread: int | None
    threads_per_unit: int | None
    threads_per_group: int | None
    groups_per_unit: int | None
    lane_counts: tuple[int, ...]
    num_warps: tuple[int, ...]
    num_stages: tuple[int, ...]
    spill_bytes_per_thread: int | None
    launch_seconds: float
    tiles: tuple[Tile, ...]
    sources: Mapping[str, str]
    groups_per_s: float | None = None

    def peak_flops_per_s(self, dtype: str) -> float:
        """Return the best rate any unit of this device reaches with operands of `dtype`.

        Raises:
            KeyError: The device has no published rate for `dtype`.
        """
        rates = [
            table[dtype]
            for table in (self.matrix_flops_per_s, self.vector_flops_per_s)
            if dtype in table
        ]
        if not rates:
            raise KeyError(dtype)
        return max(rates)

    def floor_seconds(self, *, flops: float, moved_bytes: float, dtype: str) -> float:
        """Return the time no correct kernel can beat on this device.

        Args:
            flops: Arithmetic that the answer itself requires.
            moved_bytes: Compulsory traffic: inputs read once plus outputs written once.
            dtype: Operand format; an unknown rate leaves the bytes as the only bound.
        """
        bytes_seconds = moved_bytes / self.bandwidth_bytes_per_s
        try:
            return max(flops / self.peak_flops_per_s(dtype), bytes_seconds)
        except KeyError:
            return bytes_seconds


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What one physical card was measured to reach, today.

    Attributes:
        copy_bytes_per_s: Large device-to-device copy, bytes read plus bytes written.
        matrix_flops_per_s: Large square product of random data through the vendor library, by
            operand dtype.
    """

    copy_bytes_per_s: float
    matrix_flops_per_s: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Card:
    """One physical unit in this machine, as it announces itself.

    Attributes:
        backend: Torch device type.
        index: Ordinal within the backend.
        product: Product name as the driver reports it.
        uuid: Identity of the unit; empty where the driver gives none.
        driver: Driver version; empty when not known.
        torch: Torch version; triton: Triton version.
        memory_bytes: Device memory in total.
    """

    backend: Backend
    index: int
    product: str
    uuid: str
    driver: str
    torch: str
    triton: str
    memory_bytes: int
