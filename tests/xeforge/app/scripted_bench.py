"""An `Evaluator` without a device: every answer is right, and times are those of a script."""

from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.xeforge.verify.conftest import ran
from tests.xeforge.verify.conftest import samples
from xeforge.domain.case import Case
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.events import Described
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Launch
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import KernelWork
from xeforge.domain.samples import PairedSamples
from xeforge.domain.spending import Spending
from xeforge.ports import TimingPlan

CARD = Card("cuda", 0, "NVIDIA H200", "GPU-1", "580", "2.11", "3.6", 2**37)
PAIRS = 60
NOISE = 0.002


class ScriptedBench:
    """Measures what it is told to.

    Args:
        seconds: Time of one call of a source.
    """

    is_interpreted = False

    def __init__(self, seconds: Callable[[str], float]) -> None:
        self._seconds = seconds
        self._noise = np.random.default_rng(0)

    def describe(self, problem: Problem) -> Described:
        return Described(tuple(each.name for each in problem.timed), ())

    def card(self) -> tuple[Card, Ceilings]:
        return CARD, Ceilings(4e12, {})

    def sandbox(self) -> str:
        return "bubblewrap"

    def examine(self, problem: Problem, source: str, cases: Sequence[Case]) -> Evidence:
        return Evidence(tuple(ran(each.id) for each in cases), launches=(Launch("k", (8,)),))

    def build(
        self,
        problem: Problem,
        source: str,
        workloads: Sequence[Workload],
        also: Sequence[Workload] = (),
    ) -> BuildEvidence:
        return BuildEvidence(
            tuple(BuildReport("k", each.name, {}, 4, 3, 32, 0, 0) for each in workloads)
        )

    def count(
        self, problem: Problem, source: str, workloads: Sequence[Workload]
    ) -> tuple[tuple[KernelWork, ...], ...]:
        raise AssertionError("a bench that measures counts nothing")

    def measure(
        self,
        problem: Problem,
        first: str,
        second: str,
        workloads: Sequence[Workload],
        plan: TimingPlan,
    ) -> tuple[PairedSamples, ...]:
        return tuple(self._samples(first, second, each) for each in workloads)

    def spending(self) -> Spending:
        return Spending(0.0)

    def close(self) -> None:
        return None

    def _samples(self, first: str, second: str, workload: Workload) -> PairedSamples:
        base, new, control = self._times(first), self._times(second), self._times(first)
        made = samples(base, new, (control, self._times(first)))
        return replace(made, workload=workload.name, weight=workload.weight)

    def _times(self, source: str) -> tuple[float, ...]:
        noise = np.exp(self._noise.normal(0, NOISE, PAIRS))
        return tuple(float(each) for each in self._seconds(source) * noise)
