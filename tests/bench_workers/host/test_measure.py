"""The whole course of a timing run, with the interpreter in place of a device.

The times mean nothing here; order, checks, failures and what is recorded do.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from bench_workers.host.measure import Comparison
from bench_workers.host.measure import Siblings
from bench_workers.host.measure import floor_seconds
from bench_workers.host.oracle import Oracle
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from xeforge.domain.device import Ceilings
from xeforge.domain.problem import Workload
from xeforge.errors import CandidateRaised
from xeforge.errors import OutOfHostResources
from xeforge.errors import PlatformError
from xeforge.ports import TimingPlan

PLAN = TimingPlan(seed=7, min_pairs=4, max_pairs=4, seconds=120.0, control_pairs=2, batches=2)
DEADLINES = Deadlines(load=60.0, case=30.0, oracle=60.0)


@pytest.fixture(scope="module")
def bench(make):
    """An oracle and two children with the baseline; a candidate's child is started on demand."""
    sessions = Sessions("cpu", layer=best_layer(), spares=0)
    job = make.problem("linear", "linear_pytorch", make.tensors((33, 64)), init_args=(64, 48))
    oracle = Oracle(sessions, job, DEADLINES)
    baseline = sessions.start("run", files=[("candidate", job.kernel.text)])
    twin = sessions.start("run", files=[("candidate", job.kernel.text)])

    def compare(source, *, is_baseline=False):
        with closing(sessions.start("run", files=[("candidate", source)])) as child:
            siblings = (
                Siblings(child, twin, twin) if is_baseline else Siblings(baseline, child, twin)
            )
            workload = job.workloads[0]
            comparison = Comparison(
                oracle, siblings, workload, PLAN, DEADLINES, ceilings=None, backend="cpu"
            )
            with ThreadPoolExecutor(1) as driver:
                return comparison.run(driver)()

    yield compare
    for each in (baseline, twin):
        each.close()
    oracle.close()
    sessions.close()


def test_pairs_controls_and_checks_are_recorded(bench, make):
    samples = bench(make.text("linear"))
    assert len(samples.first_seconds) == len(samples.second_seconds) == 4
    assert len(samples.control_first_seconds) == len(samples.control_second_seconds) == 2
    assert min(samples.first_seconds + samples.second_seconds) > 0
    whole = zip(samples.second_seconds, samples.second_host_seconds, strict=True)
    assert all(device <= host for device, host in whole)
    assert samples.outputs_checked >= 2  # one of them from a batch
    assert samples.outputs_wrong == 0
    assert len(samples.first_judge_seconds) == len(samples.second_judge_seconds) == 2
    assert min(samples.first_judge_seconds + samples.second_judge_seconds) > 0
    assert samples.first_call_seconds > 0
    assert samples.second_warm_seconds > 0


def test_outputs_of_timed_calls_are_compared_with_fresh_inputs_and_weights(bench, make):
    keeps_first_answer = (
        make.text("linear")
        .replace(
            "        (m, k), n",
            "        if hasattr(self, 'kept'):\n            return self.kept\n        (m, k), n",
        )
        .replace("        return out", "        self.kept = out\n        return out")
    )
    samples = bench(keeps_first_answer)
    assert samples.outputs_checked == samples.outputs_wrong >= 1


def test_a_copy_of_old_weights_is_noticed(bench, make):
    source = make.text("linear").replace(
        "matmul_kernel[grid](x, self.weight,",
        "self.copy = getattr(self, 'copy', None)\n"
        "        self.copy = self.weight.clone() if self.copy is None else self.copy\n"
        "        matmul_kernel[grid](x, self.copy,",
    )
    samples = bench(source)
    assert samples.outputs_wrong == samples.outputs_checked >= 1


def test_a_library_that_works_only_when_timed_is_noticed(bench, make):
    source = make.text("linear").replace(
        "        (m, k), n",
        "        self.calls = getattr(self, 'calls', 0) + 1\n"
        "        if self.calls > 4:\n"
        "            return torch.nn.functional.linear(x, self.weight)\n"
        "        (m, k), n",
    )
    with pytest.raises(CandidateRaised, match=r"candidate while timed: .*only while timed: aten\."):
        bench(source)


def test_a_side_that_fails_is_named(bench, make):
    source = make.text("linear").replace(
        "        (m, k), n", "        raise ValueError(1)\n        (m, k), n"
    )
    with pytest.raises(CandidateRaised, match="the candidate while timed: ValueError: 1"):
        bench(source)
    assert bench(make.text("linear")).outputs_wrong == 0


def test_a_baseline_that_fails_is_no_fault_of_the_candidate(bench, make):
    source = make.text("linear").replace(
        "        (m, k), n", "        raise ValueError(1)\n        (m, k), n"
    )
    with pytest.raises(OutOfHostResources, match="the baseline side while timed: ValueError: 1"):
        bench(source, is_baseline=True)


def test_interpreted_kernels_are_never_timed(evaluator, make):
    job = make.addition
    with pytest.raises(PlatformError, match="never timed"):
        evaluator.measure(job, job.kernel.text, job.kernel.text, job.workloads, PLAN)


def workload(flops, moved_bytes):
    return Workload("w", "v", (), None, "float16", {}, flops=flops, moved_bytes=moved_bytes)


def test_the_floor_is_the_larger_of_bytes_and_arithmetic():
    ceilings = Ceilings(4e12, {"float16": 8e14})
    assert floor_seconds(workload(8e11, 4e9), ceilings) == pytest.approx(1e-3)
    assert floor_seconds(workload(8e12, 4e9), ceilings) == pytest.approx(1e-2)
    assert floor_seconds(workload(None, 8e9), ceilings) == pytest.approx(2e-3)
    assert floor_seconds(workload(None, None), ceilings) is None
    assert floor_seconds(workload(8e11, 4e9), None) is None
