"""Starts and asks the children that load, build and run user code."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Literal

from bench_workers.host.arena import SharedMemory
from bench_workers.sandbox.launch import Child
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.policy import default_policy
from xeforge.domain.device import Backend
from xeforge.errors import CandidateRaised
from xeforge.errors import OutOfHostResources
from xeforge.errors import PlatformError

Role = Literal["prepare", "oracle", "run"]
_OPEN_SECONDS = 120.0
_MOST_SHARED_BYTES = 64 << 30
_INTERPRET = {"TRITON_INTERPRET": "1"}


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

    def __init__(self, child: Child, room: SharedMemory) -> None:
        self._child = child
        self._room = room
        self.facts: Mapping[str, Any] = {}

    def ask(self, op: str, payload: Mapping[str, Any], *, seconds: float) -> dict[str, Any]:
        """Perform one operation; shared memory grows as the answer demands.

        Raises:
            CandidateRaised: The user's code raised; the child is ended when its device no longer
                works, which `is_alive` tells.
            CandidateTimeout: No answer in time; the child is gone.
            CandidateDied: The child ended.
            OutOfHostResources: The tensors do not fit into shared memory.
        """
        while True:
            answer = self._answer(op, payload, seconds)
            if "needed_bytes" not in answer:
                break
            self._make_room(int(answer["needed_bytes"]))
        fault = answer.get("fault")
        if fault is None:
            return answer
        if fault.get("broken"):
            self.close()
        line = fault.get("line")
        raise CandidateRaised(
            str(fault.get("message", ""))[:4000],
            kind=str(fault.get("kind", ""))[:200],
            line=line if isinstance(line, int) else None,
            stderr_tail=self._child.stderr_tail,
        )

    def _answer(self, op: str, payload: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        try:
            return self._child.request(op, payload, deadline_seconds=seconds)
        except CandidateRaised as error:
            if self._child.role == "run":
                raise
            # What user code raises comes back as a fault; this is our own error.
            raise PlatformError(f"the {self._child.role} child: {error.message}") from error

    def _make_room(self, needed_bytes: int) -> None:
        if needed_bytes > _MOST_SHARED_BYTES or needed_bytes <= self._room.size_bytes:
            raise OutOfHostResources(
                f"tensors of {needed_bytes >> 20} MiB do not fit into shared memory",
                remedy="use smaller shapes",
            )
        self._room.grow(needed_bytes)

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._child.is_alive

    @property
    def directory(self) -> Path:
        """Its private folder on the host."""
        return self._child.directory

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
    """

    def __init__(
        self,
        backend: Backend,
        *,
        layer: str,
        work_directory: Path | None = None,
        memory_bytes: int = 16 << 30,
    ) -> None:
        self.backend = backend
        self.layer = layer
        self.given = SharedMemory("given")
        self.answers = SharedMemory("answers")
        self._policies = {
            each: default_policy(
                each, layer=layer, memory_bytes=memory_bytes, work_directory=work_directory
            )
            for each in dict.fromkeys((backend, "cpu"))
        }

    @property
    def is_interpreted(self) -> bool:
        """Whether Triton's interpreter stands in for a device."""
        return self.backend == "cpu"

    def start(self, role: Role, *, files: Sequence[tuple[str, str]] = (), load: float = 60.0) -> Session:
        """Start a child, open its device and import files.

        Args:
            role: What it may write and where it runs; ``prepare`` never sees a device.
            files: Module names and texts, imported in order.
            load: Seconds for each import.

        Raises:
            CandidateError: A file cannot be imported.
            PlatformError: The child cannot be started.
        """
        backend: Backend = "cpu" if role == "prepare" else self.backend
        is_oracle = role != "run"
        given = self.given.writable if is_oracle else self.given.readable
        answers = self.answers.readable if is_oracle else self.answers.writable
        interpret = backend == "cpu"
        options = {
            "backend": backend,
            "interpret": interpret,
            "given": given,
            "answers": answers,
            "is_oracle": is_oracle,
            "preload": ["torch", "triton"],
            "environment": _INTERPRET if interpret else {},
        }
        child = launch(role, self._policies[backend], inherit=(given, answers), options=options)
        session = Session(child, self.given if is_oracle else self.answers)
        try:
            session.facts = session.ask("open", {}, seconds=_OPEN_SECONDS)
            for name, text in files:
                session.ask("load", {"name": name, "text": text}, seconds=load)
        except BaseException:
            session.close()
            raise
        return session

    def close(self) -> None:
        """Give the shared memory back; children must have ended."""
        self.given.close()
        self.answers.close()
