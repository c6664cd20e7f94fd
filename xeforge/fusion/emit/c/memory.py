"""Where stored intermediates live: one block of memory, with room given again when it is free."""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.ir import Array
from xeforge.fusion.plan import Plan

ALIGNMENT_BYTES = 64


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of intermediates.

    Attributes:
        offsets: In bytes, by name.
        size_bytes: Of everything.
    """

    offsets: Mapping[str, int]
    size_bytes: int


def aligned(size_bytes: int) -> int:
    """Round up to whole cache lines."""
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def size_bytes(array: Array) -> int:
    """Return the storage of an array, in whole cache lines."""
    count = number(array.dtype).size_bytes
    for size in array.shape:
        count *= size
    return aligned(count)


def lay_out(plan: Plan) -> Layout:
    """Give each stored intermediate the lowest place that is free while it lives.

    An array lives from the group that writes it to the last group that reads it, both included.
    """
    arrays = plan.program.arrays_by_name()
    last = {name: at for at, group in enumerate(plan.groups) for name in group.given()}
    offsets: dict[str, int] = {}
    alive: dict[str, int] = {}
    end = 0
    for at, group in enumerate(plan.groups):
        for name in group.stored:
            if arrays[name].role != "intermediate":
                continue
            offsets[name] = _lowest(alive, offsets, arrays, size_bytes(arrays[name]))
            alive[name] = last.get(name, at)
            end = max(end, offsets[name] + size_bytes(arrays[name]))
        alive = {name: until for name, until in alive.items() if until > at}
    return Layout(offsets, end)


def _lowest(
    alive: Mapping[str, int],
    offsets: Mapping[str, int],
    arrays: Mapping[str, Array],
    wanted: int,
) -> int:
    place = 0
    for name in sorted(alive, key=lambda each: offsets[each]):
        if offsets[name] - place >= wanted:
            return place
        place = max(place, offsets[name] + size_bytes(arrays[name]))
    return place
