"""Samples clocks, temperature and throttling of a card while something is timed."""

import shutil
import subprocess
from dataclasses import dataclass

from bench_workers.host.visible import card_id
from xeforge.domain.device import Backend
from xeforge.domain.samples import Conditions

_QUERY_SECONDS = 5.0
_FIELDS = "clocks.sm,temperature.gpu,clocks_throttle_reasons.active"
_THROTTLE_BITS = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """State of a card at one moment."""

    sm_clock_mhz: int
    temperature_c: int
    throttle: tuple[str, ...]


def read(backend: Backend) -> Reading | None:
    """Ask the driver's own tool; None where it is missing or does not answer."""
    fields = query(backend, _FIELDS)
    try:
        clock, temperature, reasons = fields
        bits = int(reasons, 16)
        names = tuple(name for bit, name in _THROTTLE_BITS.items() if bits & bit)
        return Reading(int(clock), int(temperature), names)
    except ValueError:
        return None


def driver_version(backend: Backend) -> str:
    """Return the driver's version, or nothing where it is not known."""
    return next(iter(query(backend, "driver_version")), "")


def query(backend: Backend, fields: str) -> list[str]:
    """Return fields of the card in use; empty where they cannot be had."""
    tool = shutil.which("nvidia-smi") if backend == "cuda" else None
    if tool is None:
        return []
    command = [tool, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    command.append(f"--id={card_id(backend)}")
    try:
        done = subprocess.run(  # noqa: S603  a fixed command
            command, capture_output=True, text=True, timeout=_QUERY_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return [each.strip() for each in done.stdout.strip().split(",")]


def summary(readings: list[Reading | None]) -> Conditions:
    """Put readings together, in order."""
    known = [each for each in readings if each is not None]
    return Conditions(
        sm_clock_mhz=tuple(each.sm_clock_mhz for each in known),
        temperature_c=tuple(each.temperature_c for each in known),
        throttle=tuple(dict.fromkeys(name for each in known for name in each.throttle)),
    )
