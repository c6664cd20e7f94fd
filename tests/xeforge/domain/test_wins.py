"""What counts as a win of a recipe, what as a loss, and what not at all."""

import pytest

from xeforge.domain.candidate import Candidate
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Speed
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import rejected
from xeforge.domain.verdict import void
from xeforge.domain.wins import Effect
from xeforge.domain.wins import RecipeEffect
from xeforge.domain.wins import WinRecord
from xeforge.domain.wins import effects_of
from xeforge.domain.wins import effects_of_confirmation
from xeforge.domain.wins import tallied

RECIPES = ("tiles.a", "tiles.b")
CANDIDATE = Candidate("t2", "t0", "fusion", "recipe_apply", "x = 1", "", {}, recipes=RECIPES)


def accepted(grade: Grade) -> Verdict:
    return Verdict(Outcome.ACCEPTED, "1.5x", grade=grade, speed=Speed.FASTER)


def no_speedup(grade: Grade, speed: Speed) -> Verdict:
    reason = Reason.NO_SPEEDUP
    return Verdict(Outcome.REJECTED, "0.9x", reason=reason, grade=grade, speed=speed)


UNDECIDED = Verdict(Outcome.UNDECIDED, "?", grade=Grade.MEASURED, speed=Speed.UNDECIDED)
VOID = void(VoidReason.DEVICE_LOST, "gone")
WRONG = rejected(Reason.INCORRECT_OUTPUT, "element [0] is 1")


@pytest.mark.parametrize(
    ("verdict", "against", "effect"),
    [
        (accepted(Grade.MEASURED), "t0", Effect.WON),
        (accepted(Grade.MEASURED), "t1", Effect.WON),
        (accepted(Grade.ESTIMATED), "t0", Effect.ESTIMATED_FASTER),
        (no_speedup(Grade.MEASURED, Speed.SLOWER), "t0", Effect.LOST),
        (no_speedup(Grade.MEASURED, Speed.SAME), "t0", Effect.LOST),
        (no_speedup(Grade.MEASURED, Speed.SLOWER), "t1", None),
        (no_speedup(Grade.ESTIMATED, Speed.SLOWER), "t0", Effect.ESTIMATED_NO_FASTER),
        (no_speedup(Grade.ESTIMATED, Speed.SLOWER), "t1", None),
        (WRONG, "t0", Effect.LOST),
        (WRONG, "t1", Effect.LOST),
        (rejected(Reason.MEMORY_SAFETY, "out of bounds"), "t0", Effect.LOST),
        (rejected(Reason.RUNTIME_ERROR, "does not compile"), "t0", Effect.LOST),
        (rejected(Reason.TIMEOUT, "slow"), "t0", None),
        (rejected(Reason.COMPILE_BUDGET, "slow"), "t0", None),
        (rejected(Reason.IMPLAUSIBLE_SPEEDUP, "100x"), "t0", None),
        (UNDECIDED, "t0", None),
        (VOID, "t0", None),
    ],
)
def test_each_verdict_counts_as_it_should(verdict, against, effect):
    found = effects_of(CANDIDATE, Trial("t2", against, verdict), "nvidia-h200")
    expected = () if effect is None else RECIPES
    assert found == tuple(RecipeEffect(each, "nvidia-h200", effect) for each in expected)


@pytest.mark.parametrize(
    ("verdict", "effect"),
    [
        (accepted(Grade.MEASURED), None),
        (accepted(Grade.ESTIMATED), None),
        (no_speedup(Grade.MEASURED, Speed.SAME), Effect.LOST),
        (no_speedup(Grade.ESTIMATED, Speed.SAME), Effect.ESTIMATED_NO_FASTER),
        (WRONG, Effect.LOST),
        (UNDECIDED, Effect.NOT_COUNTED),
    ],
)
def test_a_confirmation_that_fails_takes_the_win_back(verdict, effect):
    found = effects_of_confirmation(CANDIDATE, Trial("t2", "t0", verdict), "nvidia-h200")
    expected = () if effect is None else RECIPES
    assert found == tuple(RecipeEffect(each, "nvidia-h200", effect) for each in expected)


def test_a_candidate_without_advice_counts_for_none():
    plain = Candidate("t2", "t0", "fusion", "config_search", "x = 1", "", {})
    trial = Trial("t2", "t0", accepted(Grade.MEASURED))
    assert effects_of(plain, trial, "nvidia-h200") == ()


def test_a_recipe_named_twice_counts_once():
    twice = Candidate("t2", "t0", "f", "r", "x", "", {}, recipes=("tiles.a", "tiles.a"))
    trial = Trial("t2", "t0", accepted(Grade.MEASURED))
    assert len(effects_of(twice, trial, "nvidia-h200")) == 1


def test_trials_are_added_up_by_device_and_recipe():
    counts = [
        ("b", "x.one", Effect.WON, 2),
        ("b", "x.one", Effect.LOST, 3),
        ("a", "x.two", Effect.ESTIMATED_FASTER, 1),
        ("a", "x.two", Effect.ESTIMATED_NO_FASTER, 4),
        ("a", "x.one", Effect.NOT_COUNTED, 9),
        ("b", "x.one", Effect.WON, 1),
    ]
    found = tallied(counts)
    assert found == {"a": {"x.two": WinRecord(0, 0, 5, 1)}, "b": {"x.one": WinRecord(6, 3)}}
    assert list(found) == ["a", "b"]


def test_few_trials_decide_little_and_estimates_nothing():
    assert WinRecord(0, 0).rate == WinRecord(0, 0, 9, 9).rate == 0.5
    assert WinRecord(4, 3).rate == pytest.approx(4 / 6)
    assert WinRecord(1, 1).rate < WinRecord(20, 20).rate < 1
