"""Has a child export the reference, and makes a graph of its answer."""

from dataclasses import dataclass

from bench_workers.host.oracle import REFERENCE
from bench_workers.host.oracle import payload_of
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Session
from bench_workers.host.sessions import Sessions
from xeforge.domain.case import Fill
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import BadRequest
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import PlatformError
from xeforge.errors import UserError
from xeforge.fusion.front.exported import load_exported
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.normalise import normalise
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of one capture.

    Attributes:
        outcome: The graph, or why there is none.
        seconds: Construction and export, as the child says; 0 where it did not get through.
    """

    outcome: Graph | Refused
    seconds: float


class Capturing:
    """A prepare child that exports; for as many files as it is given.

    Args:
        sessions: Starts the child.
        deadlines: ``load`` bounds importing a file, ``case`` bounds exporting it.
    """

    def __init__(self, sessions: Sessions, deadlines: Deadlines) -> None:
        self._session: Session = sessions.start("prepare")
        self._deadlines = deadlines

    def capture(self, file: SourceFile, workload: Workload, mode: Mode) -> Captured:
        """Export a file's model at the shapes of a workload.

        Raises:
            UserError: The file cannot be imported, or its model not be constructed.
            PlatformError: The child's answer is not of the agreed form.
        """
        fields = payload_of(workload, fill=Fill.RANDOM, seed=0)
        fields["dims"] = dict(workload.dims)
        try:
            self._ask("load", {"name": REFERENCE, "text": file.text})
            answer = self._ask("capture", {**fields, "name": REFERENCE, "mode": mode})
        except CandidateError as error:
            line = error.line if isinstance(error, CandidateRaised) else None
            raise UserError(
                error.message,
                file=file.path,
                line=line,
                remedy="run the file by itself and mend what it reports",
            ) from error
        return captured(answer, mode)

    def _ask(self, op: str, payload: dict[str, object]) -> dict[str, object]:
        seconds = self._deadlines.load if op == "load" else self._deadlines.case
        return self._session.ask(op, payload, seconds=seconds)

    def close(self) -> None:
        """End the child."""
        self._session.close()


def captured(answer: object, mode: Mode) -> Captured:
    """Make sense of a child's answer.

    Raises:
        PlatformError: It is not of the agreed form.
    """
    try:
        exported = load_exported(answer)
        if isinstance(exported, Refusal):
            return Captured(Refused((exported,)), 0.0)
        return Captured(normalise(exported, mode), exported.seconds)
    except BadRequest as error:
        raise PlatformError(f"the export cannot be read: {error}") from error


def capture(
    sessions: Sessions,
    file: SourceFile,
    workload: Workload,
    mode: Mode,
    deadlines: Deadlines | None = None,
) -> Captured:
    """Export one file in a child of its own; raises as `Capturing.capture` does."""
    capturing = Capturing(sessions, deadlines or Deadlines())
    try:
        return capturing.capture(file, workload, mode)
    finally:
        capturing.close()
