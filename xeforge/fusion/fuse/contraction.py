"""Contractions: which role each axis has, and what may follow in the same kernel."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Quotient
from xeforge.fusion.affine import Remainder
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group

_FACTORS = 2


def is_sum_of_products(stmt: Stmt) -> bool:
    """Say whether a statement sums products, whatever their form."""
    is_sum = stmt.reduce is not None and stmt.reduce.monoid == "sum"
    return is_sum and isinstance(stmt.body, Call) and stmt.body.function == "mul"


def recognise(stmt: Stmt, *, windows: bool = False) -> Group | str:
    """Return the group that starts with this statement, or why it is no contraction.

    Args:
        stmt: Any.
        windows: Whether factors may be guarded and read through windows.
    """
    if not is_sum_of_products(stmt):
        return "it does not sum products"
    if stmt.constraints:
        return "terms are left out"
    reason = None if windows else window(stmt)
    if reason is not None:
        return reason
    first, second = (stmt_axes(stmt, each) for each in factors(stmt))
    axes: dict[AxisRole, tuple[Axis, ...]] = {"batch": (), "m": (), "n": (), "k": ()}
    for each in stmt.axes:
        role = _role(each, stmt, first, second)
        if role is None:
            return f"not both factors know {each.name}"
        axes[role] = (*axes[role], each)
    if not axes["m"] or not axes["n"]:
        return "one factor alone knows the axes of the result"
    return Group(stmt.name, "contraction", axes, (stmt,), ())


def window(stmt: Stmt) -> str | None:
    """Return why the factors of products are no elements of matrices, or None."""
    reads = stmt.reads()
    if any(each.conditions for each in reads):
        return "a factor is guarded"
    extents = stmt.extents()
    if not all(_is_plain(index, extents) for read in reads for index in read.access.index):
        return "a factor is read through a window"
    return None


def factors(stmt: Stmt) -> tuple[Expr, Expr]:
    """Return the two factors of the terms.

    Raises:
        ValueError: The terms are no products.
    """
    if not isinstance(stmt.body, Call) or len(stmt.body.args) != _FACTORS:
        raise ValueError(f"{stmt.name} does not sum products")
    return stmt.body.args[0], stmt.body.args[1]


def join(group: Group, stmt: Stmt, *, most_columns: int) -> Group | None:
    """Add a statement that is on the axes of the group already; None where it does not fit.

    Args:
        group: A contraction.
        stmt: Aligned with it.
        most_columns: Elements of ``n`` that one tile may hold; a fold needs all it folds in one.
    """
    if stmt.constraints:
        return None
    if stmt.reduce is None:
        fits = _runs_where_it_may(group, stmt)
        return replace(group, statements=(*group.statements, stmt)) if fits else None
    for each in (group, _swapped(group)):
        if each is not None and _folds(each, stmt, most_columns):
            return replace(each, statements=(*each.statements, stmt))
    return None


def folded(group: Group) -> tuple[Axis, ...]:
    """Return the axes of ``n`` that folds after the contraction fold away; () without folds."""
    for stmt in group.statements[1:]:
        if stmt.reduce is not None:
            return tuple(each for each in group.axes["n"] if each.name in stmt.reduced())
    return ()


def _points(group: Group) -> set[str]:
    """Return the axes that number the elements of the product."""
    return {each.name for role, own in group.axes.items() if role != "k" for each in own}


def _runs_where_it_may(group: Group, stmt: Stmt) -> bool:
    whole = _points(group)
    without = whole - {each.name for each in folded(group)}
    return set(stmt.extents()) in (whole, without)


def _folds(group: Group, stmt: Stmt, most_columns: int) -> bool:
    """Say whether a statement folds the last axes of n, and the same ones as those before."""
    whole = _points(group)
    own = stmt.reduced()
    columns = group.axes["n"]
    last = columns[len(columns) - len(own) :]
    if set(stmt.extents()) != whole or {each.name for each in last} != own:
        return False
    earlier = folded(group)
    size = prod(each.extent for each in last)
    return size <= most_columns and earlier in ((), last)


def _swapped(group: Group) -> Group | None:
    """Return the group with m and n exchanged; the product does not say which is which."""
    if folded(group):
        return None
    axes = {**group.axes, "m": group.axes["n"], "n": group.axes["m"]}
    return replace(group, axes=axes)


def _role(each: Axis, stmt: Stmt, first: frozenset[str], second: frozenset[str]) -> AxisRole | None:
    knows = (each.name in first, each.name in second)
    if each.name in stmt.reduced():
        return "k" if all(knows) else None
    roles: Mapping[tuple[bool, bool], AxisRole] = {
        (True, True): "batch",
        (True, False): "m",
        (False, True): "n",
    }
    return roles.get(knows)


def stmt_axes(stmt: Stmt, part: Expr) -> frozenset[str]:
    """Return the axes that a part of a statement's body knows."""
    return replace(stmt, output=replace(stmt.output, index=()), body=part, reduce=None).used_axes()


def _is_plain(index: Affine, extents: Mapping[str, int]) -> bool:
    """Say whether different points of the axes of an index give different values of its sum."""
    below = 0
    for atom, times in sorted(index.terms, key=lambda term: abs(term[1])):
        if isinstance(atom, Quotient | Remainder) and not _is_plain(atom.of, extents):
            return False
        low, high = Affine(((atom, 1),)).interval(extents)
        if abs(times) <= below:
            return False
        below += abs(times) * (high - low)
    return True
