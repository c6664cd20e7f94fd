"""Let small kernels ride in the launch of a large one, as programs of their own.

To fold a vector takes hardly as long as to launch a kernel for it. Where neither of two kernels
waits for the other, both can run at once.
"""

from collections.abc import Iterator
from dataclasses import replace

from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

MOST_POINTS = 16384
"""Points of a group that is small: what a few programs do in the time of a launch."""


def run(plan: Plan) -> Plan:
    """Return the plan with a carrier for each small group that can have one."""
    for rider in plan.groups:
        if is_small(rider) and not why_no_rider(rider, plan):
            fits = (each for each in plan.groups if not why_no_carrier(each, rider, plan))
            carrier = next(fits, None)
            if carrier is not None:
                plan = replace(plan, riders={**plan.riders, rider.name: carrier.name})
    notes = (f"{rider} rides in the launch of {carrier}" for rider, carrier in plan.riders.items())
    return replace(plan, notes=(*plan.notes, *notes))


def is_small(group: Group) -> bool:
    """Say whether launching a group of rows takes about as long as its work."""
    return group.extent("row") * group.extent("column") <= MOST_POINTS


def why_no_rider(rider: Group, plan: Plan) -> str:
    """Say why a group cannot ride in any launch; empty: it can."""
    if rider.family != "rows":
        return f"{rider.name} has no rows"
    arrays = plan.program.arrays_by_name()
    given = ("input", "parameter")
    computed = [name for name in rider.given() if arrays[name].role not in given]
    return f"{rider.name} waits for {computed[0]}" if computed else ""


def why_no_carrier(carrier: Group, rider: Group, plan: Plan) -> str:
    """Say why a group cannot carry another one; empty: it can."""
    if carrier.family != "rows" or is_small(carrier):
        return f"{carrier.name} is no large group of rows"
    for group in plan.groups:
        is_there = group is carrier or plan.riders.get(group.name) == carrier.name
        if is_there and group is not rider and _touched(group) & _touched(rider):
            return f"{group.name} and {rider.name} share arrays"
    waiting = set(rider.stored)
    for group in plan.groups:
        if waiting & set(group.given()):
            return f"{group.name} reads what {rider.name} writes before {carrier.name} has run"
        if group is carrier:
            return ""
    return f"{carrier.name} is no group of the plan"


def faults(plan: Plan) -> Iterator[str]:
    """Yield what is wrong with the riders of a plan."""
    groups = {each.name: each for each in plan.groups}
    for name, other in plan.riders.items():
        if name not in groups or other not in groups:
            yield f"{name} is to ride with {other}, and one of them is no group"
            continue
        rider, carrier = groups[name], groups[other]
        why = why_no_rider(rider, plan) or why_no_carrier(carrier, rider, plan)
        if why or other in plan.riders:
            yield f"{name} cannot ride with {other}: {why or 'it rides itself'}"


def _touched(group: Group) -> frozenset[str]:
    return frozenset((*group.given(), *group.stored))
