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
class RegisterMode:
    """One way to divide the register file between resident threads.

    Attributes:
        name: Value of the launch option that asks for it.
        registers_per_thread: Of the unit's own width.
        num_warps: Most warps of one program in this mode; None: not known.
    """

    name: str
    registers_per_thread: int
    num_warps: int | None


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """What one matrix instruction multiplies at most.

    Attributes:
        dtype: Operand format.
        m, n, k: Rows, columns and depth in elements.
    """

    dtype: str
    m: int
    n: int
    k: int


@dataclass(frozen=True, slots=True)
class BlockLoad:
    """What the hardware demands of loads of whole tiles; None: no such limit is published.

    Attributes:
        kind: ``"tma"`` or ``"block_2d"``.
        base_alignment_bytes: Of the tensor's first element.
        pitch_multiple_bytes: Every stride but the last is a multiple of it.
        min_row_bytes: Shortest row of the surface, or of the tile (``"tma"``).
        max_row_bytes: Longest row that one instruction loads.
        max_rows_load, max_rows_store: Most rows that one instruction moves.
        max_extent: Most elements of a tile along any axis.
    """

    kind: str
    base_alignment_bytes: int
    pitch_multiple_bytes: int
    min_row_bytes: int
    max_row_bytes: int | None
    max_rows_load: int | None
    max_rows_store: int | None
    max_extent: int | None


@dataclass(frozen=True, slots=True)
class TritonSupport:
    """What Triton's backend accepts for a device.

    Attributes:
        versions: Triton versions this was read in, e.g. ``("3.6", "3.7")``.
        num_stages: What a launch gets that says nothing.
        dot_precisions: Legal values of ``input_precision``; the default comes first.
        fp8_formats: Formats of 8-bit floats, in Triton's names.
        options: Launch options beyond warps and stages that do something.
        descriptors: Whether tensor descriptors become hardware loads of tiles.
    """

    versions: tuple[str, ...]
    num_stages: int
    dot_precisions: tuple[str, ...]
    fp8_formats: tuple[str, ...]
    options: tuple[str, ...]
    descriptors: bool


@dataclass(frozen=True, slots=True)
class Constraint:
    """A checkable rule, evaluated on what a source says; never left to the reader.

    Attributes:
        id: ``<pack>.<slug>``.
        scope: What it is about: a launch, a kernel, or one kind of call.
        when: Predicate that says where it applies; empty: everywhere in its scope.
        require: Predicate that must hold there.
        refuses: Whether a source that breaks it is refused; otherwise it is told.
        gate: Static rule that enforces it.
        says: The rule in words.
        remedy: What to do instead.
        strength: ``"measured"``, ``"documented"`` or ``"claimed"``.
        source: Where it was read or measured.
    """

    id: str
    scope: str
    when: str
    require: str
    refuses: bool
    gate: str
    says: str
    remedy: str
    strength: str
    source: str


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
        architecture: Generation, e.g. ``"hopper"`` or ``"xe2"``; empty: not known.
        memory_bytes: Device memory; None: shared with the host, or not known.
        register_modes: Launch-time divisions of the register file; empty: none or not known.
        matrix_shapes: Largest matrix instruction for each dtype; empty: none or not known.
        block_load: Limits of hardware loads of tiles; None: there are none, or not known.
        triton: What Triton's backend accepts; None: there is none, or not known.
        constraints: Rules of the knowledge packs that hold on this device.
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
    architecture: str = ""
    memory_bytes: int | None = None
    register_modes: tuple[RegisterMode, ...] = ()
    matrix_shapes: tuple[MatrixShape, ...] = ()
    block_load: BlockLoad | None = None
    triton: TritonSupport | None = None
    constraints: tuple[Constraint, ...] = ()

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
