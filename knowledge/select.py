"""Chooses advice for one kernel: what applies, best evidence first, within a token budget."""

import json
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Final

from knowledge.recipes import RECIPE_SCOPE
from knowledge.recipes import KnowledgeBase
from knowledge.recipes import Recipe
from xeforge.domain.issue import Issue
from xeforge.errors import BadRequest
from xeforge.intake.marks import nearest
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
_PRIOR: Final = 2
"""Wins and losses that every recipe is thought to have had: few trials decide little."""


@dataclass(frozen=True, slots=True)
class Record:
    """How often advice was followed.

    Attributes:
        tried: Times a candidate followed it; won: times the judge then accepted a faster kernel.
    """

    tried: int
    won: int

    @property
    def rate(self) -> float:
        """Expected share of wins; one half where nothing was tried."""
        return (self.won + _PRIOR / 2) / (self.tried + _PRIOR)


@dataclass(frozen=True, slots=True)
class Chosen:
    """One piece of advice that was taken.

    Attributes:
        recipe: The advice.
        score: What it was ranked by.
        because: Which issue it cures and where it applies.
        tokens: What it costs in a prompt.
    """

    recipe: Recipe
    score: float
    because: str
    tokens: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One piece of advice that was not.

    Attributes:
        recipe: Its id.
        reason: Why, in words.
        kind: ``"no issue"``, ``"does not apply"``, ``"not known"``, ``"stage"``, ``"version"``,
            ``"opposed"`` or ``"budget"``.
    """

    recipe: str
    reason: str
    kind: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What to tell a proposer, and what was kept back.

    Attributes:
        chosen: Best first.
        left_out: Everything else, in the order of the packs.
        tokens: Cost of what was chosen.
        budget: What it could have been.
    """

    chosen: tuple[Chosen, ...]
    left_out: tuple[LeftOut, ...]
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Question:
    """For what advice is asked.

    Attributes:
        sites: What is known of the kernel's launches on the device, from `sites_of`.
        issues: What detectors found.
        stages: Only advice of these stages; empty: of all.
        triton: Version in use, such as ``"3.7"``; empty: not known, nothing is held back for it.
        records: Wins and losses by recipe id.
        budget_tokens: Most tokens of advice.
    """

    sites: Sequence[Site]
    issues: Sequence[Issue]
    stages: frozenset[str] = frozenset()
    triton: str = ""
    records: Mapping[str, Record] = field(default_factory=dict)
    budget_tokens: int = BUDGET_TOKENS


def select(base: KnowledgeBase, question: Question) -> Selection:
    """Return the advice that cures what was found and applies, ranked, within the budget."""
    launches = [each for each in question.sites if each.scope == RECIPE_SCOPE]
    found: list[Chosen] = []
    left: list[LeftOut] = []
    for recipe in base.recipes:
        kept_back = _kept_back(recipe, question, launches)
        if kept_back is not None:
            left.append(kept_back)
            continue
        text = render(recipe)
        tokens = tokens_of(text)
        because = _because(recipe, question.issues)
        found.append(Chosen(recipe, _score(recipe, question), because, tokens))
    found.sort(key=lambda each: (-each.score, each.recipe.id))
    return _within(found, left, question.budget_tokens)


def _kept_back(recipe: Recipe, question: Question, launches: Sequence[Site]) -> LeftOut | None:
    """Return why a recipe does not come into question; None: it does."""
    if question.stages and recipe.stage not in question.stages:
        return LeftOut(recipe.id, f"belongs to the stage {recipe.stage}", "stage")
    if not recipe.cures & {each.type for each in question.issues}:
        cures = ", ".join(sorted(recipe.cures))
        return LeftOut(recipe.id, f"none of what it cures was found: {cures}", "no issue")
    if question.triton and _version(recipe.needs_triton) > _version(question.triton):
        reason = f"needs Triton {recipe.needs_triton}, {question.triton} is in use"
        return LeftOut(recipe.id, reason, "version")
    return _inapplicable(recipe, launches)


def _inapplicable(recipe: Recipe, launches: Sequence[Site]) -> LeftOut | None:
    """Return why a recipe does not fit the kernel or the device; None: it fits a launch."""
    if not launches:
        return LeftOut(recipe.id, "no kernel is launched", "does not apply")
    predicate = _read(recipe.when)
    truths = [predicate.holds(each.facts) for each in launches]
    if True in truths:
        return None
    if None in truths:
        missing = ", ".join(predicate.missing(launches[truths.index(None)].facts))
        return LeftOut(recipe.id, f"not known: {missing}", "not known")
    false = predicate.parts(launches[0].facts, wanted=False)
    return LeftOut(recipe.id, f"does not apply: {_told(false, launches[0])}", "does not apply")


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


def _score(recipe: Recipe, question: Question) -> float:
    """Rank by evidence, then by what became of it so far, then by how much it cures."""
    record = question.records.get(recipe.id, Record(0, 0))
    cured = sum(1 for each in {e.type for e in question.issues} if each in recipe.cures)
    evidence = _STRENGTH[recipe.strength] + _EFFECT[recipe.effect.strength]
    return evidence * 2 * record.rate + 0.1 * cured


def _because(recipe: Recipe, issues: Iterable[Issue]) -> str:
    places: dict[str, list[str]] = {}
    for each in issues:
        if each.type in recipe.cures:
            places.setdefault(each.type, []).append(str(each.line) if each.line else "-")
    cured = "; ".join(
        f"{name} (line {', '.join(dict.fromkeys(lines))})" for name, lines in places.items()
    )
    return f"cures {cured}" + (f"; applies because {recipe.when}" if recipe.when else "")


def _within(found: Sequence[Chosen], left: list[LeftOut], budget: int) -> Selection:
    """Take the best that fit; what takes back something better is left out, and said so."""
    taken: list[Chosen] = []
    spent = 0
    for each in found:
        opposed = next((one for one in taken if _oppose(one.recipe, each.recipe)), None)
        if opposed is not None:
            reason = f"takes back {opposed.recipe.id}, which ranks higher"
            left.append(LeftOut(each.recipe.id, reason, "opposed"))
        elif spent + each.tokens > budget:
            reason = f"{each.tokens} tokens more than the budget of {budget} leaves"
            left.append(LeftOut(each.recipe.id, reason, "budget"))
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


def read_records(path: Path, base: KnowledgeBase) -> dict[str, Record]:
    """Read wins and losses: ``{"pack.recipe": {"tried": 3, "won": 1}}``.

    Raises:
        BadRequest: No such file, another form, an unknown recipe, or more wins than trials.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        pairs = {str(k): Record(int(v["tried"]), int(v["won"])) for k, v in data.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        remedy = 'write {"pack.recipe": {"tried": 3, "won": 1}}'
        raise BadRequest(f"no record of wins: {error}", file=path, remedy=remedy) from None
    known = {each.id for each in base.recipes}
    for name, record in pairs.items():
        if name not in known:
            message = f"no recipe is called {name!r}{nearest(name, known)}"
            raise BadRequest(message, file=path, remedy="see `xeforge kb list`")
        if not 0 <= record.won <= record.tried:
            message = f"{name}: {record.won} wins in {record.tried} trials"
            raise BadRequest(message, file=path, remedy="count each win as a trial, too")
    return pairs
