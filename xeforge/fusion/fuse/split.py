"""Fold in two steps where one program per result would leave most of the machine idle.

Before:  s = sum over r < 4096 of x[r]
After:   s_parts[p] = sum over r < 1024 of x[1024*p + r];  s = sum over p < 4 of s_parts[p]

The order of a fold is not part of its meaning, and partial results keep the accumulator's dtype.
Where the parts do not divide the terms, the last part folds the identity for what is missing.
"""

from dataclasses import replace
from math import prod

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import below
from xeforge.fusion.fuse.rewrite import moved_expr
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt

NAME = "split"
FEWEST_TERMS = 256
"""Terms of a partial fold; fewer are not worth a second kernel."""
_FEWEST_DOWN = 32
"""Likewise where a program computes many results side by side."""
_PARTS_PER_UNIT = 4
_NEAR = 4
"""A divisor this many times smaller than asked for is taken rather than a part that is cut."""


def terms_for(stmt: Stmt, units: int, lanes: int = 1) -> int | None:
    """Return how many terms each part should fold to fill so many units; None for no split.

    A power of two, which more extents are multiples of than of other numbers.

    Args:
        stmt: Any.
        units: That are to be filled.
        lanes: Results that one program computes side by side.
    """
    if stmt.reduce is None or stmt.constraints:
        return None
    results = prod(each.extent for each in stmt.parallel_axes())
    terms = prod(each.extent for each in stmt.axes if each.name in stmt.reduced())
    programs = -(-results // lanes)
    wanted = max(terms * programs // (units * _PARTS_PER_UNIT), FEWEST_TERMS // lanes, _FEWEST_DOWN)
    wanted = 1 << (wanted.bit_length() - 1)
    return wanted if 2 * wanted <= terms else None


def run(program: Program, name: str, terms: int) -> Program:
    """Split one fold.

    Args:
        program: Well-formed.
        name: Of a fold without constraints.
        terms: That a part folds, about; a divisor below it is preferred.

    Raises:
        ValueError: The statement folds nothing, or leaves out points, or has too few terms.
    """
    stmt = next(each for each in program.statements if each.name == name)
    reduce = stmt.reduce
    if reduce is None or stmt.constraints:
        raise ValueError(f"{name} is no fold that can be split")
    taken = {each.name for each in program.arrays} | {each.name for each in program.statements}
    part, array = _part(stmt, reduce, terms, _unused(f"{name}_parts", taken))
    read = Read(Access(array.name, part.output.index), array.dtype)
    outer = tuple(each.name for each in part.parallel_axes()[len(stmt.parallel_axes()) :])
    rest = Stmt(stmt.name, part.parallel_axes(), stmt.output, read, replace(reduce, axes=outer))
    place = program.statements.index(stmt)
    statements = (*program.statements[:place], part, rest, *program.statements[place + 1 :])
    grown = replace(program, arrays=(*program.arrays, array))
    return grown.with_statements(statements, by=NAME)


def _part(stmt: Stmt, reduce: Reduce, terms: int, name: str) -> tuple[Stmt, Array]:
    """Return the statement of the partial folds and the array that it writes."""
    folded = [each for each in stmt.axes if each.name in stmt.reduced()]
    inner: list[Axis] = []
    while folded and prod(each.extent for each in (*inner, folded[-1])) <= terms:
        inner.insert(0, folded.pop())
    values: dict[str, Affine] = {}
    body = stmt.body
    room = terms // prod(each.extent for each in inner)
    if folded and room > 1:
        high, low = _cut(folded.pop(), room, {each.name for each in stmt.axes})
        folded.append(high)
        inner.insert(0, low)
    if not folded or not inner:
        raise ValueError(f"{stmt.name} has too few terms to be split at {terms}")
    parallel = (*stmt.parallel_axes(), *folded)
    axes = (*parallel, *inner)
    cut = next((each for each in stmt.axes if each not in axes), None)
    if cut is not None:
        place = axis(folded[-1].name) * inner[0].extent + axis(inner[0].name)
        values[cut.name] = place
        body = _within(body, place, cut, folded[-1].extent * inner[0].extent, reduce)
    extents = {each.name: each.extent for each in axes}
    index = tuple(axis(each.name) for each in parallel)
    kept = replace(reduce, axes=tuple(each.name for each in inner))
    output = Access(name, index)
    part = Stmt(name, axes, output, moved_expr(body, values, extents), kept)
    shape = tuple(each.extent for each in parallel)
    return part, Array(name, shape, reduce.dtype, "intermediate")


def _cut(whole: Axis, room: int, taken: set[str]) -> tuple[Axis, Axis]:
    """Return an axis as parts and what is within one, with a divisor where one is near."""
    low = next(
        (each for each in range(room, room // _NEAR, -1) if whole.extent % each == 0 and each > 1),
        room,
    )
    high = -(-whole.extent // low)
    outer = _unused(f"{whole.name}_part", taken)
    return Axis(outer, high), Axis(_unused(f"{whole.name}_rest", taken), low)


def _within(body: Expr, place: Affine, cut: Axis, reach: int, reduce: Reduce) -> Expr:
    """Take the identity where the last part reaches past the terms."""
    if reach == cut.extent:
        return body
    return Select((below(place, cut.extent),), body, Const(reduce.identity, reduce.dtype))


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
