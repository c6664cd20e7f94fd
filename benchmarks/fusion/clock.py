"""Times calls on a card in turn, each with cold caches."""

import statistics
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

FLUSHED_BYTES = 256 << 20
"""More than the last-level cache of any card in `knowledge/devices`."""
_COPIED_BYTES = 1 << 30
_COPIES = 11
_WARM_CALLS = 3
_CYCLES_PER_SECOND = 2e9
_FIRST_DELAY_SECONDS = 3e-4
_MOST_DELAY_SECONDS = 3e-2
Call = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times faster one side is than another.

    Attributes:
        ratio: Of medians.
        low, high: 10 % and 90 % of the ratios of single rounds.
    """

    ratio: float
    low: float
    high: float


class Clock:
    """Measures with the device's own events.

    Args:
        device: Torch's name.

    Attributes:
        late: Calls that the host did not enqueue in time.
    """

    def __init__(self, device: str) -> None:
        # Read, never written: lines that a flush made dirty would be written back at the expense
        # of the call that is timed.
        self._flushed = torch.ones(FLUSHED_BYTES // 4, dtype=torch.int32, device=device)
        self._delay_seconds = _FIRST_DELAY_SECONDS
        self.late = 0

    def once(self, call: Call) -> float:
        """Return microseconds of one call that finds nothing of its own in cache.

        The card is kept busy until the host has enqueued the whole call, so that launching is not
        timed, on no side; a call for which that failed is timed again with a longer delay.
        `late` counts those that stayed late with the longest one: they have host time in them.
        """
        while True:
            self._flushed.max()
            torch.cuda._sleep(int(self._delay_seconds * _CYCLES_PER_SECOND))  # noqa: SLF001
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            was_early = not start.query()
            torch.cuda.synchronize()
            if was_early or self._delay_seconds >= _MOST_DELAY_SECONDS:
                self.late += not was_early
                return float(start.elapsed_time(end)) * 1e3
            self._delay_seconds *= 2

    def copy_bytes_per_s(self) -> float:
        """Return the rate of a large copy, bytes read and written."""
        source = torch.ones(_COPIED_BYTES, dtype=torch.uint8, device=self._flushed.device)
        target = torch.empty_like(source)
        times = self.in_turn({"copy": lambda: target.copy_(source)}, _COPIES)["copy"]
        return 2e6 * _COPIED_BYTES / statistics.median(times)

    def in_turn(self, calls: Mapping[str, Call], rounds: int) -> dict[str, list[float]]:
        """Return microseconds of each call, round by round, every second round backwards."""
        times: dict[str, list[float]] = {name: [] for name in calls}
        for call in calls.values():
            for _ in range(_WARM_CALLS):
                call()
        names = list(calls)
        for turn in range(rounds):
            for name in names if turn % 2 == 0 else names[::-1]:
                times[name].append(self.once(calls[name]))
        return times


def ratio(slower: list[float], faster: list[float]) -> Ratio:
    """Compare times taken in the same rounds."""
    each = sorted(a / b for a, b in zip(slower, faster, strict=True))
    tenth = len(each) // 10
    return Ratio(
        statistics.median(slower) / statistics.median(faster), each[tenth], each[-1 - tenth]
    )


def card_facts(device: str) -> dict[str, str]:
    """Say which card and which releases."""
    facts = {"torch": str(torch.__version__)}
    if device == "cuda":
        import triton  # noqa: PLC0415  only where there is a card

        facts |= {"product": torch.cuda.get_device_name(), "triton": str(triton.__version__)}
        facts |= {"cuda": str(torch.version.cuda), "driver": _driver()}
    return facts


def _driver() -> str:
    lines = open("/proc/driver/nvidia/version", encoding="utf-8").read().split()  # noqa: PTH123, SIM115
    return next((each for each in lines if each.count(".") == 2 and each[0].isdigit()), "")  # noqa: PLR2004
