"""Factors of a contraction: what the matrix unit is given, and how it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.affine import Affine
from xeforge.fusion.emit.triton.values import flat_offset
from xeforge.fusion.emit.triton.words import HALVES
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.fuse.contraction import factors
from xeforge.fusion.fuse.contraction import stmt_axes
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group

_ALIGNED_BYTES = 16


@dataclass(frozen=True, slots=True)
class Described:
    """An array that lies in memory as a matrix, or as a batch of them.

    Attributes:
        array: Its name.
        batch_stride: Elements between matrices; 0: there is one.
        stride: Elements between rows.
        is_turned: Whether rows of memory run along the first role, and not along the second.
        constant: Element at which it starts.
    """

    array: str
    batch_stride: int
    stride: int
    is_turned: bool
    constant: int


@dataclass(frozen=True, slots=True)
class Factor:
    """One side of the products.

    Attributes:
        side: ``"m"`` or ``"n"``: which role it knows beside k.
        value: Expression, of `dtype`.
        dtype: Torch name of what the matrix unit is given.
        described: How it lies in memory, where it is read as it lies.
    """

    side: AxisRole
    value: Expr
    dtype: str
    described: Described | None

    @property
    def is_plain(self) -> bool:
        """Say whether it is one element read, without arithmetic."""
        return isinstance(self.value, Read)


def factors_of(group: Group, arrays: Mapping[str, Array]) -> tuple[Factor, Factor]:
    """Return the factor that knows m and the one that knows n."""
    root = group.statements[0]
    pair = factors(root)
    columns = {each.name for each in group.axes["n"]}
    if stmt_axes(root, pair[0]) & columns:
        pair = pair[1], pair[0]
    values = [_narrowed(each) for each in pair]
    types = [dtype_of(each) for each in values]
    if types[0] != types[1]:
        values, types = list(pair), [dtype_of(each) for each in pair]
    return (
        Factor("m", values[0], types[0], _described(values[0], "m", group, arrays)),
        Factor("n", values[1], types[1], _described(values[1], "n", group, arrays)),
    )


def _narrowed(value: Expr) -> Expr:
    """Return the halves that were widened: their products are exact in float32 all the same."""
    is_widened = isinstance(value, Call) and value.function == "cast" and value.dtype == "float32"
    if is_widened and isinstance(value, Call) and dtype_of(value.args[0]) in HALVES:
        return value.args[0]
    return value


def _described(
    value: Expr, side: AxisRole, group: Group, arrays: Mapping[str, Array]
) -> Described | None:
    if not isinstance(value, Read) or value.access.guard:
        return None
    return _matrix(value.access, (side, "k"), group, arrays)


def described_output(stmt: Stmt, group: Group, arrays: Mapping[str, Array]) -> Described | None:
    """Return how what a statement writes lies in memory, where it is a matrix along m and n."""
    found = _matrix(stmt.output, ("m", "n"), group, arrays)
    is_matrix = found is not None and not found.is_turned and not stmt.constraints
    return found if is_matrix else None


def _matrix(
    access: Access, roles: tuple[AxisRole, AxisRole], group: Group, arrays: Mapping[str, Array]
) -> Described | None:
    """Return how an array lies, seen as rows along one role and columns along another."""
    array = arrays[access.array]
    extents = {each.name: each.extent for own in group.axes.values() for each in own}
    offset = flat_offset(access, array.shape).simplified(extents)
    all_roles: tuple[AxisRole, ...] = ("batch", *roles)
    strides = [stride_along(offset, group.axes[role]) for role in all_roles]
    names = {each for each, _ in offset.terms}
    known = {each.name for role in all_roles for each in group.axes[role]}
    if not names <= known or any(each is None for each in strides):
        return None
    batch, own, inner = (each or 0 for each in strides)
    per_element = DTYPES[array.dtype].size_bytes
    is_turned = inner != 1
    if 1 not in {own, inner} or array.dtype not in HALVES | {"float32"}:
        return None
    stride = inner if is_turned else own
    steps = (batch, stride, offset.constant)
    if stride <= 0 or batch < 0 or any(each * per_element % _ALIGNED_BYTES for each in steps):
        return None
    return Described(array.name, batch, stride, is_turned, offset.constant)


def stride_along(offset: Affine, axes: tuple[Axis, ...]) -> int | None:
    """Return elements between neighbours of a flattened position; None where they differ."""
    plain = {atom: times for atom, times in offset.terms if isinstance(atom, str)}
    many = [each for each in axes if each.extent > 1]
    if not many:
        return 0
    for outer, inner in pairwise(many):
        if plain.get(outer.name, 0) != plain.get(inner.name, 0) * inner.extent:
            return None
    return plain.get(many[-1].name, 0)
