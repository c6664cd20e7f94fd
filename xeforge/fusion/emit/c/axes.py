"""Neighbouring axes that every access walks as one become one loop."""

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace

from xeforge.fusion.affine import Affine
from xeforge.fusion.emit.c.index import with_accesses
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt


def coefficient(of: Affine, name: str) -> int:
    """Return the factor of an axis outside divisions."""
    return next((times for atom, times in of.terms if atom == name), 0)


def is_plain_in(of: Affine, name: str) -> bool:
    """Say whether an axis stands in no division."""
    return all(isinstance(atom, str) or name not in atom.of.names() for atom, _ in of.terms)


def is_near(of: Affine, name: str) -> bool:
    """Say whether neighbours along an axis lie side by side, or are the same element."""
    return is_plain_in(of, name) and coefficient(of, name) in {0, 1}


def offsets(stmt: Stmt) -> Iterator[Affine]:
    """Yield the offsets of a flat statement, the written one first."""
    yield stmt.output.index[0]
    for read in stmt.reads():
        yield read.access.index[0]


def merged(stmts: Sequence[Stmt], order: Sequence[Axis]) -> tuple[tuple[Axis, ...], list[Stmt]]:
    """Merge neighbours of a list of axes wherever all statements allow it.

    Args:
        stmts: Flat statements, each of which has all of these axes or none.
        order: The axes, outermost first.

    Returns:
        The axes that are left and the statements in them.
    """
    kept = list(order)
    found = list(stmts)
    at = 0
    while at + 1 < len(kept):
        outer, inner = kept[at], kept[at + 1]
        if all(_may_merge(stmt, outer, inner) for stmt in found):
            both = Axis(f"{outer.name}{inner.name}", outer.extent * inner.extent)
            found = [_merge(stmt, outer, inner, both) for stmt in found]
            kept[at : at + 2] = [both]
        else:
            at += 1
    return tuple(kept), found


def _may_merge(stmt: Stmt, outer: Axis, inner: Axis) -> bool:
    names = {each.name for each in stmt.axes}
    if f"{outer.name}{inner.name}" in names:
        return False
    if outer.name in stmt.reduced() and inner.name not in stmt.reduced():
        return False
    pair = {outer.name, inner.name}
    if any(each.of.names() & pair for each in stmt.constraints):
        return False
    if _compared(stmt.body) & pair:
        return False
    return all(
        is_plain_in(each, outer.name)
        and is_plain_in(each, inner.name)
        and coefficient(each, outer.name) == coefficient(each, inner.name) * inner.extent
        for each in offsets(stmt)
    )


def _compared(value: Expr) -> frozenset[str]:
    """Return the axes that an expression uses otherwise than in offsets."""
    found: frozenset[str] = frozenset()
    if isinstance(value, Position):
        return value.of.names()
    if isinstance(value, Read):
        return found.union(*(each.of.names() for each in value.access.guard))
    if isinstance(value, Call):
        return found.union(*(_compared(each) for each in value.args))
    if isinstance(value, Select):
        guards = (each.of.names() for each in value.guard)
        return found.union(*guards, _compared(value.then), _compared(value.otherwise))
    return found


def _merge(stmt: Stmt, outer: Axis, inner: Axis, both: Axis) -> Stmt:
    def change(of: Affine) -> Affine:
        times = coefficient(of, inner.name)
        kept = tuple(each for each in of.terms if each[0] not in (outer.name, inner.name))
        rest = Affine(kept, of.constant)
        return rest + Affine(((both.name, 1),)) * times if times else rest

    axes = tuple(
        both if each.name == outer.name else each for each in stmt.axes if each.name != inner.name
    )
    reduce = stmt.reduce
    if reduce and outer.name in reduce.axes:
        names = tuple(both.name if n == outer.name else n for n in reduce.axes if n != inner.name)
        reduce = replace(reduce, axes=names)

    def moved(access: Access) -> Access:
        return replace(access, index=(change(access.index[0]),))

    body = with_accesses(stmt.body, moved)
    return replace(stmt, axes=axes, reduce=reduce, output=moved(stmt.output), body=body)
