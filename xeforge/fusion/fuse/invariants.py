"""What `xeforge.fusion.plan` promises to those who emit kernels, checked."""

from collections.abc import Iterator
from collections.abc import Mapping

from xeforge.errors import PlatformError
from xeforge.fusion import wellformed
from xeforge.fusion.fuse import contraction
from xeforge.fusion.fuse import riders
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import ROLES
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan


class BrokenPlan(PlatformError):
    """A pass made a plan that breaks the contract with the emitters."""

    code = "broken_plan"


def check_plan(plan: Plan) -> None:
    """Refuse a plan whose groups are not what they say, or run in an order that cannot be.

    Raises:
        BrokenPlan: With every fault found.
        Malformed: The statements of the groups are no well-formed program.
    """
    names = [each.name for each in plan.groups]
    faults = [f"two groups are called {name}" for name in names if names.count(name) > 1]
    given = {each.name: each.given() for each in plan.groups}
    for group in plan.groups:
        faults += [f"{group.name}: {fault}" for fault in group_faults(group)]
        faults += [f"{group.name}: {fault}" for fault in _stored_faults(group, given, plan)]
    faults += riders.faults(plan)
    if faults:
        raise BrokenPlan("; ".join(faults))
    # Statements in the order of the groups: well-formed means that nothing is read too early.
    wellformed.check(plan.as_program(), made_by="plan")


def group_faults(group: Group) -> Iterator[str]:
    """Yield what is wrong with one group."""
    if not group.name.isidentifier():
        yield "its name is no identifier"
    if group.family == "nest":
        yield from _nest_faults(group)
        return
    if tuple(group.axes) != ROLES[group.family]:
        yield f"its roles are {tuple(group.axes)}"
        return
    axes = [each for own in group.axes.values() for each in own]
    yield from _axis_faults(group, axes)
    yield from _local_read_faults(group)
    if group.family == "contraction":
        yield from _contraction_faults(group)
    else:
        yield from _row_faults(group)


def _axis_faults(group: Group, axes: list[Axis]) -> Iterator[str]:
    if len({each.name for each in axes}) != len(axes):
        yield "an axis has two roles"
    if any(each.extent < 2 for each in axes):  # noqa: PLR2004 - one point is no loop
        yield "an axis has one point"
    for stmt in group.statements:
        if not set(stmt.axes) <= set(axes):
            yield f"{stmt.name} has axes of its own"
        if stmt.constraints:
            yield f"{stmt.name} leaves out points"


def _local_read_faults(group: Group) -> Iterator[str]:
    extents = {each.name: each.extent for stmt in group.statements for each in stmt.axes}
    writes: dict[str, Stmt] = {}
    for stmt in group.statements:
        for read in stmt.reads():
            writer = writes.get(read.access.array)
            if writer is None:
                continue
            pairs = zip(writer.output.index, read.access.index, strict=True)
            if any(left.simplified(extents) != right.simplified(extents) for left, right in pairs):
                yield f"{stmt.name} reads {read.access.array} elsewhere than it was written"
            if read.access.guard:
                yield f"{stmt.name} reads {read.access.array} under a guard"
        writes[stmt.output.array] = stmt
    for place, stmt in enumerate(group.statements):
        later = {each.output.array for each in group.statements[place:]}
        for name in sorted(later & {each.access.array for each in stmt.reads()}):
            yield f"{stmt.name} reads {name} before it is written"


def _nest_faults(group: Group) -> Iterator[str]:
    root, *rest = group.statements
    points = tuple(root.parallel_axes())
    if group.axes != ({"point": points} if rest else {}):
        yield f"its axes are {dict(group.axes)}"
    for stmt in rest:
        if set(stmt.axes) != set(points) or stmt.reduce or stmt.constraints:
            yield f"{stmt.name} is not pointwise at the points of {root.name}"
    yield from _local_read_faults(group)


def _row_faults(group: Group) -> Iterator[str]:
    first = {each.name for each in group.axes.get("row", group.axes.get("point", ()))}
    columns = {each.name for each in group.axes.get("column", ())}
    for stmt in group.statements:
        if set(stmt.extents()) not in (first, first | columns):
            yield f"{stmt.name} runs over {sorted(stmt.extents())}"
        if stmt.reduced() not in (frozenset(), columns) or (stmt.reduce and not columns):
            yield f"{stmt.name} folds {sorted(stmt.reduced())}"


def _contraction_faults(group: Group) -> Iterator[str]:
    root, *rest = group.statements
    if root.reduced() != {each.name for each in group.axes["k"]} or root.reduce is None:
        yield f"{root.name} does not fold k"
    knows = [contraction.stmt_axes(root, each) for each in contraction.factors(root)]
    own = {role: {each.name for each in axes} for role, axes in group.axes.items()}
    wanted = [own["batch"] | own["k"] | own[role] for role in ("m", "n")]
    if knows not in (wanted, wanted[::-1]):
        yield f"the factors of {root.name} know {[sorted(each) for each in knows]}"
    whole = own["batch"] | own["m"] | own["n"]
    columns, last = group.axes["n"], frozenset[str]()
    for stmt in rest:
        if set(stmt.extents()) not in (whole, whole - last):
            yield f"{stmt.name} runs over {sorted(stmt.extents())}"
        if stmt.reduce is None:
            continue
        found = stmt.reduced()
        if found != {each.name for each in columns[len(columns) - len(found) :]}:
            yield f"{stmt.name} does not fold the last axes of n"
        if last not in (frozenset(), found) or set(stmt.extents()) != whole:
            yield f"{stmt.name} folds other axes than the fold before it"
        last = found


def _stored_faults(group: Group, given: Mapping[str, tuple[str, ...]], plan: Plan) -> Iterator[str]:
    written = {each.output.array for each in group.statements}
    others = {name for other, names in given.items() if other != group.name for name in names}
    needed = written & (others | set(plan.program.outputs))
    for name in sorted(needed - set(group.stored)):
        yield f"{name} is needed elsewhere and not stored"
    for name in sorted(set(group.stored) - needed):
        yield f"{name} is stored for nobody"
