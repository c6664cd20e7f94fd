from types import SimpleNamespace

import pytest

from tests.xeforge.propose.samples import EVEN
from tests.xeforge.propose.samples import UPCASTS
from tests.xeforge.propose.samples_flat import CHAINS
from xeforge.domain.candidate import Candidate
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import rejected
from xeforge.propose.recipe_apply import RecipeApply
from xeforge.propose.recipes import RECIPES
from xeforge.propose.rewrite import Rewrite

SOURCE = UPCASTS["at the product"].source


def renaming(name, old, new, stage="dtype_fix"):
    """A recipe that replaces a word, once."""

    def apply(source, problem, device):
        if old not in source:
            return ()
        return (Rewrite(source.replace(old, new), f"{old} to {new}", 1),)

    return SimpleNamespace(NAME=name, STAGE=stage, CURES=frozenset(), apply=apply)


ONE = renaming("one", "TM", "ROWS")
TWO = renaming("two", "TN", "COLS")
OTHER = renaming("other", "TK", "DEPTH", stage="fusion")


@pytest.fixture
def problem(make):
    return make.problem(SOURCE, [make.workload(*EVEN)])


def test_each_alone_and_then_together(make, problem):
    found = RecipeApply((ONE, TWO, OTHER)).propose(make.assignment(problem, stage="dtype_fix"))
    assert [each.because for each in found] == [
        "TM to ROWS",
        "TN to COLS",
        "TM to ROWS; TN to COLS",
    ]
    assert found[2].source == SOURCE.replace("TM", "ROWS").replace("TN", "COLS")
    assert all(each.settings == {} for each in found)


def test_stages_see_only_their_recipes(make, problem):
    found = RecipeApply((ONE, TWO, OTHER)).propose(make.assignment(problem, stage="fusion"))
    assert [each.because for each in found] == ["TK to DEPTH"]
    assert RecipeApply((ONE,)).propose(make.assignment(problem, stage="autotuning")) == ()


def test_limit_is_kept_and_the_rest_comes_later(make, problem):
    proposer = RecipeApply((ONE, TWO))
    first = proposer.propose(make.assignment(problem, stage="dtype_fix", limit=2))
    assert len(first) == 2
    tried = [
        (
            Candidate(f"t{number}", "t0", "dtype_fix", "recipe_apply", each.source, "", {}),
            Trial(f"t{number}", "t0", rejected(Reason.NO_SPEEDUP, "no")),
        )
        for number, each in enumerate(first, start=1)
    ]
    rest = proposer.propose(make.assignment(problem, stage="dtype_fix", tried=tried, limit=2))
    assert [each.because for each in rest] == ["TM to ROWS; TN to COLS"]


def test_an_accepted_rewrite_is_the_start_of_the_next(make, problem):
    source = SOURCE.replace("TM", "ROWS")
    parent = Candidate("t1", "t0", "dtype_fix", "recipe_apply", source, "", {})
    found = RecipeApply((ONE, TWO)).propose(
        make.assignment(problem, stage="dtype_fix", parent=parent)
    )
    assert [each.source for each in found] == [source.replace("TN", "COLS")]


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
    (fused,) = RecipeApply().propose(make.assignment(problem, stage="fusion"))
    assert "double_shift_kernel" in fused.source
    assert RecipeApply().propose(make.assignment(problem, stage="dtype_fix")) == ()
