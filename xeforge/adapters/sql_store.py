"""Jobs, events and leases in an SQL database: a file of this machine unless told otherwise.

Compare-and-set lives here: every change happens in one write transaction that first locks the
job's row, so of two processes that record the same step exactly one succeeds.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import BindParameter
from sqlalchemy import Connection
from sqlalchemy import Engine
from sqlalchemy import and_
from sqlalchemy import bindparam
from sqlalchemy import delete
from sqlalchemy import func
from sqlalchemy import insert
from sqlalchemy import select
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from xeforge.adapters.local_worker import IsAlive
from xeforge.adapters.local_worker import is_worker_alive
from xeforge.adapters.schema import EVENTS
from xeforge.adapters.schema import JOBS
from xeforge.adapters.schema import LEASES
from xeforge.adapters.schema import RECIPE_EFFECTS
from xeforge.adapters.schema import prepare_tables
from xeforge.adapters.sql_engine import WRITES
from xeforge.adapters.sql_engine import let_readers_go_on
from xeforge.adapters.sql_engine import open_engine
from xeforge.adapters.sql_errors import translated
from xeforge.domain.attempt import Attempt
from xeforge.domain.codec import dumps
from xeforge.domain.codec import loads
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Event
from xeforge.domain.events import Judged
from xeforge.domain.events import Recorded
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.wins import Effect
from xeforge.domain.wins import WinsByDevice
from xeforge.domain.wins import tallied
from xeforge.errors import BadRequest
from xeforge.errors import LeaseLost
from xeforge.errors import StoreConflict
from xeforge.ports import Clock

_CACHED_JOBS = 16

# Made once: building a statement costs more than running it.
_JOB: BindParameter[str] = bindparam("job_")
_STEP: BindParameter[str] = bindparam("step_")
_THIS_LEASE = and_(LEASES.c.job == _JOB, LEASES.c.step == _STEP)
_FIND_PROBLEM = select(JOBS.c.problem).where(JOBS.c.job == _JOB)
_LOCK_JOB = select(JOBS.c.number).where(JOBS.c.job == _JOB).with_for_update()
_NEWEST_JOBS = select(JOBS.c.job).order_by(JOBS.c.number.desc())
_FIND_STEP = select(EVENTS.c.sequence).where(EVENTS.c.job == _JOB, EVENTS.c.step == _STEP)
_LAST_SEQUENCE = select(func.max(EVENTS.c.sequence)).where(EVENTS.c.job == _JOB)
_NEW_EVENTS = (
    select(EVENTS.c.sequence, EVENTS.c.step, EVENTS.c.at_seconds, EVENTS.c.body)
    .where(EVENTS.c.job == _JOB, EVENTS.c.sequence >= bindparam("from_"))
    .order_by(EVENTS.c.sequence)
)
_FIND_LEASE = select(LEASES.c.token, LEASES.c.worker, LEASES.c.expires_at_seconds).where(
    _THIS_LEASE
)
_RENEW_LEASE = update(LEASES).where(_THIS_LEASE)
_RELEASE = (
    update(LEASES).where(_THIS_LEASE, LEASES.c.token == bindparam("token_")).values(worker=None)
)
_DROP_LEASE = delete(LEASES).where(_THIS_LEASE)
_DROP_EFFECTS = delete(RECIPE_EFFECTS).where(
    RECIPE_EFFECTS.c.job == _JOB, RECIPE_EFFECTS.c.candidate == bindparam("candidate_")
)
_EFFECT_KEY = (RECIPE_EFFECTS.c.device, RECIPE_EFFECTS.c.recipe, RECIPE_EFFECTS.c.effect)
_COUNT_EFFECTS = select(*_EFFECT_KEY, func.count()).group_by(*_EFFECT_KEY)


@dataclass(frozen=True, slots=True)
class _Lease:
    """The newest lease of a step; no worker once it was given back."""

    token: int
    worker: str | None
    expires_at_seconds: float


class SqlStore:
    """A durable `JobStore`, safe for use from several threads and processes.

    Events are never changed once recorded, so decoded ones are kept and a read decodes only what
    is new.

    Args:
        place: Path of an SQLite file, made when missing, or a database address with ``://``.
        clock: Decides when a lease has expired.
        is_alive: Tells whether the process of a worker lives; a lease whose worker has verifiably
            ended counts as expired.

    Raises:
        BadRequest: The file cannot be opened, is damaged, foreign or of a newer version.
        OutOfHostResources: The file cannot be written.
    """

    def __init__(
        self, place: str | Path, clock: Clock, *, is_alive: IsAlive = is_worker_alive
    ) -> None:
        self._place = str(place)
        self._clock = clock
        self._is_alive = is_alive
        self._engine: Engine = open_engine(place)
        self._cache: OrderedDict[str, History] = OrderedDict()
        self._lock = threading.Lock()
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections; the next use opens new ones."""
        self._engine.dispose()

    def create(self, job: str, problem: Problem) -> None:
        """Remember a new job."""
        row = {
            "job": job,
            "created_at_seconds": self._clock.now_seconds(),
            "problem": dumps(problem),
        }
        with self._writing() as connection:
            try:
                connection.execute(insert(JOBS), row)
            except IntegrityError:
                raise StoreConflict(f"job {job} exists already") from None

    def history(self, job: str) -> History:
        """Return everything recorded about a job."""
        known = self._known(job)
        with self._reading() as connection:
            rows = _rows_after(connection, job, known)
        return self._extended(known, rows)

    def jobs(self) -> tuple[str, ...]:
        """Return all job ids, newest first."""
        with self._reading() as connection:
            return tuple(connection.scalars(_NEWEST_JOBS))

    def lease(self, job: str, step: str, *, worker: str, seconds: float) -> Attempt:
        """Take the right to perform a step."""
        with self._writing() as connection:
            _lock_job(connection, job)
            _refuse_recorded(connection, job, step)
            held = _find_lease(connection, job, step)
            now = self._clock.now_seconds()
            if held is not None and self._is_held(held, now):
                raise LeaseLost(
                    f"step {step} of job {job} is leased to {held.worker}",
                    remedy="wait for the process that works on this job, or end it",
                )
            token = 1 if held is None else held.token + 1
            attempt = Attempt(job, step, token, worker, now + seconds)
            _write_lease(connection, attempt, is_new=held is None)
        return attempt

    def record(self, attempt: Attempt, event: Event) -> History:
        """Append one event for a leased step and return the history with it."""
        known = self._known(attempt.job)
        body = dumps(event)
        with self._writing() as connection:
            _lock_job(connection, attempt.job)
            _refuse_recorded(connection, attempt.job, attempt.step)
            held = _find_lease(connection, attempt.job, attempt.step)
            if held is None or held.worker is None or held.token != attempt.token:
                raise LeaseLost(f"the lease on step {attempt.step} of job {attempt.job} is gone")
            _append(connection, attempt, type(event).__name__, body, self._clock.now_seconds())
            if isinstance(event, Judged | Confirmed):
                _count(connection, attempt.job, event)
            rows = _rows_after(connection, attempt.job, known)
        return self._extended(known, rows)

    def release(self, attempt: Attempt) -> None:
        """Give a lease back without a result; a stale one is ignored."""
        where = {"job_": attempt.job, "step_": attempt.step, "token_": attempt.token}
        with self._writing() as connection:
            connection.execute(_RELEASE, where)

    def wins(self) -> WinsByDevice:
        """Return how often each recipe paid, over all jobs."""
        with self._reading() as connection:
            rows = connection.execute(_COUNT_EFFECTS).all()
        return tallied((device, recipe, Effect(effect), n) for device, recipe, effect, n in rows)

    def _prepare(self) -> None:
        with self._writing() as connection:
            prepare_tables(connection, self._place)
        with translated(self._place):
            let_readers_go_on(self._engine)

    def _is_held(self, lease: _Lease, now: float) -> bool:
        if lease.worker is None or now > lease.expires_at_seconds:
            return False
        return self._is_alive(lease.worker) is not False

    def _known(self, job: str) -> History:
        """Return what this process has decoded of a job so far, at least its problem."""
        with self._lock:
            known = self._cache.get(job)
        if known is not None:
            return known
        with self._reading() as connection:
            text = connection.scalar(_FIND_PROBLEM, {"job_": job})
        if text is None:
            raise _no_such(job)
        return History(job, loads(Problem, text, file=self._place))

    def _extended(self, known: History, rows: Sequence[Any]) -> History:
        """Decode new rows and remember the result, unless another thread has got further."""
        added = tuple(
            Recorded(row.sequence, row.step, row.at_seconds, self._decode(row.body)) for row in rows
        )
        history = History(known.job, known.problem, known.records + added)
        with self._lock:
            cached = self._cache.get(known.job)
            if cached is None or len(cached.records) < len(history.records):
                self._cache[known.job] = history
            self._cache.move_to_end(known.job)
            while len(self._cache) > _CACHED_JOBS:
                self._cache.popitem(last=False)
        return history

    def _decode(self, body: str) -> Event:
        event: Event = loads(Event, body, file=self._place)
        return event

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(self._place), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated(self._place), self._engine.connect() as connection:
            writer = connection.execution_options(**{WRITES: True})
            with writer.begin():
                yield writer


def _no_such(job: str) -> BadRequest:
    return BadRequest(
        f"there is no job {job}",
        remedy="use the id the run printed",
    )


def _lock_job(connection: Connection, job: str) -> None:
    """Make concurrent writers of this job wait; where a writer locks the whole file, a no-op."""
    if connection.scalar(_LOCK_JOB, {"job_": job}) is None:
        raise _no_such(job)


def _refuse_recorded(connection: Connection, job: str, step: str) -> None:
    if connection.scalar(_FIND_STEP, {"job_": job, "step_": step}) is not None:
        raise StoreConflict(f"step {step} of job {job} is recorded already")


def _find_lease(connection: Connection, job: str, step: str) -> _Lease | None:
    row = connection.execute(_FIND_LEASE, {"job_": job, "step_": step}).one_or_none()
    return None if row is None else _Lease(*row)


def _write_lease(connection: Connection, attempt: Attempt, *, is_new: bool) -> None:
    values = {
        "token": attempt.token,
        "worker": attempt.worker,
        "expires_at_seconds": attempt.expires_at_seconds,
    }
    if is_new:
        row = {"job": attempt.job, "step": attempt.step, **values}
        connection.execute(insert(LEASES), row)
    else:
        where = {"job_": attempt.job, "step_": attempt.step}
        connection.execute(_RENEW_LEASE, where | values)


def _append(connection: Connection, attempt: Attempt, kind: str, body: str, now: float) -> None:
    """Write the event under the next number and drop the lease, which has done its work."""
    newest = connection.scalar(_LAST_SEQUENCE, {"job_": attempt.job})
    row = {
        "job": attempt.job,
        "sequence": 0 if newest is None else newest + 1,
        "step": attempt.step,
        "at_seconds": now,
        "kind": kind,
        "body": body,
    }
    connection.execute(insert(EVENTS), row)
    connection.execute(_DROP_LEASE, {"job_": attempt.job, "step_": attempt.step})


def _count(connection: Connection, job: str, event: Judged | Confirmed) -> None:
    """Keep what an event says about recipes, instead of what was said of its candidate before."""
    if not event.effects:
        return
    candidate = event.trial.candidate
    connection.execute(_DROP_EFFECTS, {"job_": job, "candidate_": candidate})
    rows = [
        {
            "job": job,
            "candidate": candidate,
            "recipe": each.recipe,
            "device": each.device,
            "effect": each.effect.value,
        }
        for each in event.effects
    ]
    connection.execute(insert(RECIPE_EFFECTS), rows)


def _rows_after(connection: Connection, job: str, known: History) -> Sequence[Any]:
    """Return the rows that are not in `known`, oldest first."""
    return connection.execute(_NEW_EVENTS, {"job_": job, "from_": len(known.records)}).all()
