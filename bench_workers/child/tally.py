"""Adds up what the interpreted programs of one launch do."""

import bisect
import time
from collections import Counter
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np


class TooSlow(Exception):
    """One program takes longer to interpret than the whole launch may."""


@dataclass(frozen=True, slots=True)
class Region:
    """Memory that tensors of a launch share.

    Attributes:
        start, end: Half-open range of addresses.
        size_bytes: Bytes that the tensors can reach, at most the length of the range.
    """

    start: int
    end: int
    size_bytes: int


def regions_of(tensors: list[Any]) -> list[Region]:
    """Return the memory of a launch's tensors; views that overlap become one region."""
    spans = []
    for tensor in tensors:
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        if any(size == 0 for size in sizes):
            continue
        width = tensor.element_size()
        reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
        distinct = width
        for size, stride in zip(sizes, strides, strict=True):
            distinct *= size if stride else 1
        start = tensor.data_ptr()
        spans.append(Region(start, start + (reach + 1) * width, distinct))
    merged: list[Region] = []
    for span in sorted(spans, key=lambda each: each.start):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            end = max(last.end, span.end)
            size = min(last.size_bytes + span.size_bytes, end - last.start)
            merged.append(Region(last.start, end, size))
        else:
            merged.append(span)
    return merged


@dataclass(slots=True)
class Tally:
    """Sums over the interpreted programs of one launch.

    Attributes:
        regions: Memory of the launch's tensors, ascending.
        ends_at_seconds: Value of ``time.perf_counter`` at which interpreting is given up.
        loaded, stored: Bytes of active lanes by region; -1: elsewhere.
        dot, vector: Operations by torch dtype.
        steps: Memory accesses and matrix products so far: how long interpreting took, in a unit
            that is the same on every machine.
    """

    regions: list[Region]
    ends_at_seconds: float
    loaded: Counter[int] = field(default_factory=Counter)
    stored: Counter[int] = field(default_factory=Counter)
    dot: Counter[str] = field(default_factory=Counter)
    vector: Counter[str] = field(default_factory=Counter)
    steps: int = 0

    def access(self, sums: Counter[int], addresses: Any, mask: Any, width: int) -> None:
        """Count the active lanes of one memory access.

        Raises:
            TooSlow: The time is used up.
        """
        self.steps += 1
        if time.perf_counter() > self.ends_at_seconds:
            raise TooSlow("a program of this launch does not end within the time for counting")
        if mask is None:
            active = addresses.size
            first = addresses.flat[0] if active else 0
        else:
            lanes = np.broadcast_to(mask, addresses.shape)
            active = int(np.count_nonzero(lanes))
            first = addresses.flat[int(lanes.argmax())] if active else 0
        if active:
            sums[self._region(int(first))] += active * width

    def _region(self, address: int) -> int:
        index = bisect.bisect_right(self.regions, address, key=lambda each: each.start) - 1
        return index if index >= 0 and address < self.regions[index].end else -1

    def work(self, kernel: str, programs: int, interpreted: int) -> dict[str, Any]:
        """Return the fields of ``KernelWork`` for the whole launch."""
        factor = programs / max(1, interpreted)
        return {
            "kernel": kernel,
            "programs": programs,
            "loaded_bytes": factor * self.loaded.total(),
            "stored_bytes": factor * self.stored.total(),
            "unique_bytes": self._unique(self.loaded, factor) + self._unique(self.stored, factor),
            "dot_flops": {name: factor * count for name, count in self.dot.items()},
            "vector_flops": {name: factor * count for name, count in self.vector.items()},
        }

    def _unique(self, sums: Counter[int], factor: float) -> float:
        return sum(
            min(factor * count, self.regions[index].size_bytes) if index >= 0 else factor * count
            for index, count in sums.items()
        )
