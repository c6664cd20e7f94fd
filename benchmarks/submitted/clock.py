"""Times calls one by one: cold caches, a full queue, sides taken in turn."""

import time
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Protocol

import torch

Call = Callable[..., Any]
Redraw = Callable[[int], Sequence[Any]]

_CACHES_PER_FLUSH = 4
"""The flush reads this many times the size of the last cache."""
_LEAST_FILL_SECONDS = 100e-6
_FILL_PER_HOST_SECOND = 2.0
_SPIN_CYCLES_PER_SECOND = 2.0e9
"""At least the fastest clock of the cards we know, so that the fill is never too short."""


class Clock(Protocol):
    """Measures the time from the start of a call to the end of its work."""

    def sample(self, call: Call, inputs: Sequence[Any], host_seconds: float) -> Callable[[], float]:
        """Enqueue one timed call; the returned function gives its seconds after `settle`."""
        ...

    def settle(self) -> None:
        """Wait until everything enqueued is done."""
        ...


class CudaClock:
    """Events on the current stream; the last cache is filled with other lines before each call.

    They are read and not written: the timed call would pay for writing them back.
    """

    def __init__(self) -> None:
        properties = torch.cuda.get_device_properties(0)
        size = max(int(properties.L2_cache_size), 1 << 20) * _CACHES_PER_FLUSH
        self._flush = torch.ones(size // 4, dtype=torch.int32, device="cuda")

    def sample(self, call: Call, inputs: Sequence[Any], host_seconds: float) -> Callable[[], float]:
        """Enqueue flush, filler, start, call, end.

        Args:
            call: Side to time.
            inputs: Its arguments.
            host_seconds: Time the host needs to enqueue the call; the filler outlasts it, so that
                the device never waits for the host within the measured span.
        """
        start, end = _event(), _event()
        self._flush.max()
        fill = max(_LEAST_FILL_SECONDS, _FILL_PER_HOST_SECOND * host_seconds)
        spin: Any = torch.cuda._sleep  # noqa: SLF001 - the one spin kernel torch has
        spin(int(fill * _SPIN_CYCLES_PER_SECOND))
        start.record()
        call(*inputs)
        end.record()
        return lambda: float(start.elapsed_time(end)) * 1e-3

    def settle(self) -> None:
        """Wait for the device."""
        torch.cuda.synchronize()


def _event() -> Any:
    make: Any = torch.cuda.Event
    return make(enable_timing=True)


class HostClock:
    """Wall time of the call; for trying the benchmark out where there is no device."""

    def sample(self, call: Call, inputs: Sequence[Any], host_seconds: float) -> Callable[[], float]:
        """Call at once and keep the time."""
        del host_seconds
        started = time.perf_counter()
        call(*inputs)
        seconds = time.perf_counter() - started
        return lambda: seconds

    def settle(self) -> None:
        """Nothing is ever pending."""


def alternate(
    clock: Clock, sides: Mapping[str, Call], redraw: Redraw, *, rounds: int, seconds: float
) -> dict[str, list[float]]:
    """Time all sides in turn on the same fresh inputs; return seconds per side and round.

    The order rotates and reverses from round to round, so that no side always follows another.

    Args:
        clock: How a call is timed.
        sides: Warmed up already.
        redraw: Gives the inputs of a round.
        rounds: At most so many; at least a fifth of it even when the time is up.
        seconds: Wall time after which no new round is begun.
    """
    host_seconds = {name: _host_seconds(clock, call, redraw(0)) for name, call in sides.items()}
    names = list(sides)
    times: dict[str, list[float]] = {name: [] for name in names}
    started = time.perf_counter()
    for index in range(rounds):
        if time.perf_counter() - started > seconds and index >= max(1, rounds // 5):
            break
        shift = index % len(names)
        order = names[shift:] + names[:shift]
        inputs = redraw(index)
        pending = [
            (name, clock.sample(sides[name], inputs, host_seconds[name]))
            for name in (reversed(order) if index % 2 else order)
        ]
        clock.settle()
        for name, read in pending:
            times[name].append(read())
    return times


def _host_seconds(clock: Clock, call: Call, inputs: Sequence[Any]) -> float:
    """Return how long the host needs to enqueue a call."""
    clock.settle()
    started = time.perf_counter()
    call(*inputs)
    seconds = time.perf_counter() - started
    clock.settle()
    return seconds
