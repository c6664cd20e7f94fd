"""Chooses advice for one kernel: what applies, best evidence first, within a token budget."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import lru_cache
from typing import Final

from knowledge.recipes import RECIPE_SCOPE
from knowledge.recipes import Effect
from knowledge.recipes import KnowledgeBase
from knowledge.recipes import Recipe
from xeforge.domain.advice import LeftOut
from xeforge.domain.advice import LeftOutKind
from xeforge.domain.issue import Issue
from xeforge.domain.wins import WinRecord
from xeforge.verify.gates.facts import kinds_of
from xeforge.verify.gates.predicate import Predicate
from xeforge.verify.gates.predicate import read_predicate
from xeforge.verify.gates.sites import Site

BUDGET_TOKENS: Final = 2000
"""What a prompt spares for advice unless it is told otherwise."""
CHARACTERS_PER_TOKEN: Final = 4
"""A cautious guess for English text and code; the budget is counted in it."""
_STRENGTH: Final = {"measured": 3.0, "documented": 2.0, "claimed": 1.0}
_EFFECT: Final = {"measured": 1.0, "published": 0.5, "expected": 0.0}
_LOSS_BELOW: Final = 0.98
"""Ratios nearer to 1 are no difference that would last."""
_MEASURED_LOSS: Final = -0.5
_UNTRIED: Final = WinRecord(0, 0)


@dataclass(frozen=True, slots=True)
class Chosen:
    """One piece of advice that was taken.

    Attributes:
        recipe: The advice.
        score: What it was ranked by.
        because: Which issue it cures, where it applies, how often it paid.
        tokens: What it costs in a prompt.
    """

    recipe: Recipe
    score: float
    because: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Selection:
    """What to tell a proposer, and what was kept back.

    Attributes:
        chosen: Best first.
        left_out: Everything else, in the order of the packs.
        tokens: Cost of what was chosen.
        budget: What it could have been; None: no limit.
    """

    chosen: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class Question:
    """For what advice is asked.

    Attributes:
        sites: What is known of the kernel's launches on the device, from `sites_of`.
        issues: What detectors found.
        stages: Only advice of these stages; empty: of all.
        only: Only these recipes, of whatever stage and whatever was found; empty: all that cure
            what was found.
        triton: Version in use, such as ``"3.7"``; empty: not known, nothing is held back for it.
        records: Wins and losses on the device by recipe id.
        budget_tokens: Most tokens of advice; None: no limit.
    """

    sites: Sequence[Site]
    issues: Sequence[Issue]
    stages: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    triton: str = ""
    records: Mapping[str, WinRecord] = field(default_factory=dict)
    budget_tokens: int | None = BUDGET_TOKENS


def select(base: KnowledgeBase, question: Question) -> Selection:
    """Return the advice that cures what was found and applies, ranked, within the budget."""
    launches = [each for each in question.sites if each.scope == RECIPE_SCOPE]
    found: list[Chosen] = []
    left: list[LeftOut] = []
    for recipe in base.recipes:
        if question.only and recipe.id not in question.only:
            continue
        kept_back = _kept_back(recipe, question, launches)
        if kept_back is not None:
            left.append(kept_back)
            continue
        text = render(recipe)
        tokens = tokens_of(text)
        because = _because(recipe, question, launches[0])
        found.append(Chosen(recipe, _score(recipe, question), because, tokens))
    found.sort(key=lambda each: (-each.score, each.recipe.id))
    return _within(found, left, question.budget_tokens)


def _kept_back(recipe: Recipe, question: Question, launches: Sequence[Site]) -> LeftOut | None:
    """Return why a recipe does not come into question; None: it does."""
    if not question.only:
        unasked = _unasked(recipe, question)
        if unasked is not None:
            return unasked
    if question.triton and _version(recipe.needs_triton) > _version(question.triton):
        reason = f"needs Triton {recipe.needs_triton}, {question.triton} is in use"
        return LeftOut(recipe.id, reason, LeftOutKind.VERSION)
    return _inapplicable(recipe, launches)


def _unasked(recipe: Recipe, question: Question) -> LeftOut | None:
    """Return why a recipe is for another stage or another fault; None: it is not."""
    if question.stages and recipe.stage not in question.stages:
        return LeftOut(recipe.id, f"belongs to the stage {recipe.stage}", LeftOutKind.STAGE)
    if not recipe.cures & {each.type for each in question.issues}:
        cures = ", ".join(sorted(recipe.cures))
        reason = f"none of what it cures was found: {cures}"
        return LeftOut(recipe.id, reason, LeftOutKind.NO_ISSUE)
    return None


def _inapplicable(recipe: Recipe, launches: Sequence[Site]) -> LeftOut | None:
    """Return why a recipe does not fit the kernel or the device; None: it fits a launch."""
    if not launches:
        return LeftOut(recipe.id, "no kernel is launched", LeftOutKind.DOES_NOT_APPLY)
    predicate = _read(recipe.when)
    truths = [predicate.holds(each.facts) for each in launches]
    if True in truths:
        return None
    if None in truths:
        missing = ", ".join(predicate.missing(launches[truths.index(None)].facts))
        return LeftOut(recipe.id, f"not known: {missing}", LeftOutKind.NOT_KNOWN)
    false = predicate.parts(launches[0].facts, wanted=False)
    reason = f"does not apply: {_told(false, launches[0])}"
    return LeftOut(recipe.id, reason, LeftOutKind.DOES_NOT_APPLY)


def _told(terms: Sequence[str], site: Site) -> str:
    """Add to a false term what the facts are."""
    names = sorted(name for term in terms for name in _names(term))
    told = ", ".join(f"{name} is {site.facts[name]!r}" for name in dict.fromkeys(names))
    return f"{' and '.join(terms)} ({told})" if told else " and ".join(terms)


def _names(term: str) -> frozenset[str]:
    return read_predicate(term, kinds_of(RECIPE_SCOPE)).names


@lru_cache(maxsize=20_000)
def _read(when: str) -> Predicate:
    return read_predicate(when, kinds_of(RECIPE_SCOPE))


def effect_value(effect: Effect) -> float:
    """Return what is known of an effect as a number; less than nothing where it was a loss."""
    if effect.strength == "measured" and effect.ratio is not None and effect.ratio < _LOSS_BELOW:
        return _MEASURED_LOSS
    return _EFFECT[effect.strength]


def _score(recipe: Recipe, question: Question) -> float:
    """Rank by evidence times what became of it so far, then by how much it cures."""
    record = question.records.get(recipe.id, _UNTRIED)
    cured = sum(1 for each in {e.type for e in question.issues} if each in recipe.cures)
    evidence = _STRENGTH[recipe.strength] + effect_value(recipe.effect)
    return evidence * 2 * record.rate + 0.1 * cured


def _because(recipe: Recipe, question: Question, launch: Site) -> str:
    places: dict[str, list[str]] = {}
    for each in question.issues:
        if each.type in recipe.cures:
            places.setdefault(each.type, []).append(str(each.line) if each.line else "-")
    cured = "; ".join(
        f"{name} (line {', '.join(dict.fromkeys(lines))})" for name, lines in places.items()
    )
    parts = [
        f"cures {cured}" if cured else "asked for by name",
        f"applies because {recipe.when}" if recipe.when else "",
        paid(question.records.get(recipe.id, _UNTRIED), str(launch.facts["device.name"])),
    ]
    return "; ".join(filter(None, parts))


def paid(record: WinRecord, device: str) -> str:
    """Say how often a recipe paid on a device; empty where nobody has tried."""
    measured = f"won {record.won} of {record.tried} on {device}" if record.tried else ""
    guessed = (
        f"faster by estimate in {record.estimated_faster} of {record.estimated} on {device}, "
        "which counts for nothing"
        if record.estimated
        else ""
    )
    return "; ".join(filter(None, (measured, guessed)))


def _within(found: Sequence[Chosen], left: list[LeftOut], budget: int | None) -> Selection:
    """Take the best that fit; what takes back something better is left out, and said so."""
    taken: list[Chosen] = []
    spent = 0
    for each in found:
        opposed = next((one for one in taken if _oppose(one.recipe, each.recipe)), None)
        if opposed is not None:
            reason = f"takes back {opposed.recipe.id}, which ranks higher"
            left.append(LeftOut(each.recipe.id, reason, LeftOutKind.OPPOSED))
        elif budget is not None and spent + each.tokens > budget:
            reason = f"{each.tokens} tokens more than the budget of {budget} leaves"
            left.append(LeftOut(each.recipe.id, reason, LeftOutKind.BUDGET))
        else:
            taken.append(each)
            spent += each.tokens
    return Selection(tuple(taken), tuple(left), spent, budget)


def _oppose(one: Recipe, two: Recipe) -> bool:
    return two.id in one.undoes or one.id in two.undoes


def render(recipe: Recipe) -> str:
    """Return a recipe as a prompt or a person reads it."""
    effect = recipe.effect
    known = "; ".join(each.partition(" <")[0] for each in recipe.evidence)
    figure = f" ({effect.ratio:g}x on {effect.device})" if effect.ratio else ""
    return (
        f"[{recipe.id}] {recipe.says}\n"
        f"  Effect, {effect.strength}: {effect.expect}{figure}\n"
        f"  Hurts: {recipe.hurts}\n"
        f"  Known from ({recipe.strength}): {known}"
    )


def tokens_of(text: str) -> int:
    """Estimate what a text costs a language model."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
