"""Whether advice paid: what became of candidates that carried out a recipe of the knowledge base.

A win is a *measured* verdict FASTER. A loss is a wrong candidate, or one that was measured and
found no faster than its own parent. What a cost model says is kept apart and decides nothing. Not
counted are undecided and void trials, claims that the judge did not believe, deadlines (they say
more about the machine than about the advice), and a want of speed against another candidate than
the parent: a rewrite may be good and yet lose against a better one that was accepted meanwhile.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from xeforge.domain.candidate import Candidate
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Verdict

_PRIOR = 2
"""Wins and losses, half and half, that every recipe is thought to have had: few decide little."""
_TELLS_NOTHING = frozenset({Reason.IMPLAUSIBLE_SPEEDUP, Reason.TIMEOUT, Reason.COMPILE_BUDGET})


class Effect(StrEnum):
    """What following a recipe brought in one trial."""

    WON = "won"
    """Measured to be faster than its parent."""
    LOST = "lost"
    """Wrong, or measured to be no faster than its parent."""
    ESTIMATED_FASTER = "estimated_faster"
    """Right, and faster than its parent by the cost model; no win."""
    ESTIMATED_NO_FASTER = "estimated_no_faster"
    """Right, and no faster than its parent by the cost model; no loss."""
    NOT_COUNTED = "not_counted"
    """Says nothing about the recipe; takes back what the same trial said before."""


@dataclass(frozen=True, slots=True)
class RecipeEffect:
    """What one trial says about one recipe.

    Attributes:
        recipe: ``pack.recipe``.
        device: Name of the device model.
        effect: What it brought.
    """

    recipe: str
    device: str
    effect: Effect


@dataclass(frozen=True, slots=True)
class WinRecord:
    """How often a recipe was followed on one device model, and how often that paid.

    Attributes:
        tried: Trials that were won or lost.
        won: Of these, won.
        estimated: Further trials that only a cost model compared.
        estimated_faster: Of these, faster by its word.
    """

    tried: int
    won: int
    estimated: int = 0
    estimated_faster: int = 0

    @property
    def rate(self) -> float:
        """Expected share of wins; one half where nothing was tried, estimates left out."""
        return (self.won + _PRIOR / 2) / (self.tried + _PRIOR)


WinsByDevice = Mapping[str, Mapping[str, WinRecord]]
"""Records by device model, then by recipe."""


def effects_of(candidate: Candidate, trial: Trial, device: str) -> tuple[RecipeEffect, ...]:
    """Return what a verdict says about the recipes that a candidate carried out."""
    effect = _effect(trial.verdict, is_against_parent=trial.against == candidate.parent)
    return () if effect is Effect.NOT_COUNTED else _for_each(candidate, device, effect)


def effects_of_confirmation(
    candidate: Candidate, trial: Trial, device: str
) -> tuple[RecipeEffect, ...]:
    """Return what the confirmation of a winner changes about its trial; nothing if it holds."""
    if trial.verdict.outcome is Outcome.ACCEPTED:
        return ()
    return _for_each(candidate, device, _effect(trial.verdict, is_against_parent=True))


def _for_each(candidate: Candidate, device: str, effect: Effect) -> tuple[RecipeEffect, ...]:
    return tuple(RecipeEffect(each, device, effect) for each in dict.fromkeys(candidate.recipes))


def _effect(verdict: Verdict, *, is_against_parent: bool) -> Effect:
    is_measured = verdict.grade is Grade.MEASURED
    if verdict.outcome is Outcome.ACCEPTED:
        # The incumbent is at least as fast as the parent: what beats it beats the parent, too.
        return Effect.WON if is_measured else Effect.ESTIMATED_FASTER
    if verdict.outcome is not Outcome.REJECTED or verdict.reason in _TELLS_NOTHING:
        return Effect.NOT_COUNTED
    if verdict.reason is not Reason.NO_SPEEDUP:
        return Effect.LOST
    if not is_against_parent:
        return Effect.NOT_COUNTED
    return Effect.LOST if is_measured else Effect.ESTIMATED_NO_FASTER


def tallied(counts: Iterable[tuple[str, str, Effect, int]]) -> WinsByDevice:
    """Add up trials; devices and recipes come in alphabetical order.

    Args:
        counts: Device, recipe, effect, number of trials.
    """
    sums: dict[tuple[str, str], dict[Effect, int]] = {}
    for device, recipe, effect, number in counts:
        if effect is not Effect.NOT_COUNTED:
            of_recipe = sums.setdefault((device, recipe), dict.fromkeys(Effect, 0))
            of_recipe[effect] += number
    found: dict[str, dict[str, WinRecord]] = {}
    for device, recipe in sorted(sums):
        each = sums[device, recipe]
        faster, no_faster = each[Effect.ESTIMATED_FASTER], each[Effect.ESTIMATED_NO_FASTER]
        found.setdefault(device, {})[recipe] = WinRecord(
            each[Effect.WON] + each[Effect.LOST], each[Effect.WON], faster + no_faster, faster
        )
    return found
