"""Copy the factors of a contraction into rows that tensor descriptors can read.

Before:  p[i, j] = sum over r < 777 of a[i, r] * b[j, r]
After:   a_rows[i, r] = a[i, r] where r < 777 else 0;   b_rows likewise;   r < 832
         p[i, j] = sum over r < 832 of a_rows[i, r] * b_rows[j, r]

Descriptors need rows of whole 16 bytes. Rows of odd numbers of halves cannot even be loaded
without waiting, so that a large product is worth the copies.
"""

from dataclasses import replace

from xeforge.errors import BadRequest
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import below
from xeforge.fusion.fuse.contraction import factors
from xeforge.fusion.fuse.rewrite import with_reads
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import GuardedRead
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

STEP = 64
"""Rows are padded to multiples of so many elements: whole steps of k, and lines of the cache."""


def padded_k(group: Group, program: Program) -> int:
    """Return the length of rows after copying; 0 where factors are no plain rows along one k."""
    if _reads(group, program) is None:
        return 0
    return -(-group.extent("k") // STEP) * STEP


def pad_factors(plan: Plan, name: str) -> Plan:
    """Return the plan with both factors of one contraction copied.

    Args:
        plan: Well-formed.
        name: Of a group whose `padded_k` is not 0.

    Raises:
        BadRequest: The group has no such factors.
    """
    place = next((at for at, each in enumerate(plan.groups) if each.name == name), None)
    reads = None if place is None else _reads(plan.groups[place], plan.program)
    if place is None or reads is None:
        raise BadRequest(f"the factors of {name} are no rows that could be copied")
    group = plan.groups[place]
    deep = Axis(group.axes["k"][0].name, padded_k(group, plan.program))
    taken = {each.name for each in plan.program.arrays} | {each.name for each in plan.groups}
    copies: dict[Access, tuple[Group, Array]] = {}
    for read in reads:
        if read.access not in copies:
            copy = _unused(f"{read.access.array}_rows", taken)
            copies[read.access] = _copy(read, group, deep, copy)
            taken.add(copy)

    def put(read: Read) -> Expr:
        return replace(read, access=replace(read.access, array=copies[read.access][1].name))

    root, *later = group.statements
    axes = tuple(deep if each.name == deep.name else each for each in root.axes)
    moved = replace(root, axes=axes, body=with_reads(root.body, put))
    deeper = replace(group, axes={**group.axes, "k": (deep,)}, statements=(moved, *later))
    made = tuple(each for each, _ in copies.values())
    groups = (*plan.groups[:place], *made, deeper, *plan.groups[place + 1 :])
    arrays = (*plan.program.arrays, *(each for _, each in copies.values()))
    statements = tuple(stmt for each in groups for stmt in each.statements)
    program = replace(plan.program, arrays=arrays).with_statements(statements, by="pad_factors")
    notes = (*plan.notes, f"the factors of {name} are copied into longer rows")
    return replace(plan, program=program, groups=groups, notes=notes)


def _reads(group: Group, program: Program) -> tuple[GuardedRead, GuardedRead] | None:
    """Return what is read of each factor: a row of a dense matrix along the one axis k."""
    root = group.statements[0]
    if group.family != "contraction" or len(group.axes["k"]) != 1 or group.axes["batch"]:
        return None
    arrays = program.arrays_by_name()
    found = []
    for factor in factors(root):
        reads = Stmt(root.name, root.axes, root.output, factor).reads()
        if len(reads) != 1 or reads[0].conditions:
            return None
        if not _is_rows(reads[0], group, arrays[reads[0].access.array]):
            return None
        found.append(reads[0])
    return found[0], found[1]


def _is_rows(read: GuardedRead, group: Group, array: Array) -> bool:
    deep = group.axes["k"][0]
    sides = [each for role in ("m", "n") for each in _axes(group, role)]
    wanted = {(axis(each.name), axis(deep.name)): (each.extent, deep.extent) for each in sides}
    return wanted.get(tuple(read.access.index)) == tuple(array.shape)  # type: ignore[arg-type]


def _axes(group: Group, role: str) -> tuple[Axis, ...]:
    return next(own for name, own in group.axes.items() if name == role)


def _copy(read: GuardedRead, group: Group, deep: Axis, name: str) -> tuple[Group, Array]:
    """Return the group that copies a factor, and the array that it writes."""
    rows, width = (group.axes["k"][0], deep)
    own = next(
        each
        for role in ("m", "n")
        for each in _axes(group, role)
        if axis(each.name) == read.access.index[0]
    )
    array = Array(name, (own.extent, width.extent), read.dtype, "intermediate")
    guard = () if width.extent == rows.extent else (below(axis(deep.name), rows.extent),)
    body = Read(replace(read.access, guard=guard, otherwise=0.0), read.dtype)
    stmt = Stmt(name, (own, width), Access(name, (axis(own.name), axis(deep.name))), body)
    return Group(name, "pointwise", {"point": (own, width)}, (stmt,), (name,)), array


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
