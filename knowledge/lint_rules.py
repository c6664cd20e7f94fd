"""Checks of what can be true: trials, dead entries, rules and advice that contradict each other."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from itertools import combinations

from knowledge.entries import OPPOSITE
from knowledge.lint_names import Complaint
from knowledge.possible import can_hold
from knowledge.recipes import RECIPE_SCOPE
from knowledge.recipes import KnowledgeBase
from knowledge.recipes import Recipe
from knowledge.recipes import Ruling
from xeforge.domain.device import Device
from xeforge.verify.gates.constraints import predicates_of
from xeforge.verify.gates.facts import device_facts
from xeforge.verify.gates.facts import kinds_of
from xeforge.verify.gates.predicate import Predicate
from xeforge.verify.gates.predicate import read_predicate


def trials(base: KnowledgeBase, devices: Sequence[Device]) -> Iterator[Complaint]:
    """Yield rules that do not hold where they say they do, or do not break where they say so."""
    for ruling in base.rulings:
        when, require = predicates_of(ruling.rule)
        for key, given, wanted in (("holds", ruling.holds, True), ("breaks", ruling.breaks, False)):
            facts = [{**device_facts(each), **given} for each in devices]
            applies = [each for each in facts if when.holds(each) is not False]
            found = [require.holds(each) for each in applies]
            if wanted not in found:
                seen = "it applies on no device" if not applies else f"it gives {found[0]}"
                message = f"{ruling.rule.id} with the facts under {key!r}: {seen}"
                remedy = "correct the predicate or the facts; None: a fact is missing"
                yield "trials", ruling.file, ruling.line, message, remedy


def dead(base: KnowledgeBase, devices: Sequence[Device]) -> Iterator[Complaint]:
    """Yield entries that apply to nothing on any device."""
    remedy = "correct the predicate, or take the entry out"
    seen: dict[tuple[str, str], bool] = {}
    for each in base.recipes:
        if not _lives(each.when, RECIPE_SCOPE, devices, seen):
            message = f"{each.id} can never apply: no device and format makes {each.when!r} true"
            yield "dead", each.file, each.line, message, remedy
    for ruling in base.rulings:
        rule = ruling.rule
        if not _lives(rule.when, rule.scope, devices, seen):
            message = f"{rule.id} can never apply: nothing makes {rule.when!r} true"
            yield "dead", ruling.file, ruling.line, message, remedy


def _lives(
    when: str, scope: str, devices: Sequence[Device], seen: dict[tuple[str, str], bool]
) -> bool:
    if (when, scope) not in seen:
        predicate = read_predicate(when, kinds_of(scope))
        seen[when, scope] = any(can_hold([predicate], scope, each) for each in devices)
    return seen[when, scope]


def contradictions(base: KnowledgeBase, devices: Sequence[Device]) -> Iterator[Complaint]:
    """Yield pairs of rules that apply together on a device and cannot both be kept there."""
    for one, two in combinations([each for each in base.rulings if each.rule.refuses], 2):
        if one.rule.scope != two.rule.scope or not _touch(one, two):
            continue
        whens = [predicates_of(each.rule)[0] for each in (one, two)]
        needs = [predicates_of(each.rule)[1] for each in (one, two)]
        where = _first(whens, [*whens, *needs], one.rule.scope, devices)
        if where is not None:
            message = (
                f"{two.rule.id} and {one.rule.id} ({one.file}:{one.line}) cannot both be kept "
                f"on {where.name}"
            )
            remedy = "one of them is wrong, or its condition is too wide"
            yield "contradictions", two.file, two.line, message, remedy


def _touch(one: Ruling, two: Ruling) -> bool:
    """Say whether two rules require something of the same fact."""
    return bool(predicates_of(one.rule)[1].names & predicates_of(two.rule)[1].names)


def _first(
    whens: list[Predicate], everything: list[Predicate], scope: str, devices: Iterable[Device]
) -> Device | None:
    """Return a device on which both apply at once and no value satisfies both."""
    alone = ([*whens, everything[2]], [*whens, everything[3]])
    for device in devices:
        # A rule that needs a number nobody knows about the device is not judged there.
        if all(can_hold(each, scope, device) for each in alone) and not can_hold(
            everything, scope, device
        ):
            return device
    return None


def silent_reversals(base: KnowledgeBase, devices: Sequence[Device]) -> Iterator[Complaint]:
    """Yield pairs of recipes of which one takes back the other and neither says so."""
    reasons = [*_opposed(base.recipes), *_swapped(base)]
    seen: dict[frozenset[str], bool] = {}
    for one, two, why in reasons:
        if two.id in one.undoes or one.id in two.undoes:
            continue
        whens = frozenset((one.when, two.when))
        if whens not in seen:
            both = [read_predicate(each, kinds_of(RECIPE_SCOPE)) for each in sorted(whens)]
            seen[whens] = any(can_hold(both, RECIPE_SCOPE, each) for each in devices)
        if seen[whens]:
            message = f"{two.id} takes back {one.id} ({one.file}:{one.line}): {why}"
            remedy = "name the other under undoes, or make their conditions exclude each other"
            yield "reversals", two.file, two.line, message, remedy


def _opposed(recipes: Iterable[Recipe]) -> Iterator[tuple[Recipe, Recipe, str]]:
    """Yield every pair that turns one knob in opposite directions."""
    turning: dict[tuple[str, str], list[Recipe]] = {}
    for each in recipes:
        for knob, way in each.turns.items():
            turning.setdefault((knob, way), []).append(each)
    for (knob, way), ones in turning.items():
        if way in ("up", "on"):
            why = f"{knob} goes {way} in one and {OPPOSITE[way]} in the other"
            others = turning.get((knob, OPPOSITE[way]), ())
            yield from ((one, two, why) for one in ones for two in others)


def _swapped(base: KnowledgeBase) -> list[tuple[Recipe, Recipe, str]]:
    """Return recipes whose examples are each other's, turned round."""
    texts: dict[str, tuple[bytes, ...]] = {
        name: (_text(pair.before.read_bytes()), _text(pair.after.read_bytes()))
        for name, pair in base.pairs.items()
    }
    turned: dict[tuple[bytes, ...], str] = {}
    for name, (before, after) in texts.items():
        turned[after, before] = name
    why = "its example is the other's, turned round"
    showing: dict[str, list[Recipe]] = {}
    for each in base.recipes:
        showing.setdefault(each.example, []).append(each)
    return [
        (one, two, why)
        for name, (before, after) in texts.items()
        if name < (other := turned.get((before, after), ""))
        for one in showing.get(name, ())
        for two in showing.get(other, ())
    ]


def _text(data: bytes) -> bytes:
    return b" ".join(data.split())
