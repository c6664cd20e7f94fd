from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.xeforge.propose.samples import EVEN
from tests.xeforge.propose.samples import UPCASTS
from tests.xeforge.propose.samples_flat import CHAINS
from xeforge.domain.advice import Advised
from xeforge.domain.advice import AdvisedRecipe
from xeforge.domain.advice import LeftOut
from xeforge.domain.advice import LeftOutKind
from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Skipped
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import rejected
from xeforge.domain.wins import WinRecord
from xeforge.ports import Batch
from xeforge.propose.recipe_apply import RecipeApply
from xeforge.propose.recipes import RECIPES
from xeforge.propose.rewrite import Rewrite

SOURCE = UPCASTS["at the product"].source


def renaming(name, old, new, stage="dtype_fix", recipes=()):
    """A recipe that replaces a word, once."""

    def apply(source, problem, device):
        if old not in source:
            return ()
        return (Rewrite(source.replace(old, new), f"{old} to {new}", 1, recipes),)

    return SimpleNamespace(
        NAME=name, STAGE=stage, CURES=frozenset(), CARRIES_OUT=recipes, apply=apply
    )


ONE = renaming("one", "TM", "ROWS")
TWO = renaming("two", "TN", "COLS")
OTHER = renaming("other", "TK", "DEPTH", stage="fusion")


@pytest.fixture
def problem(make):
    return make.problem(SOURCE, [make.workload(*EVEN)])


def test_each_alone_and_then_together(make, problem):
    found = RecipeApply((ONE, TWO, OTHER)).propose(make.assignment(problem, stage="dtype_fix"))
    found = found.proposals
    assert [each.because for each in found] == [
        "TM to ROWS",
        "TN to COLS",
        "TM to ROWS; TN to COLS",
    ]
    assert found[2].source == SOURCE.replace("TM", "ROWS").replace("TN", "COLS")
    assert all(each.settings == {} for each in found)


def test_stages_see_only_their_recipes(make, problem):
    found = RecipeApply((ONE, TWO, OTHER)).propose(make.assignment(problem, stage="fusion"))
    found = found.proposals
    assert [each.because for each in found] == ["TK to DEPTH"]
    assert RecipeApply((ONE,)).propose(make.assignment(problem, stage="autotuning")) == Batch(())


def test_limit_is_kept_and_the_rest_comes_later(make, problem):
    proposer = RecipeApply((ONE, TWO))
    first = proposer.propose(make.assignment(problem, stage="dtype_fix", limit=2)).proposals
    assert len(first) == 2
    tried = [
        (
            Candidate(f"t{number}", "t0", "dtype_fix", "recipe_apply", each.source, "", {}),
            Trial(f"t{number}", "t0", rejected(Reason.NO_SPEEDUP, "no")),
        )
        for number, each in enumerate(first, start=1)
    ]
    rest = proposer.propose(make.assignment(problem, stage="dtype_fix", tried=tried, limit=2))
    assert [each.because for each in rest.proposals] == ["TM to ROWS; TN to COLS"]


def test_an_accepted_rewrite_is_the_start_of_the_next(make, problem):
    source = SOURCE.replace("TM", "ROWS")
    parent = Candidate("t1", "t0", "dtype_fix", "recipe_apply", source, "", {})
    found = RecipeApply((ONE, TWO)).propose(
        make.assignment(problem, stage="dtype_fix", parent=parent)
    )
    assert [each.source for each in found.proposals] == [source.replace("TN", "COLS")]


def test_registered_recipes_are_files_of_the_folder():
    names = [each.NAME for each in RECIPES]
    assert [each.__name__.rpartition(".")[2] for each in RECIPES] == names
    assert len(set(names)) == len(names)


def test_every_recipe_serves_a_stage_that_asks_for_recipes():
    asking = {"dtype_fix", "fusion", "memory_access", "device_specific"}
    assert {each.STAGE for each in RECIPES} == asking
    assert all(each.CURES for each in RECIPES)


def test_real_recipes_find_their_way(make):
    sample = CHAINS["two kernels"]
    problem = make.problem(sample.source, [make.workload(*sample.timed)])
    (fused,) = RecipeApply().propose(make.assignment(problem, stage="fusion")).proposals
    assert "double_shift_kernel" in fused.source
    assert RecipeApply().propose(make.assignment(problem, stage="dtype_fix")) == Batch(())


class Told:
    """Advises as it is told to, and remembers the questions."""

    def __init__(self, scores, refused=(), kind=LeftOutKind.DOES_NOT_APPLY):
        self.scores, self.refused, self.kind = scores, refused, kind
        self.questions = []

    def advise(self, question):
        self.questions.append(question)
        recipes = tuple(
            AdvisedRecipe(name, "dtype_fix", (), score, "told", name)
            for name, score in sorted(self.scores.items(), key=lambda pair: -pair[1])
        )
        left_out = tuple(LeftOut(each, "does not fit", self.kind) for each in self.refused)
        return Advised(recipes, left_out)


A = renaming("a", "TM", "ROWS", recipes=("x.a",))
B = renaming("b", "TN", "COLS", recipes=("x.b", "x.b2"))
PLAIN = renaming("plain", "TK", "DEPTH")


def proposed(make, problem, recipes, advice, **more):
    assignment = make.assignment(problem, stage="dtype_fix", **more)
    return RecipeApply(recipes).propose(replace(assignment, advice=advice))


def reasons(batch):
    return [each.because for each in batch.proposals]


def test_what_advice_ranks_comes_in_its_order(make, problem):
    alone = ["TM to ROWS", "TN to COLS"]
    for scores, order in (
        ({"x.a": 1.0, "x.b": 2.0}, alone[::-1]),
        ({"x.a": 1.0, "x.b": 0.5, "x.b2": 3.0}, alone[::-1]),
        ({"x.a": 2.0, "x.b": 1.0}, alone),
        ({"x.a": 1.0, "x.b": 1.0}, alone),
        ({"x.b": 5.0}, alone),
        ({}, alone),
    ):
        batch = proposed(make, problem, (A, B), Told(scores))
        assert reasons(batch) == [*order, "TM to ROWS; TN to COLS"]
        assert batch.skipped == ()


def test_where_advice_is_silent_rewrites_keep_their_places(make, problem):
    batch = proposed(make, problem, (A, PLAIN, B), Told({"x.a": 1.0, "x.b": 2.0}))
    assert reasons(batch)[:3] == ["TN to COLS", "TK to DEPTH", "TM to ROWS"]
    plain = make.assignment(problem, stage="dtype_fix")
    without = RecipeApply((A, PLAIN, B)).propose(plain)
    assert {each.source for each in batch.proposals} == {e.source for e in without.proposals}
    # What combines, combines in the order of the registry.
    assert batch.proposals[-1] == without.proposals[-1]


def test_what_does_not_apply_is_left_out_alone_and_together_and_that_is_said(make, problem):
    batch = proposed(make, problem, (A, PLAIN, B), Told({"x.b": 1.0}, refused=("x.a",)))
    assert reasons(batch) == ["TK to DEPTH", "TN to COLS", "TK to DEPTH; TN to COLS"]
    assert batch.skipped == (Skipped("a", ("x.a",), "x.a does not fit"),)


def test_one_advice_that_may_apply_is_enough(make, problem):
    batch = proposed(make, problem, (B,), Told({"x.b": 1.0}, refused=("x.b2",)))
    assert [each.recipes for each in batch.proposals] == [("x.b",)]
    both = proposed(make, problem, (B,), Told({}, refused=("x.b", "x.b2")))
    assert both.proposals == ()
    assert both.skipped == (Skipped("b", ("x.b", "x.b2"), "x.b does not fit; x.b2 does not fit"),)


@pytest.mark.parametrize(
    "kind", sorted(set(LeftOutKind) - {LeftOutKind.DOES_NOT_APPLY, LeftOutKind.VERSION})
)
def test_what_is_not_known_to_be_wrong_is_tried(make, problem, kind):
    batch = proposed(make, problem, (A,), Told({}, refused=("x.a",), kind=kind))
    assert [each.recipes for each in batch.proposals] == [("x.a",)]


def test_proposals_name_the_advice_that_they_carry_out(make, problem):
    batch = proposed(make, problem, (A, PLAIN, B), None)
    assert [each.recipes for each in batch.proposals] == [
        ("x.a",),
        (),
        ("x.b", "x.b2"),
        ("x.a", "x.b", "x.b2"),
    ]


def test_the_question_is_about_the_incumbent_here(make, problem):
    source = SOURCE.replace("TK", "DEPTH")
    parent = Candidate("t1", "t0", "dtype_fix", "recipe_apply", source, "", {})
    advice, wins = Told({}), {"x.a": WinRecord(3, 1)}
    assignment = replace(
        make.assignment(problem, stage="dtype_fix", parent=parent), advice=advice, wins=wins
    )
    RecipeApply((A, B)).propose(assignment)
    (question,) = advice.questions
    assert question.kernel.text == source
    assert question.device is make.device
    assert question.workloads == problem.workloads
    assert question.only == {"x.a", "x.b", "x.b2"}
    assert question.wins == wins


def test_nobody_is_asked_when_there_is_nothing_to_ask(make, problem):
    advice = Told({})
    proposed(make, problem, (PLAIN,), advice)
    proposed(make, problem, (renaming("none", "absent words", "x", recipes=("x.a",)),), advice)
    assert advice.questions == []
