"""Tiles: what is known about values inside a kernel, and how operations combine them.

Shapes are symbolic: a dimension is the name of a compile-time parameter (``"BLOCK_M"``), a number
as text (``"16"``) or ``"?"``. Formats are Torch names, or ``"*a_ptr"``: whatever that pointer
parameter points at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

import libcst as cst

from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text

UNKNOWN = "?"
SCALAR_NUMBER = "number"
"""Format of scalar parameters: an integer or a float, the kernel alone does not tell."""


@dataclass(frozen=True, slots=True)
class Tile:
    """What is known about one value inside a kernel.

    Attributes:
        shape: Symbolic sizes; empty for scalars; None when not known.
        dtype: Format of the elements; None when not known.
        pointer: Pointer parameter that the value points into; None when it is no pointer.
        symbol: Compile-time name or number of a scalar, None for run-time values.
        from_program_id: Whether it depends on which program runs.
    """

    shape: tuple[str, ...] | None = None
    dtype: str | None = None
    pointer: str | None = None
    symbol: str | None = None
    from_program_id: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Dot:
    """One ``tl.dot``: sizes are symbolic as in `Tile`.

    Attributes:
        call: The call.
        m, n, k: Rows and columns of the result, depth of the product.
        left, right: Operands.
    """

    call: cst.Call
    m: str
    n: str
    k: str
    left: cst.BaseExpression
    right: cst.BaseExpression


@dataclass(slots=True, eq=False)
class TileFacts:
    """Everything found out about a kernel.

    Attributes:
        values: Tile of each evaluated expression, by node.
        dots: Products in the order met; each call once.
    """

    values: dict[cst.CSTNode, Tile] = field(default_factory=dict)
    dots: list[Dot] = field(default_factory=list)


NOTHING = Tile()


def dtype_named(node: cst.BaseExpression | None, env: Mapping[str, Tile]) -> str | None:
    """Return the format an expression such as ``tl.float16`` or ``x.dtype`` names."""
    if not isinstance(node, cst.Attribute):
        return None
    if text(node).endswith(".dtype.element_ty"):
        base = env.get(text(node).removesuffix(".dtype.element_ty"))
        return None if base is None or base.pointer is None else f"*{base.pointer}"
    if text(node).endswith(".type.element_ty"):
        base = env.get(text(node).removesuffix(".type.element_ty"))
        return None if base is None or base.pointer is None else f"*{base.pointer}"
    if last_name(node) == "dtype":
        base = env.get(text(node.value))
        return None if base is None else base.dtype
    name = last_name(node)
    return name if name.startswith(("float", "bfloat", "int", "uint")) else None


def symbol_of(tile: Tile) -> str:
    """Return the compile-time name of a scalar, ``"?"`` when it has none."""
    return tile.symbol or UNKNOWN


def reversed_axes(tile: Tile) -> Tile:
    """Return a tile transposed."""
    return replace(tile, shape=None if tile.shape is None else tile.shape[::-1])


def reduced(tile: Tile, node: cst.Call) -> Tile:
    """Return what a reduction leaves of a tile."""
    position = 1 if language_call(node) else 0
    axis = argument(node, position, "axis")
    if axis is None:
        return replace(tile, shape=())
    if tile.shape is None or not isinstance(axis, cst.Integer):
        return replace(tile, shape=None)
    kept = list(tile.shape)
    index = int(axis.value)
    keeps = argument(node, 9, "keep_dims")
    if index >= len(kept):
        return replace(tile, shape=None)
    if keeps is not None and text(keeps) == "True":
        kept[index] = "1"
    else:
        del kept[index]
    return replace(tile, shape=tuple(kept))


def indexed(tile: Tile, node: cst.Subscript) -> Tile:
    """Return a tile after ``[:, None]`` and the like."""
    if tile.shape is None:
        return tile
    shape = list(tile.shape)
    result = []
    for each in node.slice:
        if isinstance(each.slice, cst.Slice):
            result.append(shape.pop(0) if shape else UNKNOWN)
        elif text(each.slice) == "None":
            result.append("1")
        else:
            return replace(tile, shape=None)
    return replace(tile, shape=(*result, *shape), symbol=None)


def combined(*tiles: Tile) -> Tile:
    """Return the result of element-wise arithmetic: broadcast shape, promoted format."""
    known = [each.shape for each in tiles if each.shape is not None]
    shape = known[0] if known else None
    for each in known[1:]:
        shape = _broadcast(shape or (), each)
    pointers = [
        each.pointer for each in tiles if each.pointer is not None and each.shape is not None
    ]
    return Tile(
        shape=shape if len(known) == len(tiles) or shape else None,
        dtype=_promoted([each.dtype for each in tiles], tiles),
        pointer=pointers[0] if pointers else None,
        from_program_id=any(each.from_program_id for each in tiles),
    )


def _broadcast(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    longer, shorter = (left, right) if len(left) >= len(right) else (right, left)
    padded = ("1",) * (len(longer) - len(shorter)) + shorter
    return tuple(b if a in {"1", UNKNOWN} else a for a, b in zip(longer, padded, strict=True))


def _promoted(dtypes: list[str | None], tiles: tuple[Tile, ...]) -> str | None:
    pointing = [each.dtype for each in tiles if each.pointer is not None]
    if pointing:
        return pointing[0]
    for wide in ("float64", "float32"):
        if wide in dtypes:
            return wide
    floats = {each for each in dtypes if each and each.startswith(("float", "bfloat", "*"))}
    if None in dtypes or len(floats) > 1:
        return None
    if floats:
        # A number that is a kernel argument may be a float32, which widens; a literal never does.
        return None if SCALAR_NUMBER in dtypes else floats.pop()
    known = ("constant", SCALAR_NUMBER, "int64", "int32", "bool")
    return next((each for each in known if each in dtypes), dtypes[0] if dtypes else None)
