"""Asks the product for a faster kernel, as a user would."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TAIL_CHARACTERS = 2000
_GRACE_SECONDS = 120.0
"""Time for the product to write down what it knows after an interrupt."""
_WINNER, _PROOF, _REPORT = "winner.py", "certificate.json", "report.json"


@dataclass(frozen=True, slots=True)
class Example:
    """One submitted kernel with its files."""

    name: str
    kernel: Path
    reference: Path
    spec: Path


@dataclass(frozen=True, slots=True)
class Search:
    """How a search ended.

    Attributes:
        exit_code: Of `xeforge optimize`; None: not run, an earlier result is used.
        seconds: Wall time.
        winner: Faster kernel; None: none was found.
        headline: The product's own claim.
        trials: Judged candidates.
        last_words: End of standard error when something went wrong.
        device_seconds: Of each candidate that was run: checking and timing it, in order.
        harness_seconds: Of these, neither import, nor compilation, nor timed runs.
    """

    exit_code: int | None
    seconds: float
    winner: Path | None
    headline: str
    trials: int
    last_words: str = ""
    device_seconds: tuple[float, ...] = ()
    harness_seconds: tuple[float, ...] = ()


def examples(folder: Path, only: tuple[str, ...]) -> tuple[Example, ...]:
    """Return the examples asked for, all when none is named.

    Raises:
        SystemExit: A name is unknown.
    """
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    unknown = sorted(set(only) - set(names))
    if unknown:
        raise SystemExit(f"unknown example {', '.join(unknown)}; there are {', '.join(names)}")
    return tuple(
        Example(name, folder / f"{name}.py", folder / f"{name}_pytorch.py", folder / f"{name}.yaml")
        for name in names
        if not only or name in only
    )


def search(
    example: Example,
    folder: Path,
    *,
    device: str,
    variants: tuple[str, ...],
    trials: int | None,
    seconds: float | None,
    timeout_seconds: float,
) -> Search:
    """Run `xeforge optimize` on an example and say what came out.

    Args:
        example: Kernel to improve.
        folder: Receives the product's report and the winner.
        device: Torch device type.
        variants: Of the spec; empty: its default.
        trials: Budget of judged candidates; None: no limit.
        seconds: Budget of wall time; None: no limit.
        timeout_seconds: The product is stopped after this time; what it wrote by then counts.
    """
    command = [sys.executable, "-m", "xeforge.app.main", "optimize", str(example.kernel)]
    command += ["--spec", str(example.spec), "--reference", str(example.reference)]
    command += ["--device", device, "--json", "--report", str(folder)]
    command += [part for each in variants for part in ("--variant", each)]
    command += [] if trials is None else ["--budget-trials", str(trials)]
    command += [] if seconds is None else ["--budget-seconds", str(seconds)]
    folder.mkdir(parents=True, exist_ok=True)
    for name in (_WINNER, _PROOF, _REPORT):
        (folder / name).unlink(missing_ok=True)
    errors = folder / "stderr.txt"
    started = time.perf_counter()
    code = _run(command, errors, timeout_seconds)
    elapsed = time.perf_counter() - started
    return _read(folder, code, elapsed, errors.read_text(encoding="utf-8", errors="replace"))


def _run(command: list[str], errors: Path, timeout_seconds: float) -> int:
    """Run the product; when its time is up, interrupt it as a user would, then kill it."""
    with errors.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stream)  # noqa: S603 - our own program
        try:
            return process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            return process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def earlier(folder: Path) -> Search:
    """Return what an earlier search left in a folder."""
    return _read(folder, None, 0.0, "")


def _read(folder: Path, code: int | None, seconds: float, errors: str) -> Search:
    """Read the product's own files; a winner without a certificate does not count."""
    winner, report = folder / _WINNER, folder / _REPORT
    is_proved = winner.is_file() and (folder / _PROOF).is_file()
    found = json.loads(report.read_text(encoding="utf-8")) if report.is_file() else {}
    return Search(
        exit_code=code,
        seconds=seconds,
        winner=winner if is_proved else None,
        headline=found.get("headline", ""),
        trials=len(found.get("trials", ())),
        last_words="" if code in (None, 0, 3, 6) else errors[-_TAIL_CHARACTERS:],
        device_seconds=_column(found, "device_seconds"),
        harness_seconds=_column(found, "harness_seconds"),
    )


def _column(report: dict[str, Any], name: str) -> tuple[float, ...]:
    rows = report.get("trials", ())
    return tuple(row[name] for row in rows if row.get(name) is not None)
