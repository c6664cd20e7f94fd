"""Kernels of the fusion compiler go through the real engine like anybody's, and wrong ones fail."""

import ast
from pathlib import Path

import pytest

from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.embedded import drive
from xeforge.app.embedded import open_parts
from xeforge.app.request import Limits
from xeforge.app.request import to_problem
from xeforge.domain.events import Audited
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Proposed
from xeforge.domain.history import History
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.pipeline.certificate import issue
from xeforge.pipeline.compare import GIVEN_ID
from xeforge.pipeline.compare import until_judged
from xeforge.pipeline.compare import with_given

KERNEL = Path(__file__).parent / "kernels" / "shifted_silu.py"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def job():
    """A whole job in which only the fusion compiler has something to say."""
    problem = to_problem(
        KERNEL,
        spec=KERNEL.with_suffix(".yaml"),
        reference=KERNEL.with_name("shifted_silu_pytorch.py"),
        variants=None,
        device="cpu",
        target="nvidia-h200",
        rtol=None,
        atol=None,
        limits=Limits(("algorithmic", "fusion"), None, 2),
    )
    store = MemoryStore(SystemClock())
    store.create("j", problem)
    with open_parts(problem, store) as parts:
        recipes = parts.proposers["recipe_apply"]
        parts.proposers["recipe_apply"] = Silent(recipes.name)
        yield drive("j", parts, lambda _: None, parallel=2), parts


class Silent:
    """A proposer that has nothing, so that another one is heard."""

    def __init__(self, name):
        self.name = name

    def propose(self, _assignment):
        return ()


@pytest.fixture(scope="module")
def fused(job):
    """The first candidate that the compiler made."""
    return job[0].candidates()[0]


def test_a_fused_kernel_wins_by_estimate(job, fused):
    history, _ = job
    assert history.finished is not None
    assert history.finished.outcome is JobOutcome.IMPROVED, history.finished.message
    assert history.finished.winner == fused.id
    assert fused.proposer == "fusion_compiler"
    assert "1 kernel for" in fused.because
    confirmed = history.confirmation(fused.id)
    assert confirmed is not None
    assert confirmed.trial.verdict.grade is Grade.ESTIMATED


def test_the_certificate_says_for_which_inputs_it_is_fast(job, fused):
    history, parts = job
    certificate = issue(history, parts.device, 0.0)
    assert certificate is not None
    assert "by ESTIMATE" in certificate.claim
    assert "specialised to exactly the inputs of bench-gpu[0] (float16 8192x4096)" in (
        certificate.claim
    )
    assert "all others take the path of the kernel it was made from" in certificate.claim


def test_a_stage_without_a_rewrite_says_so(job):
    history, _ = job
    (declined,) = [each for each in history.of(Proposed) if each.stage == "algorithmic"][:1]
    assert declined.declined is not None
    assert "no rewrite" in declined.declined.message


def judged(job, source):
    """Judge a source against the submitted kernel, after the audit of the job."""
    history, parts = job
    end = next(i for i, each in enumerate(history.records) if isinstance(each.event, Audited))
    audited = History("given", history.problem, history.records[: end + 1])
    after = until_judged(with_given(audited, source, parts), parts, lambda _: None)
    return after.trial(GIVEN_ID)


def wrong(source, kernel):
    """Return a file whose fused kernel adds the bias twice."""
    node = next(each for each in ast.parse(source).body if getattr(each, "name", "") == kernel)
    text = ast.get_source_segment(source, node)
    assert text is not None
    changed = text.replace("p_bias.to(tl.float32)", "2 * p_bias.to(tl.float32)")
    assert changed != text
    return text, changed


def kernel_of(source):
    (name,) = (
        each.name
        for each in ast.parse(source).body
        if isinstance(each, ast.FunctionDef)
        and each.name.endswith("_kernel")
        and "fused" in each.name
    )
    return name


def test_a_wrong_fused_kernel_is_found_though_the_kernel_s_own_path_is_right(job, fused):
    text, changed = wrong(fused.source, kernel_of(fused.source))
    trial = judged(job, fused.source.replace(text, changed))
    assert trial.verdict.outcome is Outcome.REJECTED
    assert trial.verdict.reason is Reason.INCORRECT_OUTPUT


def test_a_kernel_that_only_the_timed_shapes_launch_is_not_accepted(job, fused):
    """The interpreter never runs the timed shapes: what they alone launch has shown nothing."""
    kernel = kernel_of(fused.source)
    _, changed = wrong(fused.source, kernel)
    decorated = f"@triton.jit\n{changed.replace(kernel, 'unseen_kernel')}\n\n\n"
    head, host, tail = fused.source.partition("def _fused_bench_gpu_0(")
    planted = head + decorated + host + tail.replace(f"{kernel}[", "unseen_kernel[", 1)
    trial = judged(job, planted)
    assert trial.verdict.outcome is Outcome.UNDECIDED, trial.verdict
    assert "unseen_kernel" in trial.verdict.message
