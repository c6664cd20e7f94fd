"""Faults of the submitted kernel are found, weighed and placed before anything is optimized."""

from dataclasses import replace

import pytest

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import MemoryFault
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.verify import audit
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import plan_cases

BLOCKS = {"BLOCK_M": "16", "BLOCK_N": "16"}


@pytest.fixture(scope="module")
def asked(make):
    """A layer with a constructor argument."""
    return make.problem(make.workload(init_args=(0.03,), init_dims=("LEAK",), dims={"LEAK": 0.03}))


@pytest.fixture(scope="module")
def audited(make, asked):
    """Return a function: change the evidence of some cases, audit, give the report."""

    def audited(kind="declared", fill="random", *, static=(), build=None, problem=None, **changes):
        problem = problem or asked
        cases = plan_cases(problem, purpose="audit", interpreted=False, seed=7)
        whole = {k: changes.pop(k) for k in ("launches", "state_mismatch") if k in changes}
        outputs = changes.pop("outputs", None)
        interpreted = changes.pop("interpreted", False)

        def change(case):
            if (case.kind, case.fill) != (kind, fill):
                return case
            return replace(case, outputs=outputs or case.outputs, **changes)

        seen = make.full_evidence(problem, change=change)
        seen = replace(seen, interpreted=interpreted, **whole)
        build = build or make.build(make.report(constants=BLOCKS))
        return audit.findings(problem, cases, seen, build, static)

    return audited


def only(report):
    (issue,) = report.issues
    return issue


def test_what_is_an_error_is_not_told_as_a_warning_too(make, asked):
    cases = plan_cases(asked, purpose="audit", interpreted=False, seed=7)
    wrong = (make.wrong,)
    seen = make.full_evidence(asked, change=lambda case: replace(case, outputs=wrong))
    report = audit.findings(asked, cases, seen, make.build(), ())
    assert [(each.type, each.severity) for each in report.issues] == [
        ("incorrect", Severity.ERROR),
        ("constructor_argument", Severity.ERROR),
    ]
    assert report.trusted_cases == ()


def test_right_kernel_has_no_issues_and_all_cases_are_trusted(asked, audited):
    report = audited()
    assert report.issues == ()
    assert report.unchecked == ()
    planned = plan_cases(asked, purpose="audit", interpreted=False, seed=7)
    expected = {case_key(each.id) for each in planned if each.kind != "argument"}
    assert set(report.trusted_cases) == expected


def test_wrong_values_on_a_workload_are_an_error_with_place(make, audited):
    report = audited(outputs=(make.wrong,))
    issue = only(report)
    assert (issue.type, issue.severity) == ("incorrect", Severity.ERROR)
    assert "element [3, 17] is 0.5, expected 1.25" in issue.message
    assert "tile (0, 1) of 16x16" in issue.message
    assert "tolerance 1e-05 + 0.01 of it" in issue.message
    assert not any("/declared/" in key for key in report.trusted_cases)
    assert any("/ragged/" in key for key in report.trusted_cases)


def test_wrong_values_on_ragged_shapes_are_a_warning_and_not_asked_again(make, audited):
    report = audited("ragged", outputs=(make.wrong,))
    issue = only(report)
    assert issue.severity is Severity.WARNING
    assert "/ragged/" in issue.message
    assert "(and in 2 more cases)" in issue.message
    assert not any("/ragged/" in key for key in report.trusted_cases)
    assert any("/declared/" in key for key in report.trusted_cases)


def test_unwritten_output_is_an_error(make, audited):
    holes = make.output(unwritten_count=40, wrong_count=40, nan_count=40, first_wrong=(0, 5))
    issue = only(audited(outputs=(holes,), message="autotune configuration BLOCK_N=32"))
    assert (issue.type, issue.severity) == ("unwritten", Severity.ERROR)
    assert "40 elements are never written" in issue.message
    assert "(autotune configuration BLOCK_N=32)" in issue.message
    assert "grid" in issue.remedy


def test_nan_for_large_values_is_a_warning_of_its_own(make, audited):
    bad = make.output(nan_count=9, wrong_count=9, first_wrong=(0, 0))
    report = audited("special", "large", outputs=(bad,))
    issue = only(report)
    assert (issue.type, issue.severity) == ("nan", Severity.WARNING)
    assert "9 elements are NaN where the reference has numbers" in issue.message
    assert not any("/large/" in key for key in report.trusted_cases)
    assert any("/zeros/" in key for key in report.trusted_cases)


def test_nan_that_the_reference_has_too_is_no_fault(make, audited):
    assert audited(outputs=(make.output(nan_count=9, expected_nan_count=9),)).issues == ()


def test_ignored_constructor_argument_is_an_error_that_names_it(make, audited):
    report = audited("argument", outputs=(make.wrong,))
    issue = only(report)
    assert (issue.type, issue.severity) == ("constructor_argument", Severity.ERROR)
    assert issue.message.startswith("0:LEAK=0.151: the kernel does not follow")


def test_refusing_another_argument_is_a_warning(audited):
    issue = only(audited("argument", status=CaseStatus.RAISED, message="only 0.03", line=4))
    assert (issue.type, issue.severity, issue.line) == ("ran", Severity.WARNING, 4)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"mutated_inputs": ("X",)}, "mutation"),
        ({"output_count": 2}, "contract"),
        ({"status": CaseStatus.RAISED, "message": "boom"}, "ran"),
        ({"status": CaseStatus.DIED}, "ran"),
        ({"status": CaseStatus.TIMED_OUT}, "ran"),
        ({"memory_faults": (MemoryFault("read", "k", 8, "x_ptr", (0,), 99),)}, "memory_safety"),
        ({"memory_faults": (MemoryFault("write", "k", 8, "y_ptr", (0,), 99),)}, "memory_safety"),
    ],
)
def test_other_faults_on_a_workload_are_errors(audited, changes, name):
    report = audited(**changes)
    assert (only(report).type, only(report).severity) == (name, Severity.ERROR)
    assert not any("/declared/" in key for key in report.trusted_cases)


def test_reads_and_writes_out_of_bounds_are_told_in_one(audited):
    faults = (
        MemoryFault("read", "k", 8, "x_ptr", (0,), 99),
        MemoryFault("write", "k", 9, "y_ptr", (0,), 99),
    )
    issue = only(audited(memory_faults=faults))
    assert "out-of-bounds write" in issue.message
    assert "(and in 1 more case)" in issue.message
    assert issue.line == 9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": (1, 48)}, "has shape [1, 48], expected [64, 48]"),
        ({"dtype": "float32"}, "is float32, expected float16"),
    ],
)
def test_other_shape_or_format_is_an_error(make, audited, changes, words):
    issue = only(audited(outputs=(make.output(**changes),)))
    assert (issue.type, issue.severity) == ("contract", Severity.ERROR)
    assert words in issue.message


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"aliased_outputs": (0,)}, "aliasing"),
        ({"stale_outputs": True}, "stale"),
        ({"differs_between_runs": True}, "determinism"),
    ],
)
def test_habits_are_warnings_and_the_answer_stays_trusted(audited, changes, name):
    report = audited(**changes)
    assert (only(report).type, only(report).severity) == (name, Severity.WARNING)
    assert any("/declared/" in key for key in report.trusted_cases)


def test_other_layout_is_a_warning_only(make, audited):
    report = audited(outputs=(make.output(strides=(1, 64)),))
    assert only(report).severity is Severity.WARNING
    assert any("/declared/" in key for key in report.trusted_cases)


def test_reference_that_differs_between_runs_excuses_the_kernel(audited):
    assert audited(differs_between_runs=True, reference_differs_between_runs=True).issues == ()


def test_unchecked_is_neither_passed_nor_failed(audited):
    report = audited(status=CaseStatus.UNCHECKED, message="bf16 dot")
    assert report.issues == ()
    (text,) = report.unchecked
    assert text == "bench-gpu[0]/declared/random/M=64,N=48: bf16 dot"
    assert not any("/declared/" in key for key in report.trusted_cases)


def test_time_out_in_the_interpreter_says_nothing(audited):
    report = audited(status=CaseStatus.TIMED_OUT, message="60 s", interpreted=True)
    assert report.issues == ()
    assert "too slow for Triton's interpreter (60 s)" in report.unchecked[0]


def test_time_out_beside_a_device_run_says_nothing(make, asked):
    case = make.ran("interpreted/bench-gpu[0]/declared/random/M=64,N=48#1")
    seen = make.evidence(make.ran(), replace(case, status=CaseStatus.TIMED_OUT))
    report = audit.findings(asked, (), seen, make.build(), ())
    assert report.issues == ()
    assert len(report.unchecked) == 1


def test_inputs_the_reference_refuses_are_not_trusted(audited):
    report = audited("ragged", status=CaseStatus.REFERENCE_RAISED, message="odd")
    assert report.issues == report.unchecked == ()
    assert not any("/ragged/" in key for key in report.trusted_cases)
    own = audited(status=CaseStatus.REFERENCE_RAISED, message="odd")
    assert "the reference refuses these inputs (odd)" in own.unchecked[0]


def test_without_reference_only_evident_faults_are_told(make, audited, asked):
    alone = replace(asked, reference=None)
    odd = make.output(wrong_count=9, shape=(1,), dtype="int8")
    assert audited(problem=alone, outputs=(odd,), output_count=3).issues == ()
    nan = only(audited(problem=alone, outputs=(make.output(nan_count=4),)))
    assert (nan.type, nan.severity) == ("nan", Severity.WARNING)
    assert nan.message.endswith("4 elements are NaN")
    holes = make.output(unwritten_count=4)
    assert only(audited(problem=alone, outputs=(holes,))).severity is Severity.ERROR
    assert only(audited(problem=alone, mutated_inputs=("X",))).severity is Severity.ERROR


def test_devices_named_in_the_file_are_told_once(audited):
    issue = only(audited(redirected_devices=("xpu",)))
    assert (issue.type, issue.severity) == ("hard_coded_device", Severity.WARNING)
    assert "the file names the device xpu" in issue.message
    known = Issue("hard_coded_device", Severity.WARNING, "line 9", 9)
    assert audited(redirected_devices=("xpu",), static=(known,)).issues == (known,)


def test_kernel_that_launches_nothing_is_an_error(audited):
    assert only(audited(launches=())).type == "own_kernels"


def test_other_parameters_are_an_error(audited):
    issue = only(audited(state_mismatch="missing: bias"))
    assert (issue.type, issue.severity) == ("state", Severity.ERROR)


def test_static_issues_follow_by_severity(make, audited):
    slow = Issue("small_tiles", Severity.SPEED, "small")
    bad = Issue("unmasked", Severity.ERROR, "bad")
    report = audited(static=(slow, bad), stale_outputs=True)
    assert [each.severity for each in report.issues] == ["error", "warning", "speed"]


def test_launches_that_do_not_compile(make, audited):
    bad = make.report(error="ptxas: too many resources", line=7)
    issue = only(audited(build=make.build(bad)))
    assert (issue.type, issue.severity, issue.line) == ("build", Severity.ERROR, 7)
    assert issue.message == (
        "scale_kernel: 1 of 1 launches do not compile for the target (BLOCK=128, 4 warps): "
        "ptxas: too many resources"
    )
    issue = only(audited(build=make.build(bad, make.report())))
    assert issue.severity is Severity.WARNING
    bare = make.report(error="x", constants={})
    assert "(4 warps)" in only(audited(build=make.build(bare))).message


def test_what_was_not_compiled_is_unchecked(make, audited):
    report = audited(build=make.build(message="no CUDA in host code", skipped=("9 configs",)))
    assert report.unchecked == (
        "not compiled for the target: no CUDA in host code",
        "not compiled for the target: 9 configs",
    )


def test_a_kernel_that_never_ends_on_any_case_is_an_error(make, asked):
    cases = plan_cases(asked, purpose="audit", interpreted=True, seed=0)
    hung = {"status": CaseStatus.TIMED_OUT, "message": "no answer within 15 s", "outputs": ()}
    seen = make.full_evidence(asked, change=lambda case: replace(case, **hung))
    seen = replace(seen, interpreted=True)
    report = audit.findings(asked, cases, seen, make.build(), ())
    (issue,) = [each for each in report.issues if "never ended" in each.message]
    assert issue.severity is Severity.ERROR
    assert "no answer within 15 s" in issue.message
    assert report.trusted_cases == ()


def test_an_answer_right_by_a_wide_tolerance_alone_is_a_warning(make, audited):
    inaccurate = make.output(error=0.3, reference_error=5e-4, wrong_count=0)
    issue = only(audited(outputs=(inaccurate,)))
    assert (issue.type, issue.severity) == ("precision", Severity.WARNING)
    assert "relative error against float64 is 0.3" in issue.message
    assert "within the tolerance only" in issue.message
    assert audited(outputs=(inaccurate,)).trusted_cases
    assert audited(fill="large", outputs=(inaccurate,)).issues == ()
