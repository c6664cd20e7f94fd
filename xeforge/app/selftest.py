"""Proves the bench on this machine with kernels of ours; also called when a worker starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from importlib.resources import files

from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.embedded import open_parts
from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.check import Basis
from xeforge.domain.check import Check
from xeforge.domain.codec import loads
from xeforge.domain.device import Backend
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import PairedSamples
from xeforge.domain.submission import SourceFile
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Reason
from xeforge.pipeline.parts import Parts
from xeforge.ports import TimingPlan
from xeforge.verify import audit
from xeforge.verify import selftest as expected
from xeforge.verify.estimate import estimate
from xeforge.verify.faster import compare
from xeforge.verify.faster import compare_estimates
from xeforge.verify.inputs import is_base
from xeforge.verify.inputs import plan_cases
from xeforge.verify.judge import judge

_FOLDER = "selftest"
_PIECES = 20
_ELEMENTS = _PIECES << 22
"""Far more than any last-level cache, in the launches of equal size that the kernels make."""
_TIMING = TimingPlan(seed=0, min_pairs=60, max_pairs=200, seconds=4.0, control_pairs=40)
_SEED = 20_261


FORMAT = 1


@dataclass(frozen=True, slots=True)
class SelftestResult:
    """What `xeforge bench --selftest --json` prints.

    Attributes:
        format: Version of this layout.
        passed: Whether every check did.
        backend: What the kernels ran on; ``"cpu"``: Triton's interpreter, so nothing was timed.
        target: Device model whose limits applied.
        card: Product name of the unit; empty without one.
        sandbox: Isolation in force.
        checks: In the order they were made.
    """

    format: int
    passed: bool
    backend: str
    target: str
    card: str
    sandbox: str
    checks: tuple[Check, ...]


def try_bench(backend: Backend, target: str, *, allow_unsandboxed: bool) -> SelftestResult:
    """Open the bench of this machine and try it.

    Raises:
        PlatformError: The bench cannot be tried at all, or no sandbox works and that was not
            allowed.
    """
    problem = problem_for(target, backend)
    store = MemoryStore(SystemClock())
    with open_parts(problem, store, allow_unsandboxed=allow_unsandboxed) as parts:
        checks = selftest(parts, problem)
        card = parts.evaluator.card()
        return SelftestResult(
            FORMAT,
            all(each.passed for each in checks),
            backend,
            target,
            card[0].product if card else "",
            parts.evaluator.sandbox(),
            checks,
        )


def conclusion(result: SelftestResult) -> str:
    """Say in two sentences what was shown, and what was not."""
    failed = [each.name for each in result.checks if not each.passed]
    head = f"FAILED: {', '.join(failed)}" if failed else f"all {len(result.checks)} checks passed"
    if any(each.basis is Basis.MEASURED for each in result.checks):
        return f"{head}; times were measured on {result.card}"
    return (
        f"{head}; no device here, so NOTHING WAS TIMED: the judge was tried on times recorded "
        "elsewhere, and the cost model on counted work"
    )


def source(name: str) -> str:
    """Return the text of one of the kernels."""
    return (files("xeforge") / _FOLDER / f"{name}.py").read_text(encoding="utf-8")


def recorded_series(workload: str) -> PairedSamples:
    """Return the A/A run that was recorded elsewhere, under the name of a workload."""
    text = (files("xeforge") / _FOLDER / "series.json").read_text(encoding="utf-8")
    found = loads(PairedSamples, text)
    return replace(
        found,
        workload=workload,
        first_host_seconds=found.first_seconds,
        second_host_seconds=found.second_seconds,
    )


def problem_for(target: str, backend: Backend) -> Problem:
    """Return the question that all the kernels answer, rightly or wrongly."""
    workload = Workload(
        name="selftest[0]",
        variant="selftest",
        inputs=(
            TensorSpec("X", (_ELEMENTS,), "float32", dims=("N",)),
            TensorSpec("MORE", (_ELEMENTS // _PIECES,), "float32", dims=("M",)),
        ),
        init_args=(),
        dtype=None,
        dims={"N": _ELEMENTS, "M": _ELEMENTS // _PIECES},
        rtol=1e-5,
        atol=1e-6,
        moved_bytes=8.0 * _ELEMENTS,
    )
    kernel = SourceFile("twice.py", source("twice"))
    reference = SourceFile("twice_pytorch.py", source("twice_pytorch"))
    return Problem(kernel, reference, (workload,), target, backend)


def selftest(parts: Parts, problem: Problem) -> tuple[Check, ...]:
    """Try the bench behind the parts; every check says what it rests on.

    Args:
        parts: With the evaluator of `problem`'s backend.
        problem: Made by `problem_for`.

    Raises:
        PlatformError: The bench cannot be tried at all.
    """
    bench = _Trials.begin(parts, problem)
    drops = {
        name: bench.trial("twice", bench.right, (samples,))
        for name, samples in expected.clock_drops(recorded_series(problem.timed[0].name)).items()
    }
    speeds = _modelled(bench) if parts.evaluator.is_interpreted else _measured(bench)
    return (
        *speeds,
        *_ran(bench),
        *expected.clock_drop_checks(drops["alike"], drops["uneven"], drops["hot"]),
    )


@dataclass(frozen=True, slots=True)
class _Trials:
    """What the trials of one self-test share.

    Attributes:
        cases: The timed shapes, and a ragged one.
        right: What the right kernel did on them.
        trusted: Keys of those it got right.
    """

    parts: Parts
    problem: Problem
    cases: tuple[Case, ...]
    right: Evidence
    trusted: tuple[str, ...]

    @classmethod
    def begin(cls, parts: Parts, problem: Problem) -> "_Trials":
        cases = _few_cases(problem, interpreted=parts.evaluator.is_interpreted)
        right = parts.evaluator.examine(problem, problem.kernel.text, cases)
        report = audit.findings(problem, cases, right, BuildEvidence(()), ())
        return cls(parts, problem, cases, right, report.trusted_cases)

    def examined(self, name: str) -> Trial:
        """Run one of the kernels and have it judged, untimed."""
        evidence = self.parts.evaluator.examine(self.problem, source(name), self.cases)
        return self.trial(name, evidence, ())

    def trial(self, name: str, evidence: Evidence, samples: tuple[PairedSamples, ...]) -> Trial:
        """Have the real judge decide over evidence and times."""
        return judge(
            problem=self.problem,
            device=self.parts.device,
            candidate=name,
            against="twice",
            gated=(),
            build=None,
            evidence=evidence,
            samples=samples,
            estimates=(),
            incumbent_estimates=(),
            audit=self.right,
            ceilings=None,
            trusted=self.trusted,
        )


def _few_cases(problem: Problem, *, interpreted: bool) -> tuple[Case, ...]:
    """Return one case of the timed shapes and one of ragged ones: the audit asks far more."""
    cases = plan_cases(problem, purpose="audit", interpreted=interpreted, seed=_SEED)
    base = next(each for each in cases if is_base(each.kind))
    ragged = next(each for each in cases if each.kind is CaseKind.RAGGED)
    return base, ragged


def _ran(bench: _Trials) -> tuple[Check, ...]:
    """Run the kernels that must be rejected, and a right one after the one that dies."""
    return (
        expected.right("right_kernel_is_right", bench.trial("twice", bench.right, ())),
        expected.rejected_as(
            "empty_kernel_is_rejected", bench.examined("empty"), Reason.INCORRECT_OUTPUT
        ),
        expected.rejected_as(
            "wrong_kernel_is_rejected", bench.examined("wrong"), Reason.INCORRECT_OUTPUT
        ),
        expected.rejected_as("death_is_rejected", bench.examined("dies"), Reason.NO_RESULT),
        expected.right("death_disturbs_nobody", bench.examined("twice_more")),
    )


def _measured(bench: _Trials) -> tuple[Check, ...]:
    """Time the kernels against each other on the device."""
    plain, more = source("twice"), source("twice_more")
    runs = [_timed(bench, *pair) for pair in ((plain, plain), (plain, more), (more, plain))]
    control, there, back = map(compare, runs)
    return (
        expected.same(control, Basis.MEASURED),
        expected.planted(there, Basis.MEASURED),
        expected.reciprocal(there, back, Basis.MEASURED),
        expected.timed_outputs(runs),
    )


def _timed(bench: _Trials, first: str, second: str) -> PairedSamples:
    problem = bench.problem
    (samples,) = bench.parts.evaluator.measure(problem, first, second, problem.timed, _TIMING)
    return samples


def _modelled(bench: _Trials) -> tuple[Check, ...]:
    """Judge times recorded elsewhere, and have the cost model find the planted work."""
    series = recorded_series(bench.problem.timed[0].name)
    slower = expected.slower_series(series)
    there, back = compare(slower), compare(expected.swapped(slower))
    plain = _estimates(bench, source("twice"))
    more = _estimates(bench, source("twice_more"))
    return (
        expected.same(compare(series), Basis.RECORDED),
        expected.planted(there, Basis.RECORDED),
        expected.reciprocal(there, back, Basis.RECORDED),
        expected.modelled(compare_estimates(plain, plain)[0], truth=1.0, name="model_a_a_is_same"),
        expected.modelled(
            compare_estimates(plain, more)[0],
            truth=1 / expected.PLANTED,
            name="model_finds_planted_work",
        ),
    )


def _estimates(bench: _Trials, text: str) -> Sequence[Estimate]:
    problem = bench.problem
    counted = bench.parts.evaluator.count(problem, text, problem.timed)
    return [
        estimate(bench.parts.device, workload, works)
        for workload, works in zip(problem.timed, counted, strict=True)
    ]
