"""Tries everything that a session needs of its device, one fact per check.

The same lines run on a card (`xeforge doctor --accept`) and, in tests, on doubles that record
what they are asked. Nothing is assumed: what a backend does not offer is said to be so.
"""

import itertools
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import probing
from clock import SampleClock

_MIB = 1 << 20
_ROOM_BYTES = 64 * _MIB
_LEAST_MEMORY_BYTES = 1 << 30
_MOST_UNITS = 4096
_EVENTS = 6
_DELAY_SECONDS = 2e-3
_DELAY_FACTOR = 5.0
_TRIES = 10
_SUM_SLACK = 0.05
_SUM_SLACK_MS = 0.05

Fact = tuple[bool, float | None, str]
"""Whether it is as needed, the number behind it, and words."""


def properties(device: Any) -> Fact:
    """Is what the driver reports about the unit plausible?"""
    found = device.properties()
    unlikely = [
        name
        for name, is_plausible in (
            ("product", bool(found["product"])),
            ("memory_bytes", found["memory_bytes"] >= _LEAST_MEMORY_BYTES),
            ("l2_bytes", 0 < found["l2_bytes"] < found["memory_bytes"]),
            ("compute_units", 1 <= found["compute_units"] <= _MOST_UNITS),
        )
        if not is_plausible
    ]
    words = ", ".join(f"{name} is {found[name]!r}" for name in unlikely)
    listed = f"{found['product']}: {found['compute_units']} units, L2 {found['l2_bytes']} bytes"
    return not unlikely, float(found["memory_bytes"]), words or listed


def units(device: Any) -> Fact:
    """Is every unit listed?"""
    found = device.all_properties()
    return bool(found), float(len(found)), ", ".join(each["product"] for each in found)


def events(device: Any) -> Fact:
    """Do times between events grow with the work, and do the pieces add up?"""
    work = device.torch.ones(_ROOM_BYTES // 4, dtype=device.torch.int32, device=device.name)
    marks = [device.event() for _ in range(_EVENTS)]
    for mark in marks:
        mark.record()
        work.add_(1)
    device.synchronize()
    pieces = [one.elapsed_time(other) for one, other in itertools.pairwise(marks)]
    whole = marks[0].elapsed_time(marks[-1])
    is_adding_up = abs(sum(pieces) - whole) <= max(_SUM_SLACK * whole, _SUM_SLACK_MS)
    is_growing = all(each > 0 for each in pieces)
    words = f"pieces of {', '.join(f'{each:.4f}' for each in pieces)} ms, {whole:.4f} ms together"
    return is_growing and is_adding_up, whole / 1e3, words


def synchronize(device: Any) -> Fact:
    """Has the device reached an event once synchronising returned?"""
    work = device.torch.ones(_ROOM_BYTES // 4, dtype=device.torch.int32, device=device.name)
    end = device.event()
    for _ in range(_EVENTS):
        work.add_(1)
    end.record()
    began = time.perf_counter()
    device.synchronize()
    waited = time.perf_counter() - began
    query = getattr(end, "query", None)
    is_done = bool(query()) if query is not None else not device.is_accelerator
    words = f"waited {waited * 1e3:.3f} ms, then the event was " + ("" if is_done else "NOT ")
    return is_done, waited, f"{words}reached"


def memory(device: Any) -> Fact:
    """Is memory counted when it is taken, and given back when it is not needed?"""
    module = device.module
    device.empty_cache()
    before = module.memory_allocated(), module.memory_reserved()
    room = device.torch.empty(_ROOM_BYTES, dtype=device.torch.uint8, device=device.name)
    taken = module.memory_allocated() - before[0]
    del room
    kept = module.memory_allocated() - before[0]
    device.empty_cache()
    held = module.memory_reserved() - before[1]
    words = f"took {taken}, kept {kept} after its end and {held} in the cache, bytes"
    return taken >= _ROOM_BYTES and kept == 0 and held <= 0, float(taken), words


def delay(device: Any) -> Fact:
    """Can the queue be kept busy, by a sleep kernel or, without one, by flushing the cache?"""
    sleep = device.delay()
    start, end = device.event(), device.event()
    if sleep is None:
        clock = SampleClock(device, device.properties()["l2_bytes"])
        clock.flush()
        start.record()
        clock.flush()
        end.record()
        device.synchronize()
        seconds = start.elapsed_time(end) / 1e3
        return seconds > 0, seconds, "no sleep kernel: the queue is filled by flushing the cache"
    sleep(_DELAY_SECONDS)
    start.record()
    sleep(_DELAY_SECONDS)
    end.record()
    device.synchronize()
    seconds = start.elapsed_time(end) / 1e3
    is_near = _DELAY_SECONDS / _DELAY_FACTOR <= seconds <= _DELAY_SECONDS * _DELAY_FACTOR
    return is_near, seconds, f"a sleep of {_DELAY_SECONDS * 1e3:g} ms took {seconds * 1e3:.3f} ms"


def host_ahead(device: Any) -> Fact:
    """Does the clock find a filler so long that the host is ahead of the device?"""
    clock = SampleClock(device, device.properties()["l2_bytes"])
    work = device.torch.ones(_ROOM_BYTES // 4, dtype=device.torch.int32, device=device.name)
    for number in range(1, _TRIES + 1):
        _, sample = clock.cold(lambda: work.add_(1))
        if sample.is_clean:
            is_ordered = 0 < sample.device_seconds <= sample.whole_seconds
            words = f"clean after {number} samples; two clocks: {sample.device_seconds * 1e6:.1f}"
            return (
                is_ordered,
                float(number),
                f"{words} and {sample.whole_seconds * 1e6:.1f} us",
            )
    return False, float(_TRIES), "the host was never ahead, so gaps between launches were timed"


def arithmetic(device: Any) -> Fact:
    """Does it compute known values, and do they survive the way there and back?"""
    wrong = probing.computes(device)
    return not wrong, None, wrong or "known values are computed and come back right"


CHECKS: tuple[tuple[str, Callable[[Any], Fact], bool], ...] = (
    ("properties", properties, True),
    ("units", units, True),
    ("events", events, False),
    ("synchronize", synchronize, False),
    ("memory", memory, True),
    ("delay", delay, True),
    ("host_ahead", host_ahead, False),
    ("arithmetic", arithmetic, False),
)
"""Name, check, and whether it needs an accelerator."""


def facts(device: Any) -> Iterator[dict[str, Any]]:
    """Run every check that applies to the device; none stops the others."""
    for name, check, needs_accelerator in CHECKS:
        if needs_accelerator and not device.is_accelerator:
            continue
        try:
            passed, number, message = check(device)
        except Exception as error:
            passed, number, message = False, None, f"{type(error).__name__}: {error}"[:1000]
        yield {"name": name, "passed": bool(passed), "number": number, "message": message}


def _conform(session: Any, _payload: dict[str, Any]) -> dict[str, Any]:
    """Run all checks on this child's device."""
    return {"facts": list(facts(session.device))}


def _echo_shared(session: Any, payload: dict[str, Any]) -> dict[str, Any]:
    """Copy bytes from shared memory to the device, add one to each, and copy them back.

    Answers seconds of both ways, and why the memory is not pinned where it is not. The first
    time maps and pins it, so the second counts.
    """
    device = session.device
    record = payload["record"]
    session.answers.put(session.given.copy_out(record, device.name), 0, keep_strides=False)
    device.synchronize()
    began = time.perf_counter()
    there = session.given.copy_out(record, device.name)
    device.synchronize()
    arrived = time.perf_counter()
    there.add_(1)
    device.synchronize()
    computed = time.perf_counter()
    answer, _ = session.answers.put(there, 0, keep_strides=False)
    device.synchronize()
    returned = time.perf_counter()
    return {
        "record": answer,
        "in_seconds": arrived - began,
        "out_seconds": returned - computed,
        "notes": [each for each in (session.given.note, session.answers.note) if each],
    }


OPERATIONS = {"conform": _conform, "echo_shared": _echo_shared}
