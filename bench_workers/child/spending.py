"""Where the seconds of a request go: compiling, running the user's code, or neither."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_SPENT = {"compile": 0.0, "user": 0.0}
_MICROSECOND = 1e-6


def install() -> None:
    """Let Triton say how long each compilation took, hits in its cache included. Idempotent."""
    from triton import knobs

    if knobs.compilation.listener is None:
        knobs.compilation.listener = _compiled


def _compiled(*, times: Any, **_facts: Any) -> None:
    _SPENT["compile"] += times.total * _MICROSECOND


@contextmanager
def user_seconds() -> Iterator[None]:
    """Count what runs inside as the user's, compilations apart."""
    started, compiled = time.perf_counter(), _SPENT["compile"]
    try:
        yield
    finally:
        seconds = time.perf_counter() - started
        _SPENT["user"] += max(0.0, seconds - (_SPENT["compile"] - compiled))


def drain() -> dict[str, float]:
    """Return seconds since the last call."""
    found = dict(_SPENT)
    _SPENT.update(dict.fromkeys(_SPENT, 0.0))
    return found
