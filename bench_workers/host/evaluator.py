"""The evaluator: composes oracle, examination, builds, counts and timing into one port."""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextlib import contextmanager
from pathlib import Path

from bench_workers.host import builds
from bench_workers.host import counts
from bench_workers.host.card import card_of
from bench_workers.host.card import ceilings_of
from bench_workers.host.describe import describe
from bench_workers.host.examine import CANDIDATE
from bench_workers.host.examine import Examination
from bench_workers.host.lease import card_lease
from bench_workers.host.ledger import WAITING
from bench_workers.host.measure import Comparison
from bench_workers.host.measure import Siblings
from bench_workers.host.oracle import Oracle
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Session
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.warm import method
from xeforge.domain.case import Case
from xeforge.domain.device import Backend
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.events import Described
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import KernelWork
from xeforge.domain.samples import PairedSamples
from xeforge.domain.spending import Spending
from xeforge.errors import PlatformError
from xeforge.ports import TimingPlan

_KEPT_BASELINES = 1
_BASELINE_CHILDREN = 2
_CHILDREN_OF_A_STEP = 2
"""One is examined, another one is timed."""
_INTERPRETED_ROOM = 2 << 30
_HOST_MEMORY_BYTES = 16 << 30
_DEVICE_SHARE = 0.25
_AMPLE_MEMORY_BYTES = 40 << 30
_CASE_SECONDS = {"cpu": 60.0, "cuda": 30.0, "xpu": 30.0}


def _ahead(backend: Backend) -> int:
    """Return how many warm children to keep: each import takes a processor for some seconds.

    A comparison on a device takes up to four children, and the device waits for them.
    """
    return 1 if backend == "cpu" else min(4, max(1, (os.cpu_count() or 1) // 3))


class BenchEvaluator:
    """Implements `xeforge.ports.Evaluator` with sandboxed children.

    Args:
        device: Model of accelerator that is built for.
        backend: Torch device type that runs candidates; ``"cpu"``: Triton's interpreter does.
        layer: Isolation layer; None: the strongest that works here.
        work_dir: Where children get their private folders and compiled kernels are kept.
        parallel_builds: Builds that may run at once; None: two.
        deadlines: For single requests; None: 60 s a case when interpreted, else 30 s.
        spares: Children kept warm ahead of need.
    """

    def __init__(
        self,
        device: Device,
        backend: Backend,
        *,
        layer: str | None = None,
        work_dir: Path,
        parallel_builds: int | None = None,
        deadlines: Deadlines | None = None,
        spares: int | None = None,
    ) -> None:
        self._device = device
        self._backend = backend
        self._layer = layer or best_layer()
        self._deadlines = deadlines or Deadlines(case=_CASE_SECONDS[backend])
        self._work_dir = work_dir
        self._sessions = Sessions(
            backend,
            layer=self._layer,
            work_directory=work_dir,
            memory_bytes=_HOST_MEMORY_BYTES,
            spares=_ahead(backend) if spares is None else spares,
            builders=_ahead(backend),
        )
        self._oracle: Oracle | None = None
        self._baselines: OrderedDict[str, tuple[Session, Session]] = OrderedDict()
        self._card: tuple[Card, Ceilings] | None = None
        self._lock = threading.RLock()
        self._is_leased = False
        self._builders = threading.BoundedSemaphore(
            parallel_builds or max(1, (os.cpu_count() or 1) // 2)
        )

    @property
    def is_interpreted(self) -> bool:
        """Whether candidates run in Triton's interpreter, so that nothing may be timed."""
        return self._sessions.is_interpreted

    def sandbox(self) -> str:
        """Name the isolation in force, and how children are started in it."""
        return f"{self._layer} ({method(self._layer)})"

    def describe(self, problem: Problem) -> Described:
        """Import kernel and reference, construct both, make inputs; say what was found."""
        with self._leased():
            found = self.card()
            room = int(_DEVICE_SHARE * found[0].memory_bytes) if found else _INTERPRETED_ROOM
            return describe(self._sessions, problem, self._deadlines, room)

    def card(self) -> tuple[Card, Ceilings] | None:
        """Return the unit in use with its measured ceilings; None when interpreted."""
        if self.is_interpreted:
            return None
        with self._leased():
            if self._card is None:
                session = self._sessions.start("run")
                try:
                    self._card = card_of(session.facts), ceilings_of(session)
                finally:
                    session.close()
            return self._card

    def examine(self, problem: Problem, source: str, cases: Sequence[Case]) -> Evidence:
        """Run a source on all cases and compare with the oracle."""
        with self._leased():
            self._sessions.open_ahead(self._opened_ahead())
            examination = Examination(
                self._sessions,
                self._oracle_for(problem),
                source,
                self._deadlines,
                cache=self._cache_of(source),
                all_configurations=source == problem.kernel.text,
            )
            return examination.run(cases)

    def build(
        self,
        problem: Problem,
        source: str,
        workloads: Sequence[Workload],
        also: Sequence[Workload] = (),
    ) -> BuildEvidence:
        """Compile every launch of the workloads ahead of time for the target device."""
        with self._builders:
            return builds.build(
                lambda: self._sessions.compiler("build"),
                problem,
                source,
                workloads,
                self._device,
                also=() if self.is_interpreted else also,
                keep_cache=self._cache_of(source),
            )

    def count(
        self, problem: Problem, source: str, workloads: Sequence[Workload]
    ) -> tuple[tuple[KernelWork, ...], ...]:
        """Count what the launches of each workload do, by interpreting a few programs."""
        with self._builders:
            return counts.count(
                lambda: self._sessions.compiler("count"), problem, source, workloads, self._device
            )

    def measure(
        self,
        problem: Problem,
        first: str,
        second: str,
        workloads: Sequence[Workload],
        plan: TimingPlan,
    ) -> tuple[PairedSamples, ...]:
        """Time two sources alternately on the device, one result per workload.

        Raises:
            PlatformError: Candidates run in the interpreter here, which is never timed.
        """
        if self.is_interpreted:
            raise PlatformError(
                "Triton's interpreter runs the kernels here, and it is never timed",
                remedy="use --device cuda or xpu on a machine that has one",
            )
        ceilings = self._ceilings()
        with self._leased(), ExitStack() as stack:
            with self._sessions.ledger.timing("host", "wait_opened"):
                self._sessions.wait_for_opened()
            oracle = self._oracle_for(problem)
            baseline, twin = self._baseline(first)
            candidate = self._loaded(second)
            stack.callback(self._sessions.retire, candidate)
            stack.callback(self._drop_dead_baselines)
            siblings = Siblings(baseline, candidate, twin)
            # After a failure the kept children hold models and inputs of a run that will not go on.
            undo = stack.enter_context(ExitStack())
            undo.callback(oracle.close)
            undo.callback(self._drop_baselines, 0)
            driver = stack.enter_context(ThreadPoolExecutor(1))
            pending = [
                Comparison(
                    oracle,
                    siblings,
                    workload,
                    plan,
                    self._deadlines,
                    ceilings=ceilings,
                    backend=self._backend,
                ).run(driver)
                for workload in workloads
            ]
            self._sessions.open_ahead(self._opened_ahead())  # nothing is timed any more
            results = tuple(each() for each in pending)
            undo.pop_all()
            self._keep_caches({first: baseline, second: candidate})
            return results

    def _ceilings(self) -> Ceilings | None:
        found = self.card()
        return None if found is None else found[1]

    def spending(self) -> Spending:
        """Return where the seconds of device work went since the last call."""
        return self._sessions.ledger.drain()

    def close(self) -> None:
        """End all children and give the device back."""
        with self._lock:
            if self._oracle is not None:
                self._oracle.close()
                self._oracle = None
            self._drop_baselines(0)
            self._sessions.close()

    @contextmanager
    def _leased(self) -> Iterator[None]:
        """Hold the children, and the card among all processes of this machine."""
        with self._lock:
            if self._is_leased:
                yield
                return
            with ExitStack() as stack:
                with self._sessions.ledger.timing("host", WAITING):
                    stack.enter_context(card_lease(self._backend))
                self._is_leased = True
                try:
                    yield
                finally:
                    self._is_leased = False

    def _opened_ahead(self) -> int:
        """Return how many children shall have an open device: each takes memory of it.

        Those of this step were opened while the last one was examined; those of the next one open
        from the end of one timing to the start of the next, where nothing is timed.
        """
        if self._card is None:
            return 0
        if self._card[0].memory_bytes < _AMPLE_MEMORY_BYTES:
            return 1
        return 2 * _CHILDREN_OF_A_STEP + (0 if self._baselines else _BASELINE_CHILDREN)

    def _oracle_for(self, problem: Problem) -> Oracle:
        if self._oracle is None or not self._oracle.adopt(problem):
            if self._oracle is not None:
                self._oracle.close()
            self._oracle = Oracle(self._sessions, problem, self._deadlines)
        return self._oracle

    def _baseline(self, source: str) -> tuple[Session, Session]:
        """Return two children with the source, kept warm between comparisons."""
        if source not in self._baselines:
            self._drop_baselines(_KEPT_BASELINES - 1)
            one = self._loaded(source)
            try:
                self._baselines[source] = one, self._loaded(source)
            except BaseException:
                one.close()
                raise
        return self._baselines[source]

    def _loaded(self, source: str) -> Session:
        return self._sessions.start(
            "run",
            files=[(CANDIDATE, source)],
            load_seconds=self._deadlines.load,
            cache=self._cache_of(source),
        )

    def _drop_baselines(self, kept: int) -> None:
        while len(self._baselines) > kept:
            _, pair = self._baselines.popitem(last=False)
            for session in pair:
                session.close()

    def _drop_dead_baselines(self) -> None:
        if not all(each.is_alive for pair in self._baselines.values() for each in pair):
            self._drop_baselines(0)

    def _keep_caches(self, holders: dict[str, Session]) -> None:
        for source, session in holders.items():
            if session.is_alive:
                session.keep_cache(self._cache_of(source))

    def _cache_of(self, source: str) -> Path:
        """Return the folder of kernels compiled from a source.

        Keyed by source, so that no candidate can put anything in another's way.
        """
        digest = hashlib.sha256(source.encode()).hexdigest()
        return self._work_dir / "kernels" / digest[:32]
