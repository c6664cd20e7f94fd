"""Opens what captures modules: a prepare child inside the best walls of this machine."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench_workers.host.capture import Capturing
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer


@contextmanager
def capturing() -> Iterator[Capturing]:
    """Give what captures; end its child afterwards."""
    with tempfile.TemporaryDirectory(prefix="capture-") as scratch:
        sessions = Sessions("cpu", layer=best_layer(), work_directory=Path(scratch), spares=0)
        opened = Capturing(sessions, Deadlines())
        try:
            yield opened
        finally:
            opened.close()
            sessions.close()
