"""The smallest role: repeats what it is told, or runs a few lines as if they were a kernel.

The sandbox is tried with it, both at start (does this layer work here?) and in its tests, where
the lines are what hostile kernels do.
"""

from typing import Any

import protocol  # type: ignore[import-not-found, unused-ignore]

FILE_NAME = "<lines>"


def echo(payload: dict[str, Any]) -> dict[str, Any]:
    """Return what came."""
    return payload


def run(payload: dict[str, Any]) -> dict[str, Any]:
    """Run ``source``; return what it left in the dictionary ``answer``."""
    protocol.CANDIDATE_FILES.add(FILE_NAME)
    scope: dict[str, Any] = {"answer": {}, "payload": payload}
    exec(compile(payload["source"], FILE_NAME, "exec"), scope)
    return dict(scope["answer"])


OPS = {"echo": echo, "run": run}
