"""Chooses among plans of the fusion compiler: what builds for the target, and what is fastest."""

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from itertools import islice
from statistics import median

from xeforge.domain.device import Device
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.verdict import Speed
from xeforge.errors import CandidateError
from xeforge.fusion.driver import Compilation
from xeforge.pipeline.parts import SEARCH_TIMING
from xeforge.ports import Evaluator
from xeforge.verify.checks import build
from xeforge.verify.context import CheckContext
from xeforge.verify.faster import compare

_MOST_BUILDS = 9
"""Files of one plan that are built until one fits."""
_MOST_TIMED = 3
"""Files of one plan that are timed, where there is a device."""
_MOST_PLANS_TIMED = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """The kernels that are handed out.

    Attributes:
        plan: Name of their plan.
        source: Their file.
        passed_over: What is to be said against those that were likely faster.
        timed: How many were timed against each other; 0 where there is no device.
        seconds: Median time of what was chosen; None where nothing was timed.
    """

    plan: str
    source: str
    passed_over: tuple[str, ...]
    timed: int = 0
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class _Fitting:
    """A file that builds for the target, and its name in messages."""

    plan: str
    source: str
    name: str


class PlanChoice:
    """Builds and times plans at the shapes of one workload.

    Args:
        problem: The module's.
        device: Model of accelerator that is compiled for.
        evaluator: Builds on the host; times where it has a device.
        workload: The shapes.
    """

    def __init__(
        self, problem: Problem, device: Device, evaluator: Evaluator, workload: Workload
    ) -> None:
        self._problem = replace(problem, workloads=(workload,))
        self._device = device
        self._evaluator = evaluator
        self._workload = workload
        self._passed_over: list[str] = []

    def choose(self, compilation: Compilation) -> Chosen | None:
        """Return the first file that fits, or on a device the fastest of several; None: none fits.

        Plans and tiles are tried in the order of the model.
        """
        if compilation.language == "c":  # compiled where it is run, when it is loaded
            best = compilation.built[0]
            return Chosen(best.name, best.source, ())
        fitting = self._fitting(compilation)
        if self._evaluator.is_interpreted:
            first = next(fitting, None)
            if first is None:
                return None
            return Chosen(first.plan, first.source, tuple(self._passed_over))
        return self._fastest(list(fitting))

    def _fitting(self, compilation: Compilation) -> Iterator[_Fitting]:
        """Yield files that build, at most a few of each plan."""
        plans = 0
        for built in compilation.built:
            sources = enumerate(islice(built.sources(), _MOST_BUILDS), start=1)
            found = 0
            for number, source in sources:
                complaint = self._fits(source)
                if complaint.passed:
                    found += 1
                    yield _Fitting(built.name, source, f"plan {built.name}, tiles {number}")
                else:
                    self._passed_over.append(f"plan {built.name}: {complaint.message}")
                if found == _MOST_TIMED:
                    break
            plans += found > 0
            if plans == _MOST_PLANS_TIMED:
                return

    def _fits(self, source: str) -> Finding:
        context = CheckContext.of(
            problem=self._problem,
            device=self._device,
            build=self._evaluator.build(self._problem, source, (self._workload,)),
            evidence=None,
            audit=Evidence(()),
            trusted=(),
        )
        return build.check(context)

    def _fastest(self, fitting: Sequence[_Fitting]) -> Chosen | None:
        """Return the winner of a tournament; each must clear the noise of its own comparison."""
        if not fitting:
            return None
        best, *others = fitting
        seconds: float | None = None
        timed = 1
        for other in others:
            try:
                (samples,) = self._evaluator.measure(
                    self._problem, best.source, other.source, (self._workload,), SEARCH_TIMING
                )
            except CandidateError as error:
                self._passed_over.append(f"{other.name}: not timed: {error.message}")
                continue
            timed += 1
            if samples.outputs_wrong:
                self._passed_over.append(f"{other.name}: wrong outputs while timed")
                continue
            found = compare(samples)
            is_faster = found.speed is Speed.FASTER
            loser = best if is_faster else other
            ratio = found.ratio.estimate if is_faster else 1 / found.ratio.estimate
            words = f"takes {ratio:.2f} times as long" if ratio > 1 else "is no faster for sure"
            self._passed_over.append(f"{loser.name}: {words}")
            seconds = median(samples.second_seconds if is_faster else samples.first_seconds)
            best = other if is_faster else best
        counted = timed if timed > 1 else 0
        return Chosen(best.plan, best.source, tuple(self._passed_over), counted, seconds)
