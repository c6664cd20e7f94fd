"""What everybody who advises must do. Subclass `AdviceSuite` and supply `advice`."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.load import load_devices
from xeforge.app.request import to_problem
from xeforge.domain.advice import AdviceQuestion
from xeforge.domain.advice import Advised
from xeforge.domain.advice import LeftOutKind
from xeforge.domain.wins import WinRecord
from xeforge.intake.issues import find_issues
from xeforge.ports import Advice

EXAMPLES = Path(__file__).parents[2] / "examples"
IDENTITY = re.compile(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*")
KERNELS = ("matmul_upcast", "layer_norm", "elementwise_chain")


def question_about(kernel: str, device: str = "nvidia-h200") -> AdviceQuestion:
    """Return a question about one of our examples, as the engine asks it."""
    path = EXAMPLES / f"{kernel}.py"
    spec = path.with_suffix(".yaml")
    problem = to_problem(
        path, spec=spec, reference=None, variants=None, device="cpu", target=device
    )
    model = load_devices()[device]
    issues = find_issues(problem.kernel, problem.reference, vendor=model.vendor)
    return AdviceQuestion(problem.kernel, model, problem.workloads, issues)


def ids(answer: Advised) -> list[str]:
    return [each.id for each in answer.recipes]


class AdviceSuite:
    """Everybody who advises must pass this unchanged."""

    @pytest.fixture
    def advice(self) -> Advice:
        raise AssertionError("a subclass supplies it")

    @pytest.fixture(params=KERNELS)
    def question(self, request) -> AdviceQuestion:
        return question_about(request.param)

    def test_the_same_question_gets_the_same_answer(self, advice, question) -> None:
        assert advice.advise(question) == advice.advise(question)

    def test_the_best_comes_first(self, advice, question) -> None:
        scores = [each.score for each in advice.advise(question).recipes]
        assert scores == sorted(scores, reverse=True)

    def test_each_recipe_is_named_once_either_way(self, advice, question) -> None:
        answer = advice.advise(question)
        names = [*ids(answer), *(each.recipe for each in answer.left_out)]
        assert len(names) == len(set(names))
        assert all(IDENTITY.fullmatch(each) for each in names)

    def test_advice_cures_what_was_found_and_says_why(self, advice, question) -> None:
        found = {each.type for each in question.issues}
        for each in advice.advise(question).recipes:
            assert each.cures
            assert set(each.cures) <= found
            assert each.because
            assert each.id in each.text

    def test_whatever_is_left_out_has_a_reason(self, advice, question) -> None:
        for each in advice.advise(question).left_out:
            assert each.reason
            assert each.kind in LeftOutKind

    def test_without_issues_there_is_no_advice(self, advice, question) -> None:
        assert advice.advise(replace(question, issues=())).recipes == ()

    def test_only_the_stages_asked_for(self, advice, question) -> None:
        stages = frozenset({"memory_access", "device_specific"})
        answer = advice.advise(replace(question, stages=stages))
        assert {each.stage for each in answer.recipes} <= stages
        assert set(ids(answer)) <= set(ids(advice.advise(question)))

    def test_what_is_asked_for_by_name_needs_no_issue(self, advice, question) -> None:
        wanted = frozenset(ids(advice.advise(question))[:2])
        if wanted:
            bare = replace(question, issues=(), stages=frozenset({"discovery"}), only=wanted)
            assert set(ids(advice.advise(bare))) == wanted

    def test_a_budget_takes_from_the_end_and_says_so(self, advice, question) -> None:
        whole = advice.advise(question)
        answer = advice.advise(replace(question, budget_tokens=1))
        assert answer.recipes == ()
        over = {each.recipe for each in answer.left_out if each.kind is LeftOutKind.BUDGET}
        assert set(ids(whole)) <= over

    def test_wins_move_advice_up_and_change_nothing_else(self, advice, question) -> None:
        before = advice.advise(question)
        wins = {each: WinRecord(40, 40) for each in ids(before)[-1:]}
        wins |= {each: WinRecord(40, 0) for each in ids(before)[:-1]}
        after = advice.advise(replace(question, wins=wins))
        assert set(ids(after)) | {e.recipe for e in after.left_out} == (
            set(ids(before)) | {e.recipe for e in before.left_out}
        )
        if len(before.recipes) > 1:
            assert ids(after)[0] == ids(before)[-1]
            assert "won 40 of 40 on nvidia-h200" in after.recipes[0].because
