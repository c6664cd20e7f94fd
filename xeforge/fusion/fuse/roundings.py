"""Leave out roundings of values that never reach memory.

Before:  y[i, j] = float16(p[i, j] + b[j]);  z[i, j] = float16(gelu(float32(y[i, j])))
After:   y[i, j] = p[i, j] + b[j];           z[i, j] = float16(gelu(y[i, j]))

Torch rounds after each operator, so results differ from its results in the last places, and are
closer to those of float64. Arrays that are stored keep their dtype, and so do the factors of a
contraction, since it is by their dtype that matrix units are chosen.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import replace

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.functions import children
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.rewrite import with_reads
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

NAME = "drop_roundings"


def run(plan: Plan) -> Plan:
    """Return the plan with wider values in registers."""
    arrays = plan.program.arrays_by_name()
    wider = {name: dtype for group in plan.groups for name, dtype in _wider(group, arrays)}
    groups = tuple(
        replace(group, statements=tuple(_statements(group, wider))) for group in plan.groups
    )
    kept = tuple(
        replace(each, dtype=wider.get(each.name, each.dtype)) for each in plan.program.arrays
    )
    program = replace(plan.program, arrays=kept, passes=(*plan.program.passes, NAME))
    program = replace(
        program, statements=tuple(_widened(each, wider) for each in plan.program.statements)
    )
    note = f"{len(wider)} arrays are not rounded in registers"
    notes = (*plan.notes, note) if wider else plan.notes
    result = replace(plan, program=program, groups=groups, notes=notes)
    check_plan(result)
    return result


def _statements(group: Group, wider: Mapping[str, str]) -> Iterator[Stmt]:
    for place, stmt in enumerate(group.statements):
        is_root = group.family == "contraction" and place == 0
        yield stmt if is_root else _widened(stmt, wider)


def _wider(group: Group, arrays: Mapping[str, Array]) -> Iterator[tuple[str, str]]:
    """Yield the arrays of a group that are rounded only on their way to it, and from what."""
    local = group.local()
    for stmt in group.statements:
        name = stmt.output.array
        own = arrays[name].dtype
        found = stmt.reduce.dtype if stmt.reduce else _before_rounding(stmt.body)
        if name in local and found is not None and _is_wider(found, own):
            yield name, found


def _before_rounding(body: Expr) -> str | None:
    """Return the dtype of what a body rounds at its end, or None."""
    if isinstance(body, Call) and body.function == "cast":
        return dtype_of(body.args[0])
    return None


def _is_wider(wide: str, narrow: str) -> bool:
    both = DTYPES[wide], DTYPES[narrow]
    is_float = all(each.kind == "float" for each in both)
    return is_float and both[0].eps < both[1].eps


def _widened(stmt: Stmt, wider: Mapping[str, str]) -> Stmt:
    body = with_reads(stmt.body, lambda read: _as_it_was(read, wider))
    is_pointwise = stmt.reduce is None and stmt.output.array in wider
    if is_pointwise and isinstance(body, Call) and body.function == "cast":
        body = body.args[0]
    return replace(stmt, body=_without_pairs(body))


def _as_it_was(read: Read, wider: Mapping[str, str]) -> Expr:
    """Read an array that became wider, and round it here until that is found needless."""
    wide = wider.get(read.access.array)
    return read if wide is None else Call("cast", (replace(read, dtype=wide),), read.dtype)


def _without_pairs(value: Expr) -> Expr:
    """Leave out roundings whose result is widened again at once."""
    if isinstance(value, Call):
        value = replace(value, args=tuple(map(_without_pairs, value.args)))
        if value.function != "cast":
            return value
        (inner,) = children(value)
        if isinstance(inner, Call) and inner.function == "cast":
            (first,) = inner.args
            if dtype_of(first) == value.dtype and _is_wider(value.dtype, inner.dtype):
                return first
    if isinstance(value, Select):
        then = _without_pairs(value.then)
        return Select(value.guard, then, _without_pairs(value.otherwise))
    return value
