"""A plan as text: what each kernel does, what it keeps to itself, and what that saves."""

from collections.abc import Iterator
from math import prod

from xeforge.fusion.fuse.estimate import Estimate
from xeforge.fusion.fuse.estimate import GroupEstimate
from xeforge.fusion.ir import Array
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan
from xeforge.fusion.text import stmt_text

_STEP = 1024


def explain(plan: Plan, estimate: Estimate) -> str:
    """Return a page: totals, then each kernel with its axes, statements and arrays.

    Args:
        plan: Any.
        estimate: Of this plan.
    """
    return "\n".join(_lines(plan, estimate)) + "\n"


def _lines(plan: Plan, estimate: Estimate) -> Iterator[str]:
    statements = sum(len(each.statements) for each in plan.groups)
    yield f"{statements} statements in {estimate.kernels} kernels"
    before, after = size_text(estimate.bytes_before), size_text(estimate.moved_bytes)
    yield f"traffic {before} -> {after}, by the model {estimate.seconds * 1e6:.1f} us"
    yield f"arithmetic {estimate.recompute_ratio:.2f} times that of the program"
    arrays = plan.program.arrays_by_name()
    for group, cost in zip(plan.groups, estimate.groups, strict=True):
        yield ""
        yield from _group_lines(group, cost, plan.riders.get(group.name, ""))
        yield from _array_lines(group, {name: arrays[name] for name in _named(group)})
    if plan.notes:
        yield ""
    yield from (f"note: {each}" for each in plan.notes)


def _group_lines(group: Group, cost: GroupEstimate, carrier: str) -> Iterator[str]:
    ride = f", in the launch of {carrier}" if carrier else ""
    yield f"kernel {group.name} ({group.family}){ride}"
    for role, axes in group.axes.items():
        if axes:
            yield f"  {role:<10}{', '.join(f'{each.name} < {each.extent}' for each in axes)}"
    share = f", fills {cost.busy_ratio:.0%} of the machine" if cost.busy_ratio < 1 else ""
    yield f"  {'moves':<10}{size_text(cost.moved_bytes)}, {cost.seconds * 1e6:.1f} us{share}"
    for stmt in group.statements:
        yield from (f"  {line}" for line in stmt_text(stmt).splitlines())


def _array_lines(group: Group, arrays: dict[str, Array]) -> Iterator[str]:
    for title, names in (
        ("reads", group.given()),
        ("stores", group.stored),
        ("keeps", group.local()),
    ):
        if names:
            yield f"  {title:<10}{', '.join(_array_text(arrays[name]) for name in names)}"


def _named(group: Group) -> Iterator[str]:
    yield from group.given()
    yield from (each.output.array for each in group.statements)


def _array_text(array: Array) -> str:
    return f"{array.name} {array.dtype}[{prod(array.shape)}]"


def size_text(count: float) -> str:
    """Return a number of bytes with three digits, in units of 1024."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < _STEP:
            return f"{count:.3g} {unit}"
        count /= _STEP
    return f"{count:.3g} TiB"
