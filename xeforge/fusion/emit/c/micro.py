"""The innermost part of a contraction: a tile of sums in registers, fed from packed panels."""

import re
from dataclasses import dataclass

from xeforge.fusion.emit.c.target import CpuTarget

NAME = re.compile(r"xf_micro_(f32|f64)_(\d+)x(\d+)_(\d+)")
_SPARE_REGISTERS = 4
_VECTORS = 2
_SIZES = {"f32": ("float", 4), "f64": ("double", 8)}


@dataclass(frozen=True, slots=True)
class Micro:
    """The shape of a tile of sums.

    Attributes:
        suffix: ``"f32"`` or ``"f64"``.
        rows: Of the tile.
        vectors: Registers that one row takes.
        lanes: Numbers in a register.
    """

    suffix: str
    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """Of the tile."""
        return self.vectors * self.lanes

    @property
    def name(self) -> str:
        """Of the C function, which says the shape."""
        return f"xf_micro_{self.suffix}_{self.rows}x{self.vectors}_{self.lanes}"


def choose(target: CpuTarget, suffix: str, rows: int, columns: int) -> Micro:
    """Return the tile that fills the registers, for a product of so many rows and columns."""
    lanes = target.vector_bytes // _SIZES[suffix][1]
    vectors = _VECTORS if columns > lanes else 1
    most = (target.vector_registers - _SPARE_REGISTERS) // vectors
    # Rows that are not there are computed too; a smaller tile loads more for each product.
    fewest = max(1, min(rows, most // 2))
    tried = range(fewest, min(rows, most) + 1)
    best = min(tried, key=lambda each: (-(-rows // each) * (each + 1), -each))
    return Micro(suffix, best, vectors, lanes)


def micro_text(name: str) -> str:
    """Write the function that a name asks for."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name} names no shape")
    suffix, (rows, vectors, lanes) = found[1], map(int, found.groups()[1:])
    value, size = _SIZES[suffix]
    grid = [(row, at) for row in range(rows) for at in range(vectors)]
    width = vectors * lanes
    body = [
        f"    {', '.join(f's{row}_{at} = {{0}}' for at in range(vectors))};" for row in range(rows)
    ]
    sums = "\n".join(line.replace("    ", "    vector ", 1) for line in body)
    loads = "\n".join(
        f"        const vector b{at} = *(const vector *)(b + {at * lanes});"
        for at in range(vectors)
    )
    steps = "\n".join(f"        s{row}_{at} += a[{row}] * b{at};" for row, at in grid)
    place = "*(vector *)(c + {row} * stride + {at})"
    before = "\n".join(
        f"        s{row}_{at} += {place.format(row=row, at=at * lanes)};" for row, at in grid
    )
    after = "\n".join(
        f"    {place.format(row=row, at=at * lanes)} = s{row}_{at};" for row, at in grid
    )
    return f"""\
/* {rows} x {width} sums of products over `depth`, added to what `c` holds where `adds` says so. */
static inline void {name}(
    int64_t depth, const {value} *restrict a, const {value} *restrict b,
    {value} *restrict c, int64_t stride, int adds)
{{
    typedef {value} vector __attribute__((vector_size({lanes * size}), aligned({size})));
{sums}
    for (int64_t k = 0; k < depth; k++, a += {rows}, b += {width}) {{
{loads}
{steps}
    }}
    if (adds) {{
{before}
    }}
{after}
}}
"""
