"""Makes a workload small enough for Triton's interpreter, keeping its ragged remainders."""

from dataclasses import dataclass
from math import prod

from xeforge.domain.problem import Workload
from xeforge.verify.resize import Sizes
from xeforge.verify.resize import element_count
from xeforge.verify.resize import relations_of
from xeforge.verify.resize import repaired
from xeforge.verify.resize import resized
from xeforge.verify.resize import sizes_of
from xeforge.verify.resize import work_proxy

_GRANULE = 16
_INNER_SHARE = 1 / 8
"""Innermost sizes count this much when the largest is sought: kernels loop over them in blocks,
and a row that fits one block would leave the loop untried."""
_BATCH_SHARE = 64
"""Batch sizes only repeat what one matrix needs, so they go first."""
_BATCH_FLOOR = 4
_FLOORS = (16, 4, 1)
"""Least sizes, tried in turn: below 16 only when many dimensions leave no other way."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one case may cost.

    Attributes:
        elements: Of all inputs together; one of them may have half of it.
        work: Product of the three largest sizes.
    """

    elements: int
    work: int


INTERPRETED = Budget(elements=2**17, work=2**22)
"""About a second in Triton's interpreter even with tiles of 32 (it takes some milliseconds for
each step of each tile), checks of every access included."""
SMALL = Budget(elements=2**15, work=2**19)
"""A fraction of a second: for the many ragged and special cases."""


def fits(workload: Workload, budget: Budget) -> bool:
    """Say whether a workload costs no more than the budget."""
    largest = max((prod(spec.shape) for spec in workload.inputs), default=0)
    elements = max(element_count(workload), 2 * largest)
    return elements <= budget.elements and work_proxy(workload) <= budget.work


def shrunk(workload: Workload, budget: Budget) -> Workload:
    """Halve the largest dimensions until the workload fits, or no dimension can shrink further.

    Each halving keeps the remainder modulo 16, so that what was ragged stays ragged; equal
    sizes shrink together and products between sizes are kept. Outer dimensions go first: they
    only repeat what one program does.
    """
    weights = _weights(workload)
    sizes = sizes_of(workload)
    relations = relations_of(workload)
    original = dict(sizes)
    current = workload
    for usual in _FLOORS:
        floors = {
            name: min(usual, _BATCH_FLOOR) if weights.get(name) == _BATCH_SHARE else usual
            for name in sizes
        }
        stuck: set[str] = set()
        while not fits(current, budget):
            free = [each for each in sizes if each not in stuck and sizes[each] > floors[each]]
            if not free:
                break
            name = max(free, key=lambda each: sizes[each] * weights.get(each, 1))
            twins = {each for each in sizes if original[each] == original[name]}
            halved = {**sizes, **{each: _half(sizes[each], floors[name]) for each in twins}}
            new = repaired(halved, relations, twins)
            if new is None or not _is_smaller(new, sizes):
                stuck.add(name)
                continue
            sizes = new
            current = resized(workload, sizes)
    return current


def _weights(workload: Workload) -> dict[str, float]:
    """Return how much a dimension's size counts when the one to halve is sought; usually 1.

    Innermost: last wherever it occurs. Batch: before a matrix wherever it occurs, and no
    constructor argument, which channels of an image are.
    """
    places: dict[str, set[int]] = {}
    for spec in workload.inputs:
        for place, name in enumerate(reversed(spec.dims)):
            places.setdefault(name, set()).add(place)
    inner = {name: _INNER_SHARE for name, found in places.items() if found == {0}}
    batch = {
        name: float(_BATCH_SHARE)
        for name, found in places.items()
        if min(found) > 1 and name not in workload.init_dims
    }
    return inner | batch


def _half(size: int, floor: int) -> int:
    granules, rest = divmod(size, _GRANULE)
    if granules > 1:
        return granules // 2 * _GRANULE + rest
    if floor >= _GRANULE:
        return size
    # Below two granules only the parity can be kept.
    return max(floor, (size // 2) | (size & 1))


def _is_smaller(new: Sizes, old: Sizes) -> bool:
    return all(new[name] <= old[name] for name in old) and new != old
