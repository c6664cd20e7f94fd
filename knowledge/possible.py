"""Says whether predicates can be true together at all: tries values where their truth changes."""

from collections.abc import Mapping
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from xeforge.domain.device import Device
from xeforge.verify.gates.facts import SCOPES
from xeforge.verify.gates.facts import Fact
from xeforge.verify.gates.facts import device_facts
from xeforge.verify.gates.predicate import Predicate
from xeforge.verify.gates.predicate import Value

TRY_LIMIT: Final = 20_000
"""Most assignments tried for one question; beyond it the answer is yes: nobody is blamed."""


def can_hold(predicates: Sequence[Predicate], scope: str, device: Device) -> bool:
    """Say whether some launch, kernel or call makes all of them true on a device.

    Facts of the device are as its file says; what it does not know stays unknown. All other facts
    take their samples and every value the predicates mention, with its neighbours.
    """
    known = device_facts(device)
    names = {name for each in predicates for name in each.names}
    given = tuple(sorted((name, known[name]) for name in names & known.keys()))
    return _can_hold(tuple(dict.fromkeys(predicates)), scope, given)


@lru_cache(maxsize=50_000)
def _can_hold(
    predicates: tuple[Predicate, ...], scope: str, given: tuple[tuple[str, Value], ...]
) -> bool:
    """Answer once for all devices that agree in the facts asked for."""
    known = dict(given)
    facts = SCOPES[scope]
    names = {name for each in predicates for name in each.names}
    free = sorted(names - known.keys(), key=lambda name: (len(facts[name].samples), name))
    domains = {name: _domain(facts[name], predicates) for name in free}
    return _search(predicates, known, free, domains, [TRY_LIMIT])


def _domain(fact: Fact, predicates: Sequence[Predicate]) -> tuple[Value, ...]:
    may_be_open = any("known" in each.text for each in predicates)
    found: list[Value] = list(fact.samples)
    if fact.kind == "number":
        for each in predicates:
            for number in sorted(each.numbers):
                found += [number - 1, number, number + 1]
    elif fact.kind == "text":
        for each in predicates:
            found += sorted(each.texts)
    return tuple(dict.fromkeys([*found, None] if may_be_open else found))


def _is_settled(predicate: Predicate, free: Sequence[str]) -> bool:
    """Say whether binding more names cannot change a truth: ``known(...)`` asks for them."""
    return "known" not in predicate.text or not predicate.names & set(free)


def _search(
    predicates: Sequence[Predicate],
    facts: dict[str, Value],
    free: Sequence[str],
    domains: Mapping[str, tuple[Value, ...]],
    tries: list[int],
) -> bool:
    """Bind one name after the other; give up a branch as soon as one predicate is false."""
    tries[0] -= 1
    truths = [each.holds(facts) for each in predicates]
    if any(
        truth is False and _is_settled(p, free) for p, truth in zip(predicates, truths, strict=True)
    ):
        return False
    if all(truths) or tries[0] <= 0:
        return True
    if not free:
        return False
    name, *rest = free
    for value in domains[name]:
        if _search(predicates, {**facts, name: value}, rest, domains, tries):
            return True
    return False
