"""The three steps of a benchmark that compiles here and times on a card: make, time, show."""

import argparse
from collections.abc import Sequence
from pathlib import Path

_NEEDED = {"make": ("sources",), "time": ("sources", "out"), "show": ("out",)}


def parser(description: str | None, *, tiles: int) -> argparse.ArgumentParser:
    """Return a parser of what every such benchmark is told.

    Args:
        description: Of the benchmark.
        tiles: Files of each plan, unless it is told another number.
    """
    made = argparse.ArgumentParser(description=description)
    made.add_argument("step", choices=tuple(_NEEDED))
    made.add_argument("--sources", type=Path)
    made.add_argument("--out", type=Path)
    made.add_argument("--target", default="nvidia-h200")
    made.add_argument("--tiles", type=int, default=tiles, help="files of each plan")
    return made


def parse(
    made: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> tuple[argparse.Namespace, list[str]]:
    """Return options, and what is for `card`; only the step ``time`` may have that."""
    options, others = made.parse_known_args(arguments)
    missing = [f"--{each}" for each in _NEEDED[options.step] if getattr(options, each) is None]
    if missing or (others and options.step != "time"):
        made.error(f"missing: {missing}" if missing else f"unknown: {others}")
    return options, others
