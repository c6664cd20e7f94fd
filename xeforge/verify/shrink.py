"""Makes a workload small enough for Triton's interpreter, keeping its ragged remainders."""

from dataclasses import dataclass

from xeforge.domain.problem import Workload
from xeforge.verify.resize import Sizes
from xeforge.verify.resize import element_count
from xeforge.verify.resize import relations_of
from xeforge.verify.resize import repaired
from xeforge.verify.resize import resized
from xeforge.verify.resize import sizes_of
from xeforge.verify.resize import work_proxy

_GRANULE = 16
_FLOORS = (16, 4, 1)
"""Least sizes, tried in turn: below 16 only when many dimensions leave no other way."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one case may cost.

    Attributes:
        elements: Of all inputs together.
        work: Product of the three largest sizes.
    """

    elements: int
    work: int


INTERPRETED = Budget(elements=2**18, work=2**24)
"""About a second in Triton's interpreter (a 512-cubed product takes one to four)."""
SMALL = Budget(elements=2**16, work=2**21)
"""A fraction of a second: for the many ragged and special cases."""


def fits(workload: Workload, budget: Budget) -> bool:
    """Say whether a workload costs no more than the budget."""
    return element_count(workload) <= budget.elements and work_proxy(workload) <= budget.work


def shrunk(workload: Workload, budget: Budget) -> Workload:
    """Halve the largest dimensions until the workload fits, or no dimension can shrink further.

    Each halving keeps the remainder modulo 16, so that what was ragged stays ragged; equal
    sizes shrink together and products between sizes are kept.
    """
    sizes = sizes_of(workload)
    relations = relations_of(sizes)
    original = dict(sizes)
    current = workload
    for floor in _FLOORS:
        stuck: set[str] = set()
        while not fits(current, budget):
            free = [name for name in sizes if name not in stuck and sizes[name] > floor]
            if not free:
                break
            name = max(free, key=lambda each: sizes[each])
            twins = {each for each in sizes if original[each] == original[name]}
            halved = {**sizes, **{each: _half(sizes[each], floor) for each in twins}}
            new = repaired(halved, relations, twins)
            if new is None or not _is_smaller(new, sizes):
                stuck.add(name)
                continue
            sizes = new
            current = resized(workload, sizes)
    return current


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
