"""The evaluator: composes oracle, examination, builds, counts and timing into one port."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_workers.host.examine import Examination
from bench_workers.host.oracle import Oracle
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from xeforge.domain.case import Case
from xeforge.domain.device import Backend
from xeforge.domain.device import Device
from xeforge.domain.evidence import Evidence
from xeforge.domain.problem import Problem


class BenchEvaluator:
    """Implements `xeforge.ports.Evaluator` with sandboxed children."""

    def __init__(
        self,
        device: Device,
        backend: Backend,
        *,
        layer: str | None = None,
        work_dir: Path,
        parallel_builds: int | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._device = device
        self._layer = layer or best_layer()
        self._deadlines = deadlines or Deadlines(case=60.0 if backend == "cpu" else 30.0)
        self._sessions = Sessions(backend, layer=self._layer, work_directory=work_dir)
        self._oracle: Oracle | None = None
        self._lock = threading.RLock()

    @property
    def is_interpreted(self) -> bool:
        return self._sessions.is_interpreted

    def examine(self, problem: Problem, source: str, cases: Sequence[Case]) -> Evidence:
        with self._lock:
            examination = Examination(
                self._sessions,
                self._oracle_for(problem),
                source,
                self._deadlines,
                all_configurations=source == problem.kernel.text,
            )
            return examination.run(cases)

    def _oracle_for(self, problem: Problem) -> Oracle:
        if self._oracle is None or self._oracle.problem != problem:
            if self._oracle is not None:
                self._oracle.close()
            self._oracle = Oracle(self._sessions, problem, self._deadlines)
        return self._oracle

    def close(self) -> None:
        with self._lock:
            if self._oracle is not None:
                self._oracle.close()
            self._sessions.close()
