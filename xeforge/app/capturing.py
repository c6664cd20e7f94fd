"""Exports references for proposers: a prepare child that starts when it is first asked."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import UserError
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.graph_json import dumps_graph
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused
from xeforge.ports import Captured

if TYPE_CHECKING:  # the bench is imported when it is needed
    from bench_workers.host.capture import Capturing


class ReferenceCapture:
    """Implements `xeforge.ports.Capture` with one child, which lives as long as the stack.

    Args:
        layer: Isolation of the child.
        stack: Ends it.
    """

    def __init__(self, layer: str, stack: ExitStack) -> None:
        self._layer = layer
        self._stack = stack
        self._capturing: Capturing | None = None
        self._lock = threading.Lock()

    def capture(self, file: SourceFile, workload: Workload, mode: Mode) -> Captured:
        """Export a file's ``Model`` at the shapes of a workload; its own faults are refusals.

        Raises:
            PlatformError: Our own fault.
        """
        with self._lock:
            try:
                found = self._child().capture(file, workload, mode).outcome
            except UserError as error:
                self._drop()
                return Captured("", (str(error),))
        if isinstance(found, Refused):
            return Captured("", tuple(map(_line, found.refusals)))
        return Captured(dumps_graph(found))

    def _child(self) -> "Capturing":
        """Return the child; started at the first call, and anew after a fault."""
        from bench_workers.host.capture import Capturing
        from bench_workers.host.sessions import Deadlines
        from bench_workers.host.sessions import Sessions

        if self._capturing is None:
            folder = self._stack.enter_context(
                tempfile.TemporaryDirectory(prefix="xeforge-", ignore_cleanup_errors=True)
            )
            sessions = Sessions("cpu", layer=self._layer, work_directory=Path(folder), spares=0)
            self._stack.callback(sessions.close)
            self._capturing = Capturing(sessions, Deadlines())
            self._stack.callback(self._drop)
        return self._capturing

    def _drop(self) -> None:
        if self._capturing is not None:
            self._capturing.close()
            self._capturing = None


def _line(refusal: Refusal) -> str:
    place = f" line {refusal.line}" if refusal.line else ""
    return f"{refusal.reason}{place}: {refusal.message}"


@contextmanager
def open_capture(layer: str) -> Iterator[ReferenceCapture]:
    """Open the port; a child that was started ends with the context."""
    with ExitStack() as stack:
        yield ReferenceCapture(layer, stack)
