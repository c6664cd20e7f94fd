"""Starts and asks the children that load, build and run user code."""

import threading
import time
from collections import deque
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Literal

from bench_workers.host.arena import SharedMemory
from bench_workers.host.health import PROBE_SECONDS
from bench_workers.host.health import CardHealth
from bench_workers.host.kernel_cache import CACHE_FOLDER
from bench_workers.host.kernel_cache import carry_cache
from bench_workers.host.ledger import Ledger
from bench_workers.sandbox.launch import Child
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.spares import LIBRARIES
from bench_workers.sandbox.spares import PRELOAD
from bench_workers.sandbox.warm import WarmChildren
from xeforge.domain.device import Backend
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout
from xeforge.errors import OutOfHostResources
from xeforge.errors import PlatformError

Role = Literal["prepare", "oracle", "run"]
_BESIDE = 4
"""Children that open or end at once: two of the next step, two of the last."""
_OPEN_SECONDS = 120.0
_MOST_SHARED_BYTES = 64 << 30
LANES = 2
"""Pairs of shared memories, so that one case's inputs are written while another one runs."""
_INTERPRET = {"TRITON_INTERPRET": "1"}
_BUILDING = (*PRELOAD, "warm_fakes", "build", "launch_compiler", "model_call")
_RUNNING = {True: (*LIBRARIES, "session", "count"), False: (*PRELOAD, "session")}
"""What children have imported before they take a role, by whether Triton interprets."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds one request may take.

    Attributes:
        load: Importing a file.
        case: One case: construction, compilation and all its calls.
        oracle: Evaluating the reference on one case, or comparing with it.
    """

    load: float = 60.0
    case: float = 60.0
    oracle: float = 300.0


class Session:
    """A child that holds user code.

    Attributes:
        facts: What the device of this child says about itself.
    """

    def __init__(
        self,
        child: Child,
        rooms: Sequence[SharedMemory],
        ledger: Ledger,
        health: CardHealth,
    ) -> None:
        self._child = child
        self._rooms = rooms
        self._ledger = ledger
        self._health = health
        self.facts: Mapping[str, Any] = {}

    def ask(
        self,
        op: str,
        payload: Mapping[str, Any],
        *,
        seconds: float,
        most_bytes: int = _MOST_SHARED_BYTES,
    ) -> dict[str, Any]:
        """Perform one operation; shared memory grows as the answer demands.

        Args:
            op: Name of the operation.
            payload: Its arguments; ``lane`` picks the shared memory, 0 unless it is named.
            seconds: Until its answer must be there.
            most_bytes: That its tensors may need in shared memory.

        Raises:
            CandidateRaised: The user's code raised, or a candidate's outputs need too much memory;
                the child is ended when its device no longer works, which `is_alive` tells.
            CandidateTimeout: No answer in time; the child is gone.
            CandidateDied: The child ended.
            OutOfHostResources: The oracle's tensors do not fit into shared memory.
        """
        room = self._rooms[int(payload.get("lane", 0))]
        while True:
            answer = self._answer(op, payload, seconds)
            if "needed_bytes" not in answer:
                break
            self._make_room(room, int(answer["needed_bytes"]), most_bytes)
        fault = answer.get("fault")
        if fault is None:
            return answer
        if fault.get("broken"):
            self._health.suspect(str(fault.get("message", "")))
            self.close()
        line = fault.get("line")
        raise CandidateRaised(
            str(fault.get("message", ""))[:4000],
            kind=str(fault.get("kind", ""))[:200],
            line=line if isinstance(line, int) else None,
            stderr_tail=self._child.stderr_tail,
        )

    def _answer(self, op: str, payload: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        started = time.monotonic()
        spent: dict[str, Any] | None = None
        try:
            answer = self._child.request(op, payload, deadline_seconds=seconds)
        except CandidateRaised as error:
            if self._child.role == "run":
                raise
            # What user code raises comes back as a fault; this is our own error.
            raise PlatformError(f"the {self._child.role} child: {error.message}") from error
        except (CandidateTimeout, CandidateDied) as error:
            self._health.suspect(error.message)
            raise
        else:
            found = answer.pop("spent", None)
            spent = found if isinstance(found, dict) else None
            return answer
        finally:
            self._ledger.add(self._child.role, op, time.monotonic() - started, spent)

    def _make_room(self, room: SharedMemory, needed_bytes: int, most_bytes: int) -> None:
        if room.size_bytes < needed_bytes <= most_bytes:
            room.grow(needed_bytes)
            return
        words = f"tensors of {needed_bytes >> 20} MiB do not fit into shared memory"
        if self._child.role == "run":
            raise CandidateRaised(f"{words} within their memory limit of {most_bytes >> 20} MiB")
        raise OutOfHostResources(words, remedy="use smaller shapes")

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._child.is_alive

    def bring_cache(self, source: Path) -> None:
        """Copy kernels compiled earlier to where it looks for them."""
        inside = str(self.facts["cache"])
        with self._ledger.timing(self._child.role, "carry_cache"):
            carry_cache(source, self._child.directory / CACHE_FOLDER, seen_as=inside)

    def keep_cache(self, destination: Path) -> None:
        """Copy the kernels it compiled to where a child with the same source can start from."""
        with self._ledger.timing(self._child.role, "keep_cache"):
            carry_cache(self._child.directory / CACHE_FOLDER, destination, seen_as=destination)

    def close(self) -> None:
        """End it."""
        self._child.close()


class Sessions:
    """Everything needed to start children of one evaluator.

    Args:
        backend: Torch device type of oracle and candidates.
        layer: Isolation layer.
        work_directory: Where private folders are made.
        memory_bytes: Most host memory of a child.
        spares: How many children for candidates are kept warm.
        builders: How many children that compile are kept warm, from the first build on.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        layer: str,
        work_directory: Path | None = None,
        memory_bytes: int = 16 << 30,
        spares: int = 1,
        builders: int = 1,
    ) -> None:
        self.backend = backend
        self.layer = layer
        self.given = tuple(SharedMemory(f"given{each}") for each in range(LANES))
        self.answers = tuple(SharedMemory(f"answers{each}") for each in range(LANES))
        self.ledger = Ledger()
        self.health = CardHealth(None if backend == "cpu" else self._probe)
        self._policies = {
            each: default_policy(
                each, layer=layer, memory_bytes=memory_bytes, work_directory=work_directory
            )
            for each in dict.fromkeys((backend, "cpu"))
        }
        self._ahead = {"run": spares, "build": builders}
        self._warm: dict[tuple[Backend, bool], WarmChildren] = {}
        self._lock = threading.Lock()
        self._reaper = ThreadPoolExecutor(_BESIDE, thread_name_prefix="session")
        self._ending: list[Future[None]] = []
        self._opened: deque[Future[Session]] = deque()
        self._warm_for("run")  # it gets warm while the job is read

    @property
    def is_interpreted(self) -> bool:
        """Whether Triton's interpreter stands in for a device."""
        return self.backend == "cpu"

    def start(
        self,
        role: Role,
        *,
        files: Sequence[tuple[str, str]] = (),
        load_seconds: float = 60.0,
        cache: Path | None = None,
    ) -> Session:
        """Start a child, open its device and import files.

        Args:
            role: What it may write and where it runs; ``prepare`` never sees a device.
            files: Module names and texts, imported in order.
            load_seconds: For each import.
            cache: Kernels compiled earlier from the same source, to start from.

        Raises:
            CandidateError: A file cannot be imported.
            DeviceLost: After a fault the card does not compute any more.
            PlatformError: The child cannot be started.
        """
        if role != "prepare":
            self.health.settle()
        return self._started(role, files, load_seconds, cache)

    def _started(
        self,
        role: Role,
        files: Sequence[tuple[str, str]] = (),
        load_seconds: float = 60.0,
        cache: Path | None = None,
    ) -> Session:
        session = self._take_opened() if role == "run" else None
        if session is None:
            with self.ledger.timing(role, "start"):
                child = self._child(role)
            session = self._open(child, role, warm=False)
        try:
            if cache is not None:
                session.bring_cache(cache)
            for name, text in files:
                session.ask("load", {"name": name, "text": text}, seconds=load_seconds)
        except BaseException:
            session.close()
            raise
        return session

    def _open(self, child: Child, role: Role, *, warm: bool) -> Session:
        rooms = self.answers if role == "run" else self.given
        session = Session(child, rooms, self.ledger, self.health)
        try:
            session.facts = session.ask("open", {"warm": warm}, seconds=_OPEN_SECONDS)
        except BaseException:
            session.close()
            raise
        return session

    def open_ahead(self, count: int) -> None:
        """Begin to open the device in children that will be wanted soon; return at once.

        To be called while nothing is timed, and followed by `wait_for_opened` before something is.
        """
        with self._lock:
            for _ in range(count - len(self._opened)):
                self._opened.append(self._reaper.submit(self._opened_child))

    def wait_for_opened(self) -> None:
        """Wait until no child is being opened, so that nothing of ours runs beside a timing."""
        with self._lock:
            opening = tuple(self._opened)
        wait(opening)

    def _opened_child(self) -> Session:
        return self._open(self._child("run"), "run", warm=True)

    def _take_opened(self) -> Session | None:
        """Return a child opened ahead; None when there is none, or it did not live."""
        with self._lock:
            opened = self._opened.popleft() if self._opened else None
        if opened is None or opened.exception() is not None:
            return None  # what keeps it from opening will keep the next one, too, and be raised
        session = opened.result()
        return session if session.is_alive else None

    def _probe(self) -> str:
        """Have a fresh child, without user code, do known work on the card."""
        session = self._started("run")
        try:
            return str(session.ask("probe", {}, seconds=PROBE_SECONDS)["wrong"])
        finally:
            session.close()

    def compiler(self, role: Literal["build", "count"]) -> Child:
        """Start a child that compiles or counts; it never sees a device."""
        return self._warm_for(role).take(role, inherit=())

    def retire(self, session: Session) -> None:
        """End a session beside other work; what goes wrong with it shows at the next call.

        Raises:
            PlatformError: An earlier one could not be ended.
        """
        with self._lock:
            done = [each for each in self._ending if each.done()]
            self._ending = [each for each in self._ending if not each.done()]
            self._ending.append(self._reaper.submit(session.close))
        for each in done:
            each.result()

    def _child(self, role: Role) -> Child:
        return self._warm_for(role).take(
            role, inherit=self._descriptors(role), options=self._options(role)
        )

    def _warm_for(self, role: Role | Literal["build", "count"]) -> WarmChildren:
        """Return where a role's children come from; Triton compiles or interprets in all of one."""
        backend = self._backend_of(role)
        interprets = backend == "cpu" and role != "build"
        with self._lock:
            if (backend, interprets) not in self._warm:
                self._warm[backend, interprets] = WarmChildren(
                    self._policies[backend],
                    ahead=self._ahead.get(role, 0),
                    inherit=self._descriptors(role) if role == "run" else (),
                    options={
                        "environment": _INTERPRET if interprets else {},
                        "preload": _BUILDING if role == "build" else _RUNNING[interprets],
                    },
                )
            return self._warm[backend, interprets]

    def _backend_of(self, role: str) -> Backend:
        return self.backend if role in {"run", "oracle"} else "cpu"

    def _descriptors(self, role: Role) -> tuple[int, ...]:
        """Return what a role inherits: only the oracle's side writes inputs, only runs outputs."""
        if role == "run":
            given = [each.readable for each in self.given]
            return (*given, *(each.writable for each in self.answers))
        return (
            *(each.writable for each in self.given),
            *(each.readable for each in self.answers),
        )

    def _options(self, role: Role) -> dict[str, Any]:
        numbers = self._descriptors(role)
        backend = self._backend_of(role)
        return {
            "backend": backend,
            "interpret": backend == "cpu",
            "given": list(numbers[:LANES]),
            "answers": list(numbers[LANES:]),
            "is_oracle": role != "run",
            "preload": list(PRELOAD if role == "run" and backend != "cpu" else LIBRARIES),
            "environment": _INTERPRET if backend == "cpu" else {},
        }

    def close(self) -> None:
        """End spare children and give the shared memory back; others must have ended."""
        for warm in self._warm.values():
            warm.close()
        self._reaper.shutdown(wait=True)
        for memory in (*self.given, *self.answers):
            memory.close()
        for each in self._ending:
            each.result()

    def _close_opened(self) -> None:
        with self._lock:
            opened, self._opened = tuple(self._opened), deque()
        wait(opened)
        for each in opened:
            if each.exception() is None:
                each.result().close()
