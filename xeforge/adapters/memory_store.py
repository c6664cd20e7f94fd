"""Jobs in the memory of one process, for tests and the tutorial.

Events go through the codec as in the durable stores, so that what cannot be stored fails here
too and what comes back is what a restarted process would see.
"""

import threading
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from xeforge.adapters.local_worker import IsAlive
from xeforge.adapters.local_worker import is_worker_alive
from xeforge.domain.attempt import Attempt
from xeforge.domain.codec import dumps
from xeforge.domain.codec import loads
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Event
from xeforge.domain.events import Judged
from xeforge.domain.events import Recorded
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.wins import RecipeEffect
from xeforge.domain.wins import WinsByDevice
from xeforge.domain.wins import tallied
from xeforge.errors import BadRequest
from xeforge.errors import LeaseLost
from xeforge.errors import StoreConflict
from xeforge.ports import Clock


@dataclass(slots=True)
class _Job:
    history: History
    tokens: dict[str, int] = field(default_factory=dict)
    leases: dict[str, Attempt] = field(default_factory=dict)
    steps: set[str] = field(default_factory=set)
    effects: dict[str, tuple[RecipeEffect, ...]] = field(default_factory=dict)


class MemoryStore:
    """A `JobStore` that forgets everything with its process."""

    def __init__(self, clock: Clock, *, is_alive: IsAlive = is_worker_alive) -> None:
        self._clock = clock
        self._is_alive = is_alive
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def create(self, job: str, problem: Problem) -> None:
        """Remember a new job."""
        stored = loads(Problem, dumps(problem))
        with self._lock:
            if job in self._jobs:
                raise StoreConflict(f"job {job} exists already")
            self._jobs[job] = _Job(History(job, stored))

    def history(self, job: str) -> History:
        """Return everything recorded about a job."""
        with self._lock:
            return self._find(job).history

    def jobs(self) -> tuple[str, ...]:
        """Return all job ids, newest first."""
        with self._lock:
            return tuple(reversed(self._jobs))

    def lease(self, job: str, step: str, *, worker: str, seconds: float) -> Attempt:
        """Take the right to perform a step."""
        with self._lock:
            entry = self._find(job)
            if step in entry.steps:
                raise StoreConflict(f"step {step} of job {job} is recorded already")
            now = self._clock.now_seconds()
            held = entry.leases.get(step)
            if held is not None and self._is_held(held, now):
                raise LeaseLost(
                    f"step {step} of job {job} is leased to {held.worker}",
                    remedy="wait for the process that works on this job, or end it",
                )
            token = entry.tokens.get(step, 0) + 1
            attempt = Attempt(job, step, token, worker, now + seconds)
            entry.tokens[step] = token
            entry.leases[step] = attempt
            return attempt

    def record(self, attempt: Attempt, event: Event) -> History:
        """Append one event for a leased step and return the history with it."""
        stored = loads(Event, dumps(event))
        with self._lock:
            entry = self._find(attempt.job)
            if attempt.step in entry.steps:
                raise StoreConflict(f"step {attempt.step} of job {attempt.job} is recorded already")
            held = entry.leases.get(attempt.step)
            if held is None or held.token != attempt.token:
                raise LeaseLost(f"the lease on step {attempt.step} of job {attempt.job} is gone")
            records = entry.history.records
            now = self._clock.now_seconds()
            added = Recorded(len(records), attempt.step, now, stored)
            entry.history = replace(entry.history, records=(*records, added))
            entry.steps.add(attempt.step)
            if isinstance(stored, Judged | Confirmed) and stored.effects:
                entry.effects[stored.trial.candidate] = stored.effects
            del entry.leases[attempt.step]
            return entry.history

    def release(self, attempt: Attempt) -> None:
        """Give a lease back without a result; a stale one is ignored."""
        with self._lock:
            entry = self._jobs.get(attempt.job)
            held = None if entry is None else entry.leases.get(attempt.step)
            if entry is not None and held is not None and held.token == attempt.token:
                del entry.leases[attempt.step]

    def wins(self) -> WinsByDevice:
        """Return how often each recipe paid, over all jobs."""
        with self._lock:
            found = [
                (each.device, each.recipe, each.effect, 1)
                for entry in self._jobs.values()
                for effects in entry.effects.values()
                for each in effects
            ]
        return tallied(found)

    def _find(self, job: str) -> _Job:
        try:
            return self._jobs[job]
        except KeyError:
            raise BadRequest(
                f"there is no job {job}",
                remedy="use the id the run printed",
            ) from None

    def _is_held(self, lease: Attempt, now: float) -> bool:
        return now <= lease.expires_at_seconds and self._is_alive(lease.worker) is not False
