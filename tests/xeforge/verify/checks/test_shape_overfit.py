"""Right on the timed shapes only is not right."""

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.verdict import Reason
from xeforge.verify.checks import incorrect
from xeforge.verify.checks import shape_overfit
from xeforge.verify.inputs import case_key

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def test_wrong_on_ragged_shapes_only_is_overfitting(make):
    context = make.ragged_context(ragged=make.wrong)
    assert incorrect.check(context).passed
    found = shape_overfit.check(context)
    assert found.reason == Reason.SHAPE_OVERFIT
    assert "/ragged/random/M=63" in found.message
    assert "12 of 3,072 wrong" in found.message


def test_wrong_everywhere_is_simply_wrong(make):
    context = make.ragged_context(shown=make.wrong, ragged=make.wrong)
    assert incorrect.check(context).reason == Reason.INCORRECT_OUTPUT
    found = shape_overfit.check(context)
    assert found.passed
    assert found.message.startswith("wrong on other shapes, too")


def test_raising_on_ragged_shapes_is_overfitting(make):
    asked = make.problem()
    audit = make.full_evidence(asked)
    key = next(k for k in make.keys(audit) if "/ragged/" in k)
    raised = make.ran(f"{key}#1", status=CaseStatus.RAISED, message="M % 64", line=3)
    given = make.evidence(make.ran(BASE), raised)
    found = shape_overfit.check(make.context(problem=asked, audit=audit, evidence=given))
    assert (found.reason, found.line) == (Reason.SHAPE_OVERFIT, 3)
    assert "raised: M % 64" in found.message


def test_untimed_workloads_count_as_other_shapes(make):
    asked = make.problem(
        make.workload(), make.workload("ci[0]", inputs=(make.tensor(shape=(5, 7)),), is_timed=False)
    )
    audit = make.full_evidence(asked)

    def change(case):
        is_ci = case_key(case.case).startswith("ci[0]/declared")
        return make.ran(case.case, make.wrong) if is_ci else case

    given = make.full_evidence(asked, purpose="candidate", change=change)
    context = make.context(problem=asked, audit=audit, evidence=given)
    assert incorrect.check(context).passed
    assert shape_overfit.check(context).reason == Reason.SHAPE_OVERFIT
