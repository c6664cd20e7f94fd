"""Single steps of the product, driven by hand so that each can be timed apart."""

import math
import re
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import Any
from typing import Self

from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.embedded import open_parts
from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Event
from xeforge.domain.events import Proposed
from xeforge.domain.events import Recorded
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.samples import PairedSamples
from xeforge.domain.spending import Spending
from xeforge.domain.steps import Build
from xeforge.domain.steps import Gate
from xeforge.domain.steps import Judge
from xeforge.domain.steps import Run
from xeforge.domain.steps import Step
from xeforge.pipeline import compare
from xeforge.pipeline.perform import perform

__all__ = ["Bench", "Candidate", "broken", "variants"]

_BLOCKS = (512, 1024, 2048, 4096, 8192)
_WARPS = (4, 8, 16, 2, 32)
_BLOCK = re.compile(r"\b(block|BLOCK)(\s*=\s*)\d+")
_WARP = re.compile(r"\bnum_warps=\d+")
_PLACE = "tl.program_id("


def variants(source: str, count: int) -> list[str]:
    """Return different settings of a kernel file: right ones, some faster, some slower.

    Raises:
        SystemExit: The file has neither a block size nor a number of warps to be set.
    """

    def every() -> Iterator[str]:
        for warps in _WARPS:
            for block in _BLOCKS:
                changed = _BLOCK.sub(rf"\g<1>\g<2>{block}", source)
                yield _WARP.sub(f"num_warps={warps}", changed)

    found = list(islice(dict.fromkeys(every()), count))
    if len(found) < count:
        raise SystemExit(f"the example has only {len(found)} settings of blocks and warps")
    return found


def broken(source: str) -> str:
    """Return a file whose first kernel does not compile."""
    return source.replace(_PLACE, f"tl.there_is_no_such_thing() + {_PLACE}", 1)


@dataclass
class Bench:
    """The parts of one job, with the submitted kernel as the incumbent throughout.

    Attributes:
        problem: What is compared with what.
        history: Facts so far.
    """

    problem: Problem

    def __post_init__(self) -> None:
        self._stack = ExitStack()
        self.history = History("harness", self.problem)

    def __enter__(self) -> Self:
        store = MemoryStore(SystemClock())
        self._parts = self._stack.enter_context(open_parts(self.problem, store))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def audit(self) -> None:
        """Audit the submitted kernel.

        Raises:
            SystemExit: It is wrong, so nothing can be compared with it.
        """
        self.history = compare.audit(self.problem, self._parts, lambda _: None)
        if compare.is_wrong(self.history):
            raise SystemExit("the submitted kernel is wrong")

    def prepare(self, sources: list[str]) -> list[Candidate]:
        """Gate and build all candidates side by side, before anything is timed."""
        candidates = [self._candidate(index, source) for index, source in enumerate(sources, 1)]
        self._record("given", Proposed("", "benchmark", 0, tuple(candidates)))
        with ThreadPoolExecutor(8) as pool:
            built = list(pool.map(lambda each: self._do(Build(each.id)), candidates))
        for candidate, event in zip(candidates, built, strict=True):
            self._perform(Gate(candidate.id))
            self._record(Build(candidate.id).id, event)
        return candidates

    def judge(self, candidate: Candidate) -> dict[str, Any]:
        """Verify, time and judge one candidate; return what it took."""
        started = time.perf_counter()
        self._perform(Run(candidate.id, BASELINE_ID))
        self._perform(Judge(candidate.id))
        seconds = time.perf_counter() - started
        ran, trial = self.history.ran(candidate.id), self.history.trial(candidate.id)
        spent = (ran.spent if ran else None) or Spending(0.0)
        return {
            "seconds": seconds,
            "harness_seconds": spent.harness_seconds,
            "oracle_seconds": spent.oracle_seconds,
            "verdict": trial.verdict.outcome if trial else "",
            "ratio": trial.ratio.estimate if trial and trial.ratio else None,
            "a_a": _control(ran.samples if ran else ()),
            "operations": [
                [each.role, each.operation, each.count, round(each.seconds, 4)]
                for each in spent.operations
            ],
        }

    def failing_build(self, source: str) -> int:
        """Build a source that does not compile; return requests that reached the device.

        Raises:
            SystemExit: It was built all the same.
        """
        candidate = self._candidate(len(self.history.candidates()) + 1, source)
        self._record("failing", Proposed("", "benchmark", 1, (candidate,)))
        self._parts.evaluator.spending()
        self._perform(Build(candidate.id))
        built = self.history.built(candidate.id)
        if built is None or not (built.build.message or any(r.error for r in built.build.reports)):
            raise SystemExit("the source that shall not compile compiles")
        return sum(each.count for each in self._parts.evaluator.spending().operations)

    def repeated(self, candidate: Candidate, times: int) -> dict[str, Any]:
        """Measure one pair again and again with fresh seeds; return the ratios' spread."""
        ratios = []
        for seed in range(times):
            samples = self._parts.evaluator.measure(
                self.problem,
                self.problem.kernel.text,
                candidate.source,
                self.problem.timed,
                replace(self._parts.confirm_timing, seed=1 + seed),
            )
            ratios.append(_geomean([_ratio(each) for each in samples]))
        return {"ratios": ratios, "spread": max(ratios) / min(ratios) - 1}

    def _candidate(self, number: int, source: str) -> Candidate:
        return Candidate(f"t{number}", BASELINE_ID, "", "benchmark", source, "setting", {})

    def _do(self, step: Step) -> Event:
        return perform(self.history, step, self._parts)

    def _perform(self, step: Step) -> None:
        self._record(step.id, self._do(step))

    def _record(self, step: str, event: Event) -> None:
        now = self._parts.clock.now_seconds()
        record = Recorded(len(self.history.records), step, now, event)
        self.history = replace(self.history, records=(*self.history.records, record))


def _ratio(samples: PairedSamples) -> float:
    pairs = zip(samples.first_seconds, samples.second_seconds, strict=True)
    return math.exp(statistics.median(math.log(a / b) for a, b in pairs))


def _control(samples: tuple[PairedSamples, ...]) -> float | None:
    """Return the geometric mean of the A/A ratios; None where nothing was timed."""
    logs = [
        statistics.median(
            math.log(a / b)
            for a, b in zip(each.control_first_seconds, each.control_second_seconds, strict=True)
        )
        for each in samples
        if each.control_first_seconds
    ]
    return math.exp(statistics.fmean(logs)) if logs else None


def _geomean(values: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, values)))
