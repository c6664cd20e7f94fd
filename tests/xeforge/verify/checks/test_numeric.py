"""Values: unwritten, incorrect, imprecise, wrong only elsewhere."""

from math import inf
from math import nan

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.verdict import Reason
from xeforge.verify.checks import incorrect
from xeforge.verify.checks import precision
from xeforge.verify.checks import shape_overfit
from xeforge.verify.checks import unwritten
from xeforge.verify.inputs import case_key

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, case=BASE, **changes):
    return make.context(evidence=make.evidence(make.ran(case, *outputs, **changes)))


def ragged_context(make, *, shown=None, ragged=None):
    """A right candidate on the whole plan, with given outputs on shown or ragged cases."""
    asked = make.problem()
    audit = make.full_evidence(asked)

    def change(case):
        outputs = ragged if case.kind == "ragged" else shown
        return make.ran(case.case, outputs, kind=case.kind) if outputs is not None else case

    given = make.full_evidence(asked, purpose="candidate", change=change)
    return make.context(problem=asked, audit=audit, evidence=given, trusted=make.keys(audit))


def test_right_values_pass_all(make):
    for module in (incorrect, precision, shape_overfit, unwritten):
        assert module.check(make.context()).passed
        assert module.check(ragged_context(make)).passed


def test_wrong_values_are_told_with_place_and_share(make):
    found = incorrect.check(seen(make, make.wrong))
    assert found.reason == Reason.INCORRECT_OUTPUT
    assert "element [3, 17] is 0.5, expected 1.25; 12 of 3,072 wrong (0.39 %)" in found.message
    assert found.numbers == {"wrong": 12, "max_abs_error": 1e-3}


def test_wrong_tile_is_named(make):
    given = make.build(make.report(constants={"BLOCK_M": "2", "BLOCK_N": "16", "K": "x"}))
    found = incorrect.check(
        make.context(build=given, evidence=make.evidence(make.ran(BASE, make.wrong)))
    )
    assert "tile (1, 1) of 2x16" in found.message


def test_autotune_configuration_is_named(make):
    found = incorrect.check(seen(make, make.wrong, message="autotune configuration BLOCK=32"))
    assert "(autotune configuration BLOCK=32)" in found.message


def test_other_wrong_cases_are_counted(make):
    given = make.evidence(make.ran(BASE, make.wrong), make.ran(BASE + "1", make.wrong))
    assert "(and on 1 more cases)" in incorrect.check(make.context(evidence=given)).message


def test_unwritten_elements_are_not_called_wrong(make):
    holes = make.output(unwritten_count=7, wrong_count=7, first_wrong=(0, 1), first_expected=1.0)
    context = seen(make, holes)
    assert incorrect.check(context).passed
    found = unwritten.check(context)
    assert found.reason == Reason.INCORRECT_OUTPUT
    assert "7 elements are never written; element [0, 1] is unknown, expected 1" in found.message


def test_lost_accuracy_is_refused_within_tolerance(make):
    found = precision.check(seen(make, make.output(error=0.01)))
    assert found.reason == Reason.PRECISION_DOWNGRADE
    assert found.numbers["error"] == 0.01
    assert found.numbers["bound"] < 0.01
    assert precision.check(seen(make, make.output(error=4e-4))).passed


def test_worst_loss_is_told(make):
    given = make.evidence(
        make.ran(BASE, make.output(error=0.01)), make.ran(BASE + "1", make.output(error=0.02))
    )
    assert precision.check(make.context(evidence=given)).numbers["error"] == 0.02
    turned = make.evidence(*reversed(given.cases))
    assert precision.check(make.context(evidence=turned)).numbers["error"] == 0.02


def test_loss_that_the_submitted_kernel_has_too_is_allowed(make):
    audit = make.evidence(make.ran(outputs=(make.output(error=0.01),)))
    given = make.evidence(make.ran(BASE, make.output(error=0.011)))
    assert precision.check(make.context(audit=audit, evidence=given)).passed


def test_errors_that_are_no_number_say_nothing(make):
    assert precision.check(seen(make, make.output(error=nan))).passed
    assert precision.check(seen(make, make.output(reference_error=None, error=9.0))).passed
    assert not precision.check(seen(make, make.output(error=inf))).passed


def test_wrong_on_ragged_shapes_only_is_overfitting(make):
    context = ragged_context(make, ragged=make.wrong)
    assert incorrect.check(context).passed
    found = shape_overfit.check(context)
    assert found.reason == Reason.SHAPE_OVERFIT
    assert "/ragged/random/M=63" in found.message
    assert "12 of 3,072 wrong" in found.message


def test_unwritten_on_ragged_shapes_only_is_overfitting(make):
    context = ragged_context(make, ragged=make.output(unwritten_count=2, wrong_count=2))
    assert unwritten.check(context).passed
    assert shape_overfit.check(context).reason == Reason.SHAPE_OVERFIT


def test_wrong_everywhere_is_simply_wrong(make):
    context = ragged_context(make, shown=make.wrong, ragged=make.wrong)
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
