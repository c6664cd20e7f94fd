"""Sums of what each tap of a sliding window meets, and windows of windows.

A window over an axis reads, at tap t, the places of one stretch: every `step`-th from `start` on.
Sums over all windows are therefore sums over few stretches, which mostly overlap.
"""

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion.algebra.build import Builder
from xeforge.fusion.front.graph import Ref


@dataclass(frozen=True, slots=True)
class Stretch:
    """Every `step`-th place from `start` to before `stop`; `stop` is one behind the last."""

    start: int
    stop: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class Slide:
    """A window that slides over one axis.

    At place i, tap t reads ``i * stride + t * dilation - padding``. A transposed convolution reads
    from its result in this way, and writes to its input.
    """

    kernel: int
    stride: int
    padding: int
    dilation: int

    def met(self, size: int, windows: int) -> list[Stretch] | None:
        """Return the places of `size` that each tap reads; None if some tap reads padding only."""
        found = []
        for first, last, off in self._windows(size, windows):
            if last < first:
                return None
            start, stop = self.stride * first + off, self.stride * last + off + 1
            found.append(Stretch(start, stop, self.stride))
        return found

    def met_by(self, size: int, windows: int) -> list[Stretch] | None:
        """Return the windows in which each tap reads one of `size` places; None as above."""
        found = []
        for first, last, _ in self._windows(size, windows):
            if last < first:
                return None
            found.append(Stretch(first, last + 1))
        return found

    def _windows(self, size: int, windows: int) -> Iterator[tuple[int, int, int]]:
        """Yield, for each tap, the first and last window where it reads a place, and its offset."""
        for tap in range(self.kernel):
            off = tap * self.dilation - self.padding
            first = max(0, -(off // self.stride))
            last = min(windows - 1, (size - 1 - off) // self.stride)
            yield first, last, off


def tap_sums(builder: Builder, value: Ref, axis: int, stretches: Sequence[Stretch]) -> Ref:
    """Replace an axis by the sums over each stretch of it.

    What stretches have in common is summed once; what is left at the borders is added to it, never
    subtracted, so that nothing cancels.
    """
    common: dict[tuple[int, int], Stretch] = {}
    for each in stretches:
        key = each.step, each.start % each.step
        known = common.get(key, each)
        common[key] = Stretch(max(known.start, each.start), min(known.stop, each.stop), each.step)
    sums = [
        _summed(builder, value, axis, each, common[each.step, each.start % each.step])
        for each in stretches
    ]
    if len(sums) == 1:
        return sums[0]
    return builder.op("cat", tuple(sums), axis, dtype=builder.wide)


def _summed(builder: Builder, value: Ref, axis: int, own: Stretch, shared: Stretch) -> Ref:
    if shared.stop <= shared.start:
        return _total(builder, value, axis, own)
    total = _total(builder, value, axis, shared)
    before = Stretch(own.start, shared.start, own.step)
    after = Stretch(shared.stop - 1 + own.step, own.stop, own.step)
    for each in (before, after):
        if each.start < each.stop:
            border = _total(builder, value, axis, each)
            total = builder.op("add", total, border, dtype=builder.wide)
    return total


def _total(builder: Builder, value: Ref, axis: int, own: Stretch) -> Ref:
    part = builder.part(value, axis, own.start, own.stop, own.step)
    return builder.widened(builder.fold("sum", part, (axis,)))
