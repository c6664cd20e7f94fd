"""Contract, memory, aliasing, determinism, staleness, state and own kernels."""

import pytest

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import MemoryFault
from xeforge.domain.verdict import Reason
from xeforge.verify.checks import CHECKS
from xeforge.verify.checks import aliasing
from xeforge.verify.checks import contract
from xeforge.verify.checks import determinism
from xeforge.verify.checks import memory_safety
from xeforge.verify.checks import mutation
from xeforge.verify.checks import own_kernels
from xeforge.verify.checks import stale
from xeforge.verify.checks import state

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def audited(make, *outputs, **changes):
    return make.evidence(make.ran("bench-gpu[0]/declared/random/M=64,N=48#1", *outputs, **changes))


def test_honest_candidate_passes_every_check(make):
    assert [name for name, check in CHECKS if not check(make.context()).passed] == []


def test_every_check_reports_under_its_own_name(make):
    assert all(check(make.context()).check == name for name, check in CHECKS)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": (48, 64)}, "output 0 has shape [48, 64], expected [64, 48]"),
        ({"dtype": "float32"}, "output 0 is float32, expected float16"),
        ({"strides": (1, 64)}, "output 0 has strides [1, 64], expected [48, 1]"),
        ({"device": "cpu"}, "output 0 is on cpu, expected cuda:0"),
    ],
)
def test_other_outputs_break_the_contract(make, changes, words):
    found = contract.check(seen(make, make.output(**changes)))
    assert found.reason == Reason.OUTPUT_CONTRACT
    assert words in found.message


def test_other_number_of_outputs_breaks_the_contract(make):
    found = contract.check(seen(make, output_count=2))
    assert "returns 2 outputs, expected 1" in found.message


def test_layout_of_the_submitted_kernel_is_fine_too(make):
    other = make.output(strides=(1, 64))
    assert contract.check(seen(make, other, audit=audited(make, other))).passed


def test_another_card_of_the_same_kind_is_fine(make):
    assert contract.check(seen(make, make.output(device="cuda:1"))).passed


def test_case_without_counterpart_is_held_to_the_reference(make):
    other = make.evidence(make.ran("bench-gpu[0]/declared/random/other#1"))
    given = make.evidence(make.ran(BASE, make.output(device="cpu", strides=(1, 64))))
    context = make.context(evidence=given, audit=other, trusted=frozenset({BASE.partition("#")[0]}))
    assert "strides" in contract.check(context).message
    assert "is on" not in contract.check(context).message


def test_accesses_beyond_a_tensor_are_told(make):
    fault = MemoryFault("write", "scale_kernel", 9, "y_ptr", (24, 0, 0), 6144)
    found = memory_safety.check(seen(make, memory_faults=(fault,)))
    assert (found.reason, found.line) == (Reason.MEMORY_SAFETY, 9)
    assert (
        "out-of-bounds write of y_ptr in scale_kernel: byte 6,144 from its start, program "
        "(24, 0, 0)" in found.message
    )
    assert memory_safety.check(seen(make)).passed


def test_changed_inputs_are_refused(make):
    found = mutation.check(seen(make, mutated_inputs=("X", "G")))
    assert found.reason == Reason.INPUT_MUTATION
    assert "changes its inputs X, G" in found.message


def test_views_of_inputs_are_refused_unless_the_baseline_gives_them(make):
    assert aliasing.check(seen(make, aliased_outputs=(0,))).reason == Reason.OUTPUT_ALIASING
    audit = audited(make, aliased_outputs=(0,))
    assert aliasing.check(seen(make, aliased_outputs=(0,), audit=audit)).passed
    untold = make.context(
        evidence=make.evidence(make.ran(BASE, aliased_outputs=(1,))),
        audit=make.evidence(make.ran(BASE, status=CaseStatus.RAISED)),
    )
    assert aliasing.check(untold).reason == Reason.OUTPUT_ALIASING


def test_new_run_to_run_differences_are_refused(make):
    found = determinism.check(seen(make, differs_between_runs=True))
    assert found.reason == Reason.NONDETERMINISTIC
    reference = seen(make, differs_between_runs=True, reference_differs_between_runs=True)
    assert determinism.check(reference).passed
    audit = audited(make, differs_between_runs=True)
    assert determinism.check(seen(make, differs_between_runs=True, audit=audit)).passed


def test_answers_that_change_later_are_refused(make):
    found = stale.check(seen(make, stale_outputs=True))
    assert found.reason == Reason.STALE_OR_REUSED_RESULT
    audit = audited(make, stale_outputs=True)
    assert stale.check(seen(make, stale_outputs=True, audit=audit)).passed


def test_other_parameters_are_refused(make):
    given = make.evidence(state_mismatch="missing: bias")
    found = state.check(make.context(evidence=given))
    assert found.reason == Reason.OUTPUT_CONTRACT
    assert "missing: bias" in found.message
    assert state.check(make.context(evidence=given, audit=given)).passed


def test_library_work_is_refused(make):
    none = own_kernels.check(make.context(evidence=make.evidence(launches=())))
    assert none.reason == Reason.NO_CUSTOM_KERNEL
    assert none.message == "no Triton kernel was launched"
    calls = make.evidence(library_calls=("aten.mm", "aten.relu"))
    found = own_kernels.check(make.context(evidence=calls))
    assert found.message == "computes outside its kernels: aten.mm, aten.relu"
    assert own_kernels.check(make.context(evidence=calls, audit=calls)).passed


def test_candidate_that_never_ran_is_not_accused_of_having_no_kernel(make):
    raised = make.evidence(make.ran(BASE, status=CaseStatus.RAISED), launches=())
    assert own_kernels.check(make.context(evidence=raised)).passed
    assert own_kernels.check(make.context(evidence=None)).passed
