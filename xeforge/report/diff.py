"""Differences between two sources."""

import difflib


def unified(before: str, after: str, path: str) -> str:
    """Return a unified diff with three lines of context; empty when equal."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        fromfile=f"{path} (submitted)",
        tofile=f"{path} (found)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
