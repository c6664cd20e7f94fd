"""Integer sets and relations of statements; the only file that touches islpy.

Shapes are concrete, statements are few, and every question has a limit on its work: past it,
`TooHard` is raised instead of an answer.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import islpy

from xeforge.errors import PlatformError
from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import Quotient
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Stmt

MAX_OPERATIONS = 2_000_000
"""Steps of the library's solver that one question may take; about two seconds."""

_CONTEXT = islpy.Context()


class TooHard(PlatformError):
    """A question about integer sets took more work than it may; nothing is known then."""

    code = "too_hard"


@dataclass(frozen=True, slots=True)
class Relation:
    """Which points of one statement need which points of another.

    Attributes:
        pairs: From points of the source to points of the target.
        source: Axis names of the source, in order.
        target: Axis names of the target, in order.
    """

    pairs: islpy.Map
    source: tuple[str, ...]
    target: tuple[str, ...]

    def is_empty(self) -> bool:
        """Say whether no pair exists."""
        with _limited():
            return bool(self.pairs.is_empty())

    def sample(self) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
        """Return one pair of points, or None when there is none."""
        with _limited():
            found = _point(self.pairs.wrap().sample_point())
        if found is None:
            return None
        count = len(self.source)
        first = dict(zip(self.source, found[:count], strict=True))
        return first, dict(zip(self.target, found[count:], strict=True))

    def needs(self, target: Mapping[str, int]) -> tuple[Mapping[str, int], ...]:
        """Return all points of the source that one point of the target needs, in order."""
        values = ", ".join(str(target[name]) for name in self.target)
        with _limited():
            one = islpy.Set.read_from_str(_CONTEXT, f"{{ [{values}] }}")
            points: list[tuple[int, ...]] = []
            found = self.pairs.intersect_range(one).domain()
            found.foreach_point(lambda point: points.append(_point(point) or ()))
        return tuple(dict(zip(self.source, each, strict=True)) for each in sorted(points))


def point_outside(
    stmt: Stmt, access: Access, conditions: Sequence[Condition], shape: Sequence[int]
) -> Mapping[str, int] | None:
    """Return a point of the domain where the access leaves the array, or None.

    Args:
        stmt: Gives the box of the axes.
        access: One index per dimension.
        conditions: Only points where all hold count.
        shape: Of the array.
    """
    names = _short_names(stmt)
    outside = " or ".join(
        f"{_text(index, names)} < 0 or {_text(index, names)} >= {size}"
        for index, size in zip(access.index, shape, strict=True)
    )
    if not outside:
        return None
    with _limited():
        found = _read_set(stmt, conditions, names, extra=f"({outside})").sample_point()
    return _named(stmt, _point(found))


def element_unwritten(stmt: Stmt, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Return an element of the array that the statement does not write, or None."""
    with _limited():
        written = _write_map(stmt).range()
        return _point(_box(shape).subtract(written).sample_point())


def element_written_twice(stmt: Stmt) -> tuple[int, ...] | None:
    """Return an element that two points of the parallel axes write, or None."""
    with _limited():
        writes = _write_map(stmt)
        if writes.is_injective():
            return None
        both = writes.apply_range(writes.reverse())
        different = both.subtract(islpy.Map.identity(both.get_space()))
        return _point(different.domain().apply(writes).sample_point())


def flow(source: Stmt, target: Stmt, access: Access, conditions: Sequence[Condition]) -> Relation:
    """Return which points of `source` write the element that a read of `target` takes.

    Reduced axes of the source are no part of it: an element is there when its fold is done.
    """
    names = _short_names(target)
    indices = ", ".join(_text(each, names) for each in access.index)
    domain = ", ".join(names.values())
    with _limited():
        inside = _read_set(target, conditions, names)
        reads = islpy.Map.read_from_str(_CONTEXT, f"{{ [{domain}] -> [{indices}] }}")
        reads = reads.intersect_domain(inside)
        pairs = _write_map(source).apply_range(reads.reverse())
    axes = tuple(each.name for each in target.axes)
    return Relation(pairs, tuple(each.name for each in source.parallel_axes()), axes)


def late_pair(
    relation: Relation,
    source: tuple[Stmt, Sequence[Affine]],
    target: tuple[Stmt, Sequence[Affine]],
) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """Return a point of the source that runs no earlier than a point that needs it, or None.

    All points of a fold count: an element is not there before its last term.

    Args:
        relation: Which points of the target need which elements of the source.
        source: The statement and the time of each of its points, compared lexicographically.
        target: The same; as many times as the source has.
    """
    writer, needs = _times(*source), _times(*target)
    names = _short_names(source[0])
    every = ", ".join(names.values())
    kept = ", ".join(names[each.name] for each in source[0].parallel_axes())
    with _limited():
        element = islpy.Map.read_from_str(_CONTEXT, f"{{ [{every}] -> [{kept}] }}")
        needed = element.apply_range(relation.pairs).intersect_domain(writer.domain())
        late = needed.intersect(writer.lex_ge_map(needs))
        found = _point(late.wrap().sample_point())
    if found is None:
        return None
    count = len(names)
    return (
        dict(zip(names, found[:count], strict=True)),
        dict(zip(relation.target, found[count:], strict=True)),
    )


def _times(stmt: Stmt, times: Sequence[Affine]) -> islpy.Map:
    names = _short_names(stmt)
    left = ", ".join(names.values())
    right = ", ".join(_text(each, names) for each in times)
    with _limited():
        inside = _read_set(stmt, stmt.constraints, names)
        whole = islpy.Map.read_from_str(_CONTEXT, f"{{ [{left}] -> [{right}] }}")
        return whole.intersect_domain(inside)


@contextmanager
def _limited() -> Iterator[None]:
    _CONTEXT.reset_operations()
    _CONTEXT.set_max_operations(MAX_OPERATIONS)
    try:
        yield
    except islpy.Error as error:
        raise TooHard(f"integer sets: {error}") from error
    finally:
        _CONTEXT.set_max_operations(0)


def _short_names(stmt: Stmt) -> dict[str, str]:
    """Rename axes by position: ``max`` and ``mod`` are words of isl, and may be axes."""
    return {each.name: f"a{position}" for position, each in enumerate(stmt.axes)}


def _text(of: Affine, names: Mapping[str, str]) -> str:
    parts = [str(of.constant)]
    for atom, times in of.terms:
        if isinstance(atom, str):
            parts.append(f"{times}*{names[atom]}")
        elif isinstance(atom, Quotient):
            parts.append(f"{times}*floor(({_text(atom.of, names)})/{atom.by})")
        else:
            parts.append(f"{times}*(({_text(atom.of, names)}) mod {atom.by})")
    return "(" + " + ".join(parts) + ")"


def _read_set(
    stmt: Stmt, conditions: Sequence[Condition], names: Mapping[str, str], extra: str = ""
) -> islpy.Set:
    claims = [f"0 <= {names[each.name]} < {each.extent}" for each in stmt.axes]
    sign = {">=": ">=", "==": "="}
    claims += [f"{_text(each.of, names)} {sign[each.relation]} 0" for each in conditions]
    claims += [extra] if extra else []
    tuple_ = ", ".join(names[each.name] for each in stmt.axes)
    where = f" : {' and '.join(claims)}" if claims else ""
    return islpy.Set.read_from_str(_CONTEXT, f"{{ [{tuple_}]{where} }}")


def _write_map(stmt: Stmt) -> islpy.Map:
    """Return the map from points of the parallel axes to elements."""
    names = _short_names(stmt)
    axes = stmt.parallel_axes()
    claims = [f"0 <= {names[each.name]} < {each.extent}" for each in axes]
    sign = {">=": ">=", "==": "="}
    claims += [
        f"{_text(each.of, names)} {sign[each.relation]} 0" for each in stmt.write_constraints()
    ]
    left = ", ".join(names[each.name] for each in axes)
    right = ", ".join(_text(each, names) for each in stmt.output.index)
    where = f" : {' and '.join(claims)}" if claims else ""
    return islpy.Map.read_from_str(_CONTEXT, f"{{ [{left}] -> [{right}]{where} }}")


def _box(shape: Sequence[int]) -> islpy.Set:
    names = [f"e{position}" for position in range(len(shape))]
    claims = [f"0 <= {name} < {size}" for name, size in zip(names, shape, strict=True)]
    where = f" : {' and '.join(claims)}" if claims else ""
    return islpy.Set.read_from_str(_CONTEXT, f"{{ [{', '.join(names)}]{where} }}")


def _point(point: islpy.Point) -> tuple[int, ...] | None:
    if point.is_void():
        return None
    count = point.get_space().dim(islpy.dim_type.set)
    return tuple(
        point.get_coordinate_val(islpy.dim_type.set, position).to_python()
        for position in range(count)
    )


def _named(stmt: Stmt, point: tuple[int, ...] | None) -> Mapping[str, int] | None:
    if point is None:
        return None
    return dict(zip((each.name for each in stmt.axes), point, strict=True))
