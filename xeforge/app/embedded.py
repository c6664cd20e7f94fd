"""Engine, store and bench in one process: the command line's composition root."""

import os
import secrets
import threading
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
from contextlib import closing
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import platformdirs

from xeforge.adapters.local_worker import local_worker
from xeforge.adapters.sql_store import SqlStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.files import make_folder
from xeforge.app.interrupts import raise_if_asked
from xeforge.app.isolation import required_layer
from xeforge.domain.attempt import Attempt
from xeforge.domain.events import Event
from xeforge.domain.events import Resumed
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.steps import NEEDS_DEVICE
from xeforge.domain.steps import Confirm
from xeforge.domain.steps import Finish
from xeforge.domain.steps import Step
from xeforge.domain.wins import WinsByDevice
from xeforge.errors import LeaseLost
from xeforge.errors import StoreConflict
from xeforge.pipeline.advance import advance
from xeforge.pipeline.engine import ready_steps
from xeforge.pipeline.parts import Parts
from xeforge.ports import Evaluator
from xeforge.ports import JobStore
from xeforge.propose import PROPOSERS

HOME_VARIABLE = "XEFORGE_HOME"
_JOBS = "jobs.sqlite3"


def home() -> Path:
    """Return the folder that holds jobs: ``$XEFORGE_HOME`` or the user's state folder."""
    return make_folder(_home_path())


def _home_path() -> Path:
    named = os.environ.get(HOME_VARIABLE)
    return Path(named) if named else platformdirs.user_state_path("xeforge")


def open_store(folder: Path) -> SqlStore:
    """Open the store of this machine."""
    return SqlStore(folder / _JOBS, SystemClock())


def wins_here() -> WinsByDevice:
    """Return how often advice paid in the jobs of this machine; makes no store where none is."""
    folder = _home_path()
    if not (folder / _JOBS).is_file():
        return {}
    with closing(open_store(folder)) as store:
        return store.wins()


def new_job_id() -> str:
    """Return a fresh, unguessable id."""
    return f"j{secrets.token_hex(5)}"


@contextmanager
def open_evaluator(problem: Problem, *, allow_unsandboxed: bool = False) -> Iterator[Evaluator]:
    """Open the bench on the problem's device; children and scratch space go at the end.

    Raises:
        ToolchainMissing: No sandbox works here and the operator did not allow to go without.
    """
    import tempfile

    from bench_workers.host.evaluator import BenchEvaluator
    from knowledge.load import find_device

    layer = required_layer(allow_unsandboxed=allow_unsandboxed)
    device = find_device(problem.target)
    with tempfile.TemporaryDirectory(prefix="xeforge-", ignore_cleanup_errors=True) as scratch:
        evaluator = BenchEvaluator(device, problem.backend, layer=layer, work_dir=Path(scratch))
        try:
            yield evaluator
        finally:
            evaluator.close()


@contextmanager
def open_parts(
    problem: Problem, store: JobStore, *, allow_unsandboxed: bool = False
) -> Iterator[Parts]:
    """Bundle everything a job needs on this machine.

    Raises:
        ToolchainMissing: No sandbox works here and the operator did not allow to go without.
    """
    from contextlib import ExitStack
    from functools import partial

    from knowledge.load import find_device
    from xeforge.app.advising import KnowledgeAdvice
    from xeforge.app.capturing import open_capture

    opened = partial(open_evaluator, allow_unsandboxed=allow_unsandboxed)
    with ExitStack() as stack:
        evaluator = stack.enter_context(opened(problem))
        interpreter = None
        if not evaluator.is_interpreted:
            interpreter = stack.enter_context(opened(replace(problem, backend="cpu")))
        yield Parts(
            store=store,
            evaluator=evaluator,
            interpreter=interpreter,
            proposers={proposer.name: proposer for proposer in PROPOSERS},
            device=find_device(problem.target),
            clock=SystemClock(),
            capture=stack.enter_context(
                open_capture(required_layer(allow_unsandboxed=allow_unsandboxed))
            ),
            advice=KnowledgeAdvice(),
        )


def mark_resumed(job: str, store: JobStore) -> History:
    """Record that work goes on, so that the pause does not count against the budget."""
    history = store.history(job)
    attempt = store.lease(job, f"resume:{len(history.records)}", worker=local_worker(), seconds=60)
    return store.record(attempt, Resumed())


class _UntilStopped:
    """A store that takes nothing more once the driver has stopped.

    Steps that are under way then lose their children in mid-work. What comes of that says nothing
    about the kernel, so it must not become a verdict; the step is done again when the job goes on.
    """

    def __init__(self, store: JobStore) -> None:
        self._store = store
        self._stopped = threading.Event()
        self.create, self.history, self.jobs = store.create, store.history, store.jobs
        self.lease, self.release, self.wins = store.lease, store.release, store.wins

    def stop(self) -> None:
        """Refuse events from now on."""
        self._stopped.set()

    def record(self, attempt: Attempt, event: Event) -> History:
        """Append one event, as the store does, unless the driver has stopped.

        Raises:
            LeaseLost: It has.
        """
        if self._stopped.is_set():
            raise LeaseLost(f"step {attempt.step} of job {attempt.job} was interrupted")
        return self._store.record(attempt, event)


def drive(
    job: str,
    parts: Parts,
    observe: Callable[[History], None],
    *,
    parallel: int,
) -> History:
    """Perform steps until the job is finished.

    Args:
        job: Job id.
        parts: The ports.
        observe: Called with every new history, on the calling thread.
        parallel: Steps under way at once; the engine keeps the device to one of them.

    Raises:
        KeyboardInterrupt: The user stopped it; everything recorded so far is kept.
        LeaseLost: Another process works on this job.
    """
    worker = local_worker()
    store = _UntilStopped(parts.store)
    parts = replace(parts, store=store)
    history = store.history(job)
    running: dict[Future[History], Step] = {}
    pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="step")
    try:
        while history.finished is None:
            for step in _startable(ready_steps(history), running.values()):
                if len(running) < parallel:
                    future = pool.submit(advance, history, step, parts, worker=worker)
                    running[future] = step
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            raise_if_asked()
            for future in done:
                running.pop(future)
                _settle(future)
            history = parts.store.history(job)
            observe(history)
    finally:
        store.stop()
        pool.shutdown(wait=False, cancel_futures=True)
    return history


def _startable(ready: Iterable[Step], running: Collection[Step]) -> list[Step]:
    """Leave out what is under way, and what must wait for it.

    A device step under way may change what is asked of the device next, and a job ends only when
    nothing is under way.
    """
    busy = {step.id for step in running}
    is_device_busy = any(isinstance(step, NEEDS_DEVICE) for step in running)
    return [
        step
        for step in ready
        if step.id not in busy
        and not (is_device_busy and isinstance(step, NEEDS_DEVICE))
        and not (busy and isinstance(step, Confirm | Finish))
    ]


def _settle(future: Future[History]) -> None:
    """Raise what a step raised; a step that was recorded meanwhile is done all the same."""
    try:
        future.result()
    except StoreConflict:
        return
