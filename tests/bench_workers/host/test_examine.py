"""Each kind of fault becomes the evidence that names it, and no fault spoils the next case."""

from dataclasses import replace

import pytest

from xeforge.domain.case import Fill
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Launch
from xeforge.domain.submission import SourceFile


def test_a_right_kernel_agrees_with_the_float64_oracle(examine):
    evidence = examine("vector_add")
    (case,) = evidence.cases
    (output,) = case.outputs
    assert case.status is CaseStatus.RAN
    assert (output.wrong_count, output.unwritten_count, output.nan_count) == (0, 0, 0)
    assert output.dtype == output.expected_dtype == "float32"
    assert output.shape == output.expected_shape == (300,)
    assert output.error < 1e-7
    assert output.reference_error == pytest.approx(output.error)
    assert output.scale > 1.0
    assert evidence.launches == (Launch("add_kernel", (2,)),)
    assert evidence.library_calls == evidence.device_copies == ()
    assert evidence.interpreted
    assert not case.differs_between_runs
    assert not case.stale_outputs
    assert case.memory_faults == ()


def test_weights_come_from_the_reference(examine, make):
    job = make.problem("linear", "linear_pytorch", make.tensors((40, 64)), init_args=(64, 48))
    (output,) = examine("linear", job).cases[0].outputs
    assert output.wrong_count == 0
    assert output.error < 1e-3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_formats_are_compared_with_float64(examine, make, dtype):
    inputs = make.tensors((40, 64), dtype=dtype)
    job = make.problem("linear", "linear_pytorch", inputs, init_args=(64, 48), dtype=dtype)
    (output,) = examine("linear", job).cases[0].outputs
    assert output.dtype == output.expected_dtype == dtype
    assert output.wrong_count == 0
    assert 0 < output.error <= 2 * output.reference_error


def test_large_values_reach_the_kernel(examine, make):
    job = make.problem("softmax", "softmax_pytorch", make.tensors((3, 40)))
    evidence = examine("softmax", job, [make.case(job, fill=Fill.LARGE)])
    (output,) = evidence.cases[0].outputs
    assert (output.wrong_count, output.nan_count) == (0, 0)


def test_unwritten_elements_are_counted(examine):
    (output,) = examine("partly_unwritten").cases[0].outputs
    assert output.unwritten_count == output.wrong_count == 43
    assert output.first_wrong == (3,)


def test_a_read_out_of_bounds_is_placed(examine):
    (fault,) = examine("out_of_bounds").cases[0].memory_faults
    assert (fault.access, fault.kernel, fault.line) == ("read", "add_kernel", 10)
    assert (fault.argument, fault.program, fault.offset_bytes) == ("x_ptr", (1, 0, 0), 1200)


def test_changed_inputs_are_named(examine):
    case = examine("mutates_input").cases[0]
    assert case.mutated_inputs == ("x1",)
    assert case.outputs[0].wrong_count == 0


def test_a_buffer_that_the_next_call_overwrites_is_stale(examine):
    assert examine("stale_buffer").cases[0].stale_outputs


def test_an_output_that_is_an_input_is_aliased(examine):
    assert examine("returns_input").cases[0].aliased_outputs == (0,)


def test_operators_outside_kernels_are_listed(examine):
    evidence = examine("library_call")
    assert evidence.library_calls == ("aten.add",)
    assert evidence.device_copies == ("aten.clone",)


def test_every_autotune_configuration_must_be_right(examine):
    right = examine("autotuned").cases[0]
    assert right.outputs[0].wrong_count == 0
    wrong = examine("autotuned_wrong").cases[0]
    assert wrong.outputs[0].unwritten_count == 108
    assert "BLOCK: 64" in wrong.message


def test_hard_coded_devices_are_redirected_and_named(examine):
    case = examine("hard_coded_device").cases[0]
    assert case.status is CaseStatus.RAN
    assert case.redirected_devices == ("xpu",)
    assert case.outputs[0].wrong_count == 0


def test_what_the_code_raises_is_told_with_its_line(examine):
    case = examine("raises").cases[0]
    assert case.status is CaseStatus.RAISED
    assert case.message == "ValueError: not today"
    assert case.line == 18


def test_a_file_that_cannot_be_imported_raises_in_every_case(evaluator, make):
    cases = [make.case(make.addition), make.case(make.addition, seed=4)]
    evidence = evaluator.examine(make.addition, "import torch\nraise OSError('no')\n", cases)
    assert [each.status for each in evidence.cases] == [CaseStatus.RAISED] * 2
    assert [each.line for each in evidence.cases] == [2, 2]


def submitted(job, make, name):
    """Return the job with a test kernel as the submitted one."""
    return replace(job, kernel=SourceFile(f"{name}.py", make.text(name)))


def test_a_death_of_the_submitted_kernel_costs_only_its_own_case(examine, make):
    job = submitted(make.addition, make, "exits")
    small = make.case(job, inputs=make.tensors((100,), (100,)))
    evidence = examine("exits", job, [make.case(job), small])
    died, ran = evidence.cases
    assert died.status is CaseStatus.DIED
    assert "exit status 0" in died.message
    assert ran.status is CaseStatus.RAN
    assert ran.outputs[0].wrong_count == 0


def test_processes_are_not_restarted_for_ever(examine, make):
    job = submitted(make.addition, make, "exits")
    cases = [make.case(job, seed=seed) for seed in range(6)]
    statuses = [each.status for each in examine("exits", job, cases).cases]
    assert statuses == [CaseStatus.DIED] * 4 + [CaseStatus.UNCHECKED] * 2


def test_one_death_settles_a_candidate(examine, make):
    job = make.addition
    cases = [make.case(job, seed=seed) for seed in range(3)]
    died, *others = examine("exits", job, cases).cases
    assert died.status is CaseStatus.DIED
    assert [each.status for each in others] == [CaseStatus.UNCHECKED] * 2
    assert others[0].message == "not tried: the code ended its process before"


def test_what_a_subclass_shows_is_no_output(examine, make):
    evidence = examine("subclass")
    assert evidence.cases[0].output_count == 0
    assert evidence.cases[0].expected_output_count == 1


def test_outputs_far_larger_than_expected_are_not_looked_at(evaluator, make):
    job = make.addition
    source = make.text("vector_add").replace("return out", "return out.repeat(90_000)")
    assert "repeat" in source
    first, second = (make.case(job, seed=seed) for seed in range(2))
    case, other = evaluator.examine(job, source, [first, second]).cases
    assert case.status is other.status is CaseStatus.RAISED
    assert "do not fit into shared memory within their memory limit of 64 MiB" in case.message


def test_each_case_is_compared_with_its_own_answer(examine, make):
    cases = [make.case(make.addition, seed=seed) for seed in range(5)]
    found = examine("vector_add", make.addition, cases).cases
    assert [each.case for each in found] == [each.id for each in cases]
    assert [each.outputs[0].wrong_count for each in found] == [0] * 5
    scales = {each.outputs[0].scale for each in found}
    assert len(scales) == 5


def test_a_hanging_kernel_is_ended(evaluator, make):
    deadlines = evaluator._deadlines
    evaluator._deadlines = type(deadlines)(load=60.0, case=4.0, oracle=60.0)
    try:
        evidence = evaluator.examine(make.addition, make.text("hangs"), [make.case(make.addition)])
    finally:
        evaluator._deadlines = deadlines
    assert evidence.cases[0].status is CaseStatus.TIMED_OUT


def test_other_weights_than_the_reference_has_are_a_mismatch(evaluator, make):
    job = make.problem("linear", "linear_pytorch", make.tensors((40, 64)), init_args=(64, 48))
    source = make.text("linear").replace("self.weight", "self.matrix")
    evidence = evaluator.examine(job, source, [make.case(job)])
    assert evidence.state_mismatch == "weight is missing; matrix is not in the reference"
    assert evidence.cases[0].status is CaseStatus.UNCHECKED


def test_a_refusing_reference_says_nothing_about_the_kernel(examine, make):
    job = make.problem("vector_add", "vector_add_pytorch", make.tensors((300,), (7,)))
    case = examine("vector_add", job).cases[0]
    assert case.status is CaseStatus.REFERENCE_RAISED
    assert "vector_add_pytorch.py:6" in case.message


def test_without_a_reference_the_submitted_kernel_is_the_oracle(examine, make):
    job = make.problem("vector_add", None, make.tensors((300,), (300,)))
    (output,) = examine("vector_add", job).cases[0].outputs
    assert output.wrong_count == 0
    assert output.reference_error is None
    (output,) = examine("partly_unwritten", job).cases[0].outputs
    assert output.unwritten_count == 43


def test_inputs_may_come_from_the_file(examine, make):
    job = make.problem("vector_add", "vector_add_pytorch", (), from_file=True)
    (output,) = examine("vector_add", job).cases[0].outputs
    assert output.shape == (300,)
    assert output.wrong_count == 0
