"""What a device file looks like: every number with its unit in the key, its source and strength."""

from collections.abc import Iterator
from typing import Annotated
from typing import Any
from typing import Generic
from typing import Literal
from typing import TypeVar

from pydantic import AfterValidator
from pydantic import BaseModel
from pydantic import BeforeValidator
from pydantic import ConfigDict
from pydantic import Field

from xeforge.domain.dtype import DTYPES

T = TypeVar("T")
Strength = Literal["measured", "documented", "claimed"]
"""Measured on such a device; stated by its vendor or its compiler's source; said by somebody."""

TENSOR_FLOAT = "tf32"
"""What matrix units round float32 operands to; no format that a tensor can have."""

OPERAND_BYTES = 2
"""Tiles are sized for 16-bit operands."""


def as_number(given: Any) -> Any:
    """Take ``4.8e12``, which YAML 1.1 reads as a string, for the number it is meant to be."""
    if isinstance(given, str):
        try:
            return float(given)
        except ValueError:
            raise ValueError("a number is expected") from None
    return given


def _known_format(name: str) -> str:
    if name not in DTYPES and name != TENSOR_FLOAT:
        raise ValueError(f"no number format is called {name!r}; known: {', '.join(DTYPES)}, tf32")
    return name


def _lower(text: str) -> str:
    if text != text.lower():
        raise ValueError("product names are written in lower case")
    return text


def _one_of_each(names: tuple[int, ...]) -> tuple[int, ...]:
    if list(names) != sorted(set(names)):
        raise ValueError("values are listed once each, ascending")
    return names


def _power_of_two(value: int) -> int:
    if value & (value - 1):
        raise ValueError(f"{value} is no power of two")
    return value


# The bounds are wide enough for any accelerator of this decade and too narrow for a wrong unit.
Rate = Annotated[float, BeforeValidator(as_number), Field(ge=1e9, le=1e15, allow_inf_nan=False)]
Flops = Annotated[float, BeforeValidator(as_number), Field(ge=1e9, le=1e18, allow_inf_nan=False)]
Seconds = Annotated[float, BeforeValidator(as_number), Field(ge=1e-8, le=1e-3, allow_inf_nan=False)]
CacheBytes = Annotated[int, Field(ge=2**16, le=2**40)]
SharedBytes = Annotated[int, Field(ge=2**10, le=2**30)]
Count = Annotated[int, Field(ge=1, le=2**20)]
Spill = Annotated[int, Field(ge=0, le=2**20)]
PowerOfTwo = Annotated[int, Field(ge=1, le=2**16), AfterValidator(_power_of_two)]
FormatName = Annotated[str, AfterValidator(_known_format)]
Text = Annotated[str, Field(min_length=1)]
Architecture = Literal[
    "ampere",
    "ampere_graphics",
    "ada",
    "hopper",
    "blackwell",
    "blackwell_graphics",
    "cdna3",
    "xe_hpg",
    "xe_hpc",
    "xe2",
    "cpu",
]
DotPrecision = Literal["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"]
LaunchOption = Literal["num_ctas", "maxnreg", "grf_mode", "warp_size", "waves_per_eu"]
Version = Annotated[str, Field(pattern=r"^\d+\.\d+$")]
MemoryBytes = Annotated[int, Field(ge=2**30, le=2**42)]
_LIST = Field(strict=False)  # YAML has lists only; what is in them stays strict
Powers = Annotated[tuple[PowerOfTwo, ...], _LIST, AfterValidator(_one_of_each)]
Stages = Annotated[tuple[Count, ...], _LIST, AfterValidator(_one_of_each)]
Products = Annotated[tuple[Annotated[Text, AfterValidator(_lower)], ...], _LIST]


class Entry(BaseModel):
    """A mapping of the file; nothing may be in it that is not named here."""

    # Strict as to types: `true` is no number and 2.0 is no count.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Fact(Entry, Generic[T]):
    """A value with where it was read or measured and how sure it is."""

    value: T
    source: Text
    strength: Strength


class TargetEntry(Entry):
    """How Triton is told to compile for the device."""

    backend: Literal["cuda", "hip", "xpu"]
    arch: int | str
    warp_size: PowerOfTwo


class TileEntry(Entry):
    """A tile of a matrix product worth trying first."""

    m: PowerOfTwo
    n: PowerOfTwo
    k: PowerOfTwo
    num_warps: PowerOfTwo
    num_stages: Count

    @property
    def shared_bytes(self) -> int:
        """On-chip bytes of its pipelined 16-bit operands."""
        return (self.m + self.n) * self.k * self.num_stages * OPERAND_BYTES


class RegisterModeEntry(Entry):
    """One way to divide the register file."""

    name: Text
    registers_per_thread: Count
    num_warps: PowerOfTwo | None


class MatrixShapeEntry(Entry):
    """What one matrix instruction multiplies at most."""

    dtype: FormatName
    m: Count
    n: Count
    k: Count


class BlockLoadEntry(Entry):
    """Limits of hardware loads of tiles; ``null``: no such limit is published."""

    kind: Literal["tma", "block_2d"]
    base_alignment_bytes: PowerOfTwo
    pitch_multiple_bytes: PowerOfTwo
    min_row_bytes: Count
    max_row_bytes: Count | None
    max_rows_load: Count | None
    max_rows_store: Count | None
    max_extent: Count | None


class TritonEntry(Entry):
    """What Triton's backend accepts, in which versions that was read."""

    versions: Annotated[tuple[Version, ...], _LIST]
    num_stages: Count
    dot_precisions: Annotated[tuple[DotPrecision, ...], _LIST]
    fp8_formats: Annotated[tuple[Text, ...], _LIST]
    options: Annotated[tuple[LaunchOption, ...], _LIST]
    descriptors: bool


Tiles = Annotated[tuple[TileEntry, ...], _LIST]
RegisterModes = Annotated[tuple[RegisterModeEntry, ...], _LIST]
MatrixShapes = Annotated[tuple[MatrixShapeEntry, ...], _LIST]


class DeviceEntry(Entry):
    """A whole device file. All keys are required; what is not known is written ``null``."""

    name: Text
    title: Text
    vendor: Literal["nvidia", "intel", "amd", "generic"]
    backend: Literal["cuda", "xpu", "cpu"]
    architecture: Fact[Architecture]
    match: Fact[Products]
    compile_target: Fact[TargetEntry] | None
    compute_units: Fact[Count]
    memory_bytes: Fact[MemoryBytes] | None
    bandwidth_bytes_per_s: Fact[Rate]
    l2_bandwidth_bytes_per_s: Fact[Rate] | None
    l2_bytes: Fact[CacheBytes]
    matrix_flops_per_s: dict[FormatName, Fact[Flops]]
    vector_flops_per_s: dict[FormatName, Fact[Flops]]
    shared_bytes_per_group: Fact[SharedBytes] | None
    shared_bytes_per_unit: Fact[SharedBytes] | None
    registers_per_unit: Fact[Count] | None
    registers_per_thread: Fact[Count] | None
    threads_per_unit: Fact[Count] | None
    threads_per_group: Fact[Count] | None
    groups_per_unit: Fact[Count] | None
    lane_counts: Fact[Powers]
    num_warps: Fact[Powers]
    num_stages: Fact[Stages]
    spill_bytes_per_thread: Fact[Spill] | None
    launch_seconds: Fact[Seconds]
    groups_per_s: Fact[Rate] | None
    register_modes: Fact[RegisterModes] | None
    matrix_shapes: Fact[MatrixShapes] | None
    block_load: Fact[BlockLoadEntry] | None
    triton: Fact[TritonEntry] | None
    tiles: Fact[Tiles]


def contradictions(entry: DeviceEntry) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the place and the text of everything in a file that its other numbers rule out."""
    warps, lanes = entry.num_warps.value, entry.lane_counts.value
    if entry.threads_per_group and warps and lanes:
        most, limit = warps[-1] * lanes[0], entry.threads_per_group.value
        if most > limit:
            yield (
                ("num_warps",),
                f"{warps[-1]} warps of {lanes[0]} lanes are {most} threads; a group has {limit}",
            )
    group, unit = entry.shared_bytes_per_group, entry.shared_bytes_per_unit
    if group and unit and group.value > unit.value:
        yield ("shared_bytes_per_group",), f"a group has more than its unit, {unit.value} bytes"
    yield from _mode_contradictions(entry)
    for index, tile in enumerate(entry.tiles.value):
        place = ("tiles", "value", index)
        if tile.num_warps not in warps:
            yield (*place, "num_warps"), f"{tile.num_warps} is not among the legal num_warps"
        if tile.num_stages not in entry.num_stages.value:
            yield (*place, "num_stages"), f"{tile.num_stages} is not among num_stages"
        if group and tile.shared_bytes > group.value:
            yield place, f"its operands need {tile.shared_bytes} bytes; a group has {group.value}"


def _mode_contradictions(entry: DeviceEntry) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what register modes and matrix shapes say against the rest of the file."""
    for index, mode in enumerate(entry.register_modes.value if entry.register_modes else ()):
        if mode.num_warps is not None and mode.num_warps not in entry.num_warps.value:
            place = ("register_modes", "value", index, "num_warps")
            yield place, f"{mode.num_warps} is not among the legal num_warps"
    for index, shape in enumerate(entry.matrix_shapes.value if entry.matrix_shapes else ()):
        if shape.dtype not in entry.matrix_flops_per_s:
            place = ("matrix_shapes", "value", index, "dtype")
            yield place, f"no rate is given for {shape.dtype} under matrix_flops_per_s"
