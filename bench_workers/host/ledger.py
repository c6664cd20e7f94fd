"""Adds up where the seconds of a device step go."""

import threading
import time
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from xeforge.domain.spending import OperationTime
from xeforge.domain.spending import Spending

WAITING = "wait"
"""Operation of waiting for the card while another job holds it; not part of the total."""


@dataclass(slots=True)
class _Sum:
    count: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    user_seconds: float = 0.0


class Ledger:
    """Seconds by role and operation since it was last drained.

    Device steps are done one at a time, so one ledger serves an evaluator.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], _Sum] = {}
        self._since = time.monotonic()
        self._lock = threading.Lock()

    def add(
        self, role: str, operation: str, seconds: float, inside: Mapping[str, Any] | None = None
    ) -> None:
        """Count one request; what a child says about itself is clipped to what it took."""
        with self._lock:
            entry = self._sums.setdefault((role, operation), _Sum())
            entry.count += 1
            entry.seconds += seconds
            entry.compile_seconds += _clipped(inside, "compile", seconds)
            entry.user_seconds += _clipped(inside, "user", seconds)

    @contextmanager
    def timing(self, role: str, operation: str) -> Iterator[None]:
        """Count what happens inside as one request."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.add(role, operation, time.monotonic() - started)

    def drain(self) -> Spending:
        """Return everything since the last call, and begin anew."""
        now = time.monotonic()
        with self._lock:
            total, self._since = now - self._since, now
            sums, self._sums = self._sums, {}
        waited = sum(each.seconds for key, each in sums.items() if key[1] == WAITING)
        times = [
            OperationTime(
                role, name, each.count, each.seconds, each.compile_seconds, each.user_seconds
            )
            for (role, name), each in sums.items()
        ]
        return Spending(total - waited, tuple(sorted(times, key=lambda each: -each.seconds)))


def _clipped(inside: Mapping[str, Any] | None, name: str, most: float) -> float:
    value = (inside or {}).get(name, 0.0)
    return min(max(float(value), 0.0), most) if isinstance(value, (int, float)) else 0.0
