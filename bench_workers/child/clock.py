"""Times one call: cold caches, host ahead of the device, two clocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

_DEFAULT_CACHE_BYTES = 64 << 20
_FIRST_FILLER_SECONDS = 200e-6
_MOST_FILLER_SECONDS = 20e-3


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed call.

    Attributes:
        device_seconds: Between events before and after the call.
        whole_seconds: From the same start until the whole device was idle, the host's wait
            included; work on other streams shows here.
        is_clean: Whether the host was ahead, so that no gap between launches was timed.
    """

    device_seconds: float
    whole_seconds: float
    is_clean: bool


class SampleClock:
    """Flushes, fills the queue, and times.

    Args:
        device: Where to time.
        cache_bytes: Size of the last-level cache; 0: not known.
    """

    def __init__(self, device: Any, cache_bytes: int) -> None:
        self._device = device
        self._delay = device.delay()
        self._filler_seconds = _FIRST_FILLER_SECONDS
        size = 2 * (cache_bytes or _DEFAULT_CACHE_BYTES)
        device.allow_no_persisting_cache()
        self._flush = torch.ones(size // 4, dtype=torch.int32, device=device.name)

    def flush(self) -> None:
        """Push everything out of the last-level cache.

        Reading leaves clean lines: after a write, the timed call would pay for writing them back.
        """
        self._flush.max()

    def _fill_queue(self) -> None:
        """Keep the device busy while the host enqueues the call."""
        if self._delay is not None:
            self._delay(self._filler_seconds)
        else:
            self.flush()

    def cold(self, call: Callable[[], Any]) -> tuple[Any, Sample]:
        """Time a call with cold caches; what was enqueued before stays outside the window."""
        self._device.reset_persisting_cache()
        self.flush()
        self._fill_queue()
        return self._timed(call)

    def warm(self, call: Callable[[], Any]) -> tuple[Any, Sample]:
        """Time a call with caches as the previous one left them."""
        if self._delay is not None:
            self._delay(self._filler_seconds)
        return self._timed(call)

    def _timed(self, call: Callable[[], Any]) -> tuple[Any, Sample]:
        start, end, idle = self._device.event(), self._device.event(), self._device.event()
        start.record()
        result = call()
        is_clean = not _has_passed(start)
        end.record()
        self._device.synchronize()
        idle.record()
        self._device.synchronize()
        if not is_clean:
            self._filler_seconds = min(2 * self._filler_seconds, _MOST_FILLER_SECONDS)
        milliseconds, whole = start.elapsed_time(end), start.elapsed_time(idle)
        return result, Sample(milliseconds / 1e3, whole / 1e3, is_clean)


def _has_passed(event: Any) -> bool:
    """Whether the device has already reached an event; never so where the host itself works."""
    query = getattr(event, "query", None)
    return bool(query()) if query is not None else False
