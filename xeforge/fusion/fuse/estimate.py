"""What a plan costs by the model: T = sum over kernels of the slower of arithmetic and traffic."""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from math import prod

from xeforge.fusion.cost import array_bytes
from xeforge.fusion.cost import expr_flops
from xeforge.fusion.cost import program_cost
from xeforge.fusion.cost import read_bytes
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.fuse import contraction
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.fuse.memory import Walk
from xeforge.fusion.fuse.memory import fetched_ratio
from xeforge.fusion.fuse.memory import walk_of
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

_TILE = 128
"""Edge of a contraction's tile; a prologue is computed again for every tile of the other side."""
_PROGRAM_POINTS = 1024
"""Points that one program of any other kernel takes."""
_SPLIT_DEPTH = 1024
"""Depth that a contraction keeps in one program where the tiles alone are too few."""


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """One kernel by the model.

    Attributes:
        name: Of the group.
        seconds: Without the launch.
        flops: Arithmetic, with what is repeated.
        moved_bytes: Traffic of device memory.
        busy_ratio: Share of the machine that its programs fill, up to 1.
    """

    name: str
    seconds: float
    flops: int
    moved_bytes: int
    busy_ratio: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A plan by the model.

    Attributes:
        groups: In order.
        kernels: How many are launched.
        seconds: With launches.
        bytes_before: Traffic with a kernel for each statement of the program as it was.
        recompute_ratio: Arithmetic over that of the program as it was.
    """

    groups: tuple[GroupEstimate, ...]
    kernels: int
    seconds: float
    bytes_before: int
    recompute_ratio: float

    @property
    def moved_bytes(self) -> int:
        """Traffic of all kernels."""
        return sum(each.moved_bytes for each in self.groups)


class Estimator:
    """Says what the model thinks of plans of one program; equal groups are counted once.

    Args:
        original: The program before any pass: what the ratios compare with.
        machine: Rates and limits.
    """

    def __init__(self, original: Program, machine: Machine) -> None:
        self._before = program_cost(original)
        self._machine = machine
        self._known: dict[int, tuple[Group, GroupEstimate]] = {}

    def estimate(self, plan: Plan) -> Estimate:
        """Return what the model says of a plan, whose groups say what they store."""
        groups = tuple(self._group(each, plan) for each in plan.groups)
        flops = sum(each.flops for each in groups)
        kernels = len(groups) - len(plan.riders)
        busy = sum(each.seconds for each in groups if each.name not in plan.riders)
        return Estimate(
            groups,
            kernels,
            busy + kernels * self._machine.launch_seconds,
            self._before.moved_bytes,
            flops / self._before.flops if self._before.flops else 1.0,
        )

    def _group(self, group: Group, plan: Plan) -> GroupEstimate:
        # By identity: groups that grew alike are the same object, which is kept alive here.
        if id(group) not in self._known:
            arrays = plan.program.arrays_by_name()
            self._known[id(group)] = group, _group_estimate(group, arrays, self._machine)
        return self._known[id(group)][1]


def estimate(plan: Plan, original: Program, machine: Machine) -> Estimate:
    """Return what the model says of one plan of a program."""
    return Estimator(original, machine).estimate(plan)


def _group_estimate(group: Group, arrays: Mapping[str, Array], machine: Machine) -> GroupEstimate:
    vector = sum(_vector_flops(group, stmt) for stmt in group.statements)
    seconds = vector / machine.vector_flops_per_s
    flops = vector
    if group.family == "contraction":
        own = 2 * prod(each.extent for each in group.statements[0].axes)
        seconds += own / matrix_rate(group.statements[0], machine)
        flops += own
    walk = _walk(group, arrays, machine)
    read = _read_bytes(group, arrays, machine, walk)
    written = sum(array_bytes(arrays[name]) for name in group.stored)
    moved = sum(read.values()) + written
    fetched = _fetched_bytes(group, arrays, walk, read) + written
    wanted = 1 if group.family == "contraction" else machine.programs_per_unit
    busy = min(1.0, programs(group, walk) / (machine.units * wanted))
    seconds = max(seconds, fetched / machine.bandwidth_bytes_per_s) / busy
    return GroupEstimate(group.name, seconds, flops, moved, busy)


def lanes(group: Group, arrays: Mapping[str, Array], machine: Machine) -> int:
    """Return how many rows a program of this group takes side by side."""
    walk = _walk(group, arrays, machine)
    return 1 if walk is None else walk.lanes


def _walk(group: Group, arrays: Mapping[str, Array], machine: Machine) -> Walk | None:
    if group.family != "rows" or not machine.walks_down:
        return None
    return walk_of(group, arrays, units=machine.units)


def programs(group: Group, walk: Walk | None = None) -> int:
    """Return how many programs a kernel of this group has at least; large ones count as several."""
    if group.family == "contraction":
        tiles = prod(ceil(group.extent(role) / _TILE) for role in ("m", "n"))
        is_open = not contraction.folded(group)
        deep = ceil(group.extent("k") / _SPLIT_DEPTH) if is_open else 1
        return tiles * group.extent("batch") * deep
    if group.family == "rows":
        if walk is not None:
            return walk.tiles()
        points = group.extent("row") * group.extent("column")
        return min(group.extent("row"), ceil(points / _PROGRAM_POINTS))
    return max(ceil(_points(stmt) / _PROGRAM_POINTS) for stmt in group.statements)


def matrix_rate(root: Stmt, machine: Machine) -> float:
    """Return the rate of a contraction whose factors are of their narrowest dtype."""
    found = {_narrow(each) for each in contraction.factors(root)}
    rates = machine.matrix_flops_per_s
    return min(rates.get(dtype, rates[""]) for dtype in found)


def _narrow(factor: Expr) -> str:
    if isinstance(factor, Call) and factor.function == "cast":
        return dtype_of(factor.args[0])
    return dtype_of(factor)


def _vector_flops(group: Group, stmt: Stmt) -> int:
    """Count arithmetic outside of matrix units."""
    if group.family == "contraction" and stmt is group.statements[0]:
        return sum(_prologue_flops(group, stmt))
    return _points(stmt) * (expr_flops(stmt.body) + (stmt.reduce is not None))


def _prologue_flops(group: Group, root: Stmt) -> Iterator[int]:
    extents = root.extents()
    for factor in contraction.factors(root):
        known = contraction.stmt_axes(root, factor)
        others = [each for role in ("m", "n") for each in group.axes[role]]
        repeats = prod(each.extent for each in others if each.name not in known)
        points = prod(extents[name] for name in known)
        yield points * ceil(repeats / _TILE) * expr_flops(factor)


def _points(stmt: Stmt) -> int:
    return prod(each.extent for each in stmt.axes)


def _read_bytes(
    group: Group, arrays: Mapping[str, Array], machine: Machine, walk: Walk | None
) -> Mapping[tuple[int, str], int]:
    """Count what is read by depth and array; rows that do not fit are read after each fold."""
    is_long = group.family == "rows" and group.extent("column") > machine.most_row_elements
    if walk is not None and walk.lanes > 1:
        is_long = not walk.is_held()
    depth = fold_depths(group) if is_long else dict.fromkeys(group.statements, 0)
    read: dict[tuple[int, str], int] = {}
    given = frozenset(group.given())
    for stmt in group.statements:
        for name, size in read_bytes(stmt, arrays).items():
            if name in given:
                key = depth[stmt], name
                read[key] = max(read.get(key, 0), size)
    return read


def _fetched_bytes(
    group: Group,
    arrays: Mapping[str, Array],
    walk: Walk | None,
    read: Mapping[tuple[int, str], int],
) -> float:
    """Count what memory hands out for these reads: more where a kernel strides through it."""
    if walk is None:
        return sum(read.values())
    ratios: dict[str, float] = {}
    for stmt in group.statements:
        for each in stmt.reads():
            name = each.access.array
            ratio = fetched_ratio(each.access, arrays[name], walk)
            ratios[name] = max(ratio, ratios.get(name, 1.0))
    return sum(size * ratios[name] for (_, name), size in read.items())


def fold_depths(group: Group) -> dict[Stmt, int]:
    """Return how many folds must be done before each statement can start."""
    done: dict[str, int] = {}
    found = {}
    for stmt in group.statements:
        depth = max((done.get(each.access.array, 0) for each in stmt.reads()), default=0)
        found[stmt] = depth
        done[stmt.output.array] = depth + (stmt.reduce is not None)
    return found
