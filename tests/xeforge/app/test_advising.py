"""The knowledge base advises through the port as `xeforge kb why` says it would."""

from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.load import find_device
from knowledge.packs import load_base
from tests.conformance.advice import EXAMPLES
from tests.conformance.advice import AdviceSuite
from tests.conformance.advice import ids
from tests.conformance.advice import question_about
from xeforge.app.advising import KnowledgeAdvice
from xeforge.app.request import to_problem
from xeforge.domain.advice import LeftOutKind
from xeforge.domain.candidate import Candidate
from xeforge.domain.submission import SourceFile
from xeforge.errors import BadKernel
from xeforge.errors import BadSpec
from xeforge.ports import Advice
from xeforge.ports import Assignment
from xeforge.propose.recipe_apply import RecipeApply
from xeforge.propose.recipes import RECIPES


class TestKnowledgeAdvice(AdviceSuite):
    @pytest.fixture
    def advice(self) -> Advice:
        return KnowledgeAdvice()

    def test_every_kernel_of_the_suite_gets_some(self, advice, question) -> None:
        assert len(advice.advise(question).recipes) > 1

    def test_nothing_is_lost(self, advice, question) -> None:
        answer = advice.advise(question)
        assert len(answer.recipes) + len(answer.left_out) == len(load_base().recipes)

    def test_advice_follows_the_device(self, advice) -> None:
        answer = advice.advise(question_about("matmul_upcast", "intel-b580"))
        assert "intel_xe2.block_loads_by_descriptor" in ids(answer)
        assert not any(each.startswith("nvidia.") for each in ids(answer))

    def test_an_old_triton_holds_advice_back(self) -> None:
        answer = KnowledgeAdvice(triton="3.2").advise(question_about("matmul_upcast"))
        kinds = {each.recipe: each.kind for each in answer.left_out}
        assert kinds["memory.hardware_tile_loads"] is LeftOutKind.VERSION

    def test_what_cannot_be_read_is_said(self, advice) -> None:
        broken = replace(question_about("matmul_upcast"), kernel=SourceFile("k.py", "def ("))
        with pytest.raises(BadKernel, match=r"k\.py"):
            advice.advise(broken)
        with pytest.raises(BadSpec, match="no such folder"):
            KnowledgeAdvice(Path("/nowhere")).advise(question_about("matmul_upcast"))


def test_every_rewrite_names_advice_that_exists() -> None:
    known = load_base().ids
    for recipe in RECIPES:
        assert recipe.CARRIES_OUT, recipe.NAME
        assert set(recipe.CARRIES_OUT) <= known, recipe.NAME


@pytest.mark.parametrize(("variant", "is_left_out"), [("ci", True), ("bench-gpu", False)])
def test_a_rewrite_is_left_out_where_its_advice_is_not_for_the_shapes(variant, is_left_out):
    path = EXAMPLES / "matmul_upcast.py"
    problem = to_problem(
        path,
        spec=path.with_suffix(".yaml"),
        reference=None,
        variants=[variant],
        device="cpu",
        target="intel-b580",
    )
    kernel = problem.kernel.text
    base = Candidate("t0", "t0", "", "user", kernel, "as submitted", {})
    device = find_device("intel-b580")
    batch = RecipeApply().propose(
        Assignment(
            "device_specific",
            problem,
            device,
            base,
            None,
            (),
            (),
            0,
            4,
            0,
            advice=KnowledgeAdvice(),
        )
    )
    assert (batch.proposals == ()) is is_left_out
    if is_left_out:
        (skipped,) = batch.skipped
        assert skipped.change == "group_program_order"
        assert "device.l2_bytes / 4" in skipped.reason
        assert "device.architecture is 'xe2'" in skipped.reason
    else:
        assert [each.recipes for each in batch.proposals] == [("tiles.group_tile_rows",)]
        assert batch.skipped == ()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_on_a_card_our_examples_lose_no_rewrite_and_none_changes_its_place(path):
    problem = to_problem(
        path.with_suffix(".py"),
        spec=path,
        reference=None,
        variants=None,
        device="cpu",
        target="nvidia-h200",
    )
    device = find_device("nvidia-h200")
    base = Candidate("t0", "t0", "", "user", problem.kernel.text, "as submitted", {})
    for stage in ("dtype_fix", "fusion", "memory_access", "device_specific"):
        silent = Assignment(stage, problem, device, base, None, (), (), 0, 9, 0)
        advised = RecipeApply().propose(replace(silent, advice=KnowledgeAdvice()))
        plain = RecipeApply().propose(silent)
        assert [e.source for e in advised.proposals] == [e.source for e in plain.proposals]
        assert advised.skipped == ()
