"""What all families do with a statement: compute it, keep its value, store it."""

import math
from collections.abc import Mapping
from collections.abc import Sequence

from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.values import Text
from xeforge.fusion.emit.triton.values import Values
from xeforge.fusion.emit.triton.words import HALVES
from xeforge.fusion.emit.triton.words import identity
from xeforge.fusion.emit.triton.words import language_dtype
from xeforge.fusion.functions import cast
from xeforge.fusion.functions import children
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group

_LONGEST = 30
"""Characters of a term up to which it has no variable of its own."""


def finish(stmt: Stmt, text: Text | None, values: Values, over: Sequence[Span] | None) -> None:
    """Give a statement's value a variable, and store it where others read it.

    Args:
        stmt: Pointwise, or a fold whose loops are written.
        text: The fold; None for a pointwise statement.
        values: Of the kernel.
        over: Blocks that what is written lies along; None: it is not stored.
    """
    array = stmt.output.array
    dtype = values.arrays[array].dtype
    if text is None:
        text = values.value(stmt.body, stmt.constraints)
    held = stmt.reduce.dtype if stmt.reduce is not None else dtype_of(stmt.body)
    if held != dtype:
        text = Text(f"{Text(values.typed(text, held), text.binding).within(8)}")
        text = Text(f"{text.code}.to({language_dtype(dtype)})")
    values.held[array] = Text(values.named(text, array, dtype))
    if over is not None:
        offset, mask = values.place(stmt.output, stmt.write_constraints(), over)
        masked = "" if mask is None else f", mask={mask}"
        values.lines.add(f"tl.store({offset}, {values.held[array].code}{masked})")


def stores_halves(group: Group, arrays: Mapping[str, Array]) -> bool:
    """Say whether all that leaves a kernel is rounded to 16 bits, so that few digits count."""
    return all(arrays[name].dtype in HALVES for name in group.stored)


def tile_term(stmt: Stmt, values: Values, *, along: Span, tile: str, varied: set[str]) -> Text:
    """Return the terms of a fold as a whole tile; where there is no term, the neutral element.

    Args:
        stmt: The fold.
        values: Of the kernel.
        along: What is folded away.
        tile: Shape of the tile.
        varied: Arrays in registers that are blocks along it.
    """
    if stmt.reduce is None:
        raise TypeError(f"{stmt.name} folds nothing")
    dtype = stmt.reduce.dtype
    text = values.value(cast(stmt.body, dtype), stmt.constraints)
    names = frozenset(each.name for each in along.axes if each.extent > 1)
    if text.is_number or not varies_along(stmt.body, names, varied):
        text = Text(f"tl.broadcast_to({values.typed(text, dtype)}, {tile})")
    mask = values.mask(stmt.constraints, (along,))
    if mask is None:
        return text
    if len(text.code) > _LONGEST:
        text = Text(values.named(text, "term", dtype))
    return Text(f"tl.where({mask}, {text.code}, {identity(stmt.reduce.monoid, dtype)})")


def group_sizes(group: Group, program: Program) -> list[int]:
    """Return the number of elements of each array that a group touches in memory."""
    arrays = program.arrays_by_name()
    named = {*group.stored, *group.given()}
    return [math.prod(arrays[name].shape) for name in named]


def varies_along(expr: Expr, names: frozenset[str], varied: set[str]) -> bool:
    """Say whether the value of an expression is a block along some axes.

    Args:
        expr: Of a statement.
        names: The axes, those of extent 1 left out.
        varied: Arrays in registers that are such blocks.
    """
    if isinstance(expr, Read):
        conditions = (each.of for each in expr.access.guard)
        if expr.access.array in varied:
            return True
        return any(each.names() & names for each in (*expr.access.index, *conditions))
    if isinstance(expr, Position):
        return bool(expr.of.names() & names)
    if isinstance(expr, Select) and any(each.of.names() & names for each in expr.guard):
        return True
    return any(varies_along(each, names, varied) for each in children(expr))
