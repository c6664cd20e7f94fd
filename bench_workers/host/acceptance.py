"""Tries the device interface on a real card: conformance, ceilings, copies in shared memory."""

import os
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from bench_workers.host.arena import SharedMemory
from bench_workers.host.card import ceilings_of
from bench_workers.host.sessions import Session
from bench_workers.host.sessions import Sessions
from xeforge.domain.check import Basis
from xeforge.domain.check import Check
from xeforge.domain.device import Backend
from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.errors import CandidateError
from xeforge.errors import PlatformError

_SECONDS = 180.0
_COPY_BYTES = 32 << 20
_PERIOD = bytes(range(251))
"""Prime, so that a shift by any power of two shows."""
_LEAST_COPY_RATE, _MOST_COPY_RATE = 5e9, 50e12
_MOST_SHARE, _LEAST_SHARE = 1.1, 0.4
"""Of the published bandwidth; less is a card that something else uses, more is no measurement."""
_SLOW_LINK = 0.2e9
UNITS: Mapping[str, str] = {
    "properties": "bytes",
    "units": "cards",
    "events": "s",
    "synchronize": "s",
    "memory": "bytes",
    "delay": "s",
    "host_ahead": "samples",
}


def device_checks(
    backend: Backend, device: Device, *, layer: str
) -> tuple[tuple[Check, ...], Ceilings | None]:
    """Try a card in children without user code; a check that cannot be made is one that failed.

    Args:
        backend: Torch device type.
        device: Published numbers to compare with.
        layer: Isolation layer.

    Raises:
        PlatformError: No child can be started on the card.
    """
    sessions = Sessions(backend, layer=layer, spares=1)
    try:
        session = sessions.start("run")
        try:
            facts = session.ask("conform", {}, seconds=_SECONDS)["facts"]
            checks = list(conformance_checks(facts))
            checks += _shared_memory(session, sessions.given[0], sessions.answers[0])
            ceilings, more = _ceilings(session, device)
            return (*checks, *more), ceilings
        finally:
            session.close()
    except CandidateError as error:
        failed = Check("device_interface", False, Basis.RAN, error.message)
        return (failed,), None
    finally:
        sessions.close()


def conformance_checks(facts: Sequence[Mapping[str, Any]]) -> tuple[Check, ...]:
    """Turn a child's words about its device into checks."""
    return tuple(
        Check(
            name=f"device.{each['name']}",
            passed=bool(each["passed"]),
            basis=Basis.RAN,
            message=str(each["message"])[:1000],
            number=None if each["number"] is None else float(each["number"]),
            unit=UNITS.get(str(each["name"]), ""),
        )
        for each in facts
    )


def _shared_memory(
    session: Session, given: SharedMemory, answers: SharedMemory
) -> tuple[Check, ...]:
    """Send bytes to the device through shared memory and look at what comes back."""
    sent = (_PERIOD * (_COPY_BYTES // len(_PERIOD) + 1))[:_COPY_BYTES]
    os.pwrite(given.writable, sent, 0)
    record = {"offset": 0, "shape": [_COPY_BYTES], "strides": [1], "dtype": "uint8"}
    answer = session.ask("echo_shared", {"record": record}, seconds=_SECONDS)
    back = os.pread(answers.readable, _COPY_BYTES, int(answer["record"]["offset"]))
    wanted = bytes((each + 1) % 256 for each in _PERIOD)
    expected = (wanted * (_COPY_BYTES // len(wanted) + 1))[:_COPY_BYTES]
    notes = "; ".join(map(str, answer["notes"])) or "pinned"
    return (
        Check(
            "copy.values",
            back == expected,
            Basis.RAN,
            f"{_COPY_BYTES >> 20} MiB there, plus one, and back",
            float(_COPY_BYTES),
            "bytes",
        ),
        copy_rate("copy.to_device", float(answer["in_seconds"]), notes),
        copy_rate("copy.from_device", float(answer["out_seconds"]), notes),
    )


def copy_rate(name: str, seconds: float, notes: str) -> Check:
    """Judge the time that the copy of known bytes took."""
    rate = _COPY_BYTES / seconds if seconds > 0 else 0.0
    words = f"{rate / 1e9:.2f} GB/s; {notes}"
    return Check(name, rate >= _SLOW_LINK, Basis.MEASURED, words, rate, "bytes/s")


def _ceilings(session: Session, device: Device) -> tuple[Ceilings | None, tuple[Check, ...]]:
    try:
        found = ceilings_of(session)
    except (CandidateError, PlatformError) as error:
        failed = Check("ceiling.copy", False, Basis.MEASURED, error.message)
        return None, (failed,)
    return found, ceiling_checks(found, device)


def ceiling_checks(found: Ceilings, device: Device) -> tuple[Check, ...]:
    """Compare measured rates with published ones."""
    rate, published = found.copy_bytes_per_s, device.bandwidth_bytes_per_s
    share = rate / published
    is_possible = _LEAST_COPY_RATE <= rate <= _MOST_COPY_RATE
    copy = Check(
        "ceiling.copy",
        is_possible and _LEAST_SHARE <= share <= _MOST_SHARE,
        Basis.MEASURED,
        f"{rate / 1e9:,.0f} GB/s, {share:.2f} of the {published / 1e9:,.0f} GB/s of {device.title}",
        rate,
        "bytes/s",
    )
    return (copy, *(_product(name, value, device) for name, value in _sorted(found)))


def _sorted(found: Ceilings) -> list[tuple[str, float]]:
    return sorted(found.matrix_flops_per_s.items())


def _product(dtype: str, rate: float, device: Device) -> Check:
    """Judge the rate of a large product; float32 operands may use the nearest format."""
    peaks = [
        device.peak_flops_per_s(name)
        for name in ((dtype, "tf32") if dtype == "float32" else (dtype,))
        if name in device.matrix_flops_per_s or name in device.vector_flops_per_s
    ]
    share = rate / max(peaks) if peaks else None
    is_possible = rate > 0 and (share is None or share <= _MOST_SHARE)
    of_peak = "no peak is published" if share is None else f"{share:.2f} of the published peak"
    words = f"{rate / 1e12:,.1f} TFLOP/s, {of_peak}"
    return Check(f"ceiling.{dtype}", is_possible, Basis.MEASURED, words, rate, "flop/s")
