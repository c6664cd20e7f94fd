"""Axes as digits of mixed-radix numbers: how a writer and a reader come to common axes.

A reader that takes ``p[i, 8*g + c]`` of what a writer wrote at ``p[i, j]`` sees the digits ``g``
and ``c`` of ``j``. Where both indices of each dimension are mixed-radix numbers with each digit
once, they become equal by splitting digits and by naming them alike, and that each point of the
one is one point of the other needs no further proof.
"""

from collections.abc import Mapping

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Quotient
from xeforge.fusion.affine import Remainder
from xeforge.fusion.affine import axis

_FREE = "~"
"""Marks digits of the reader that no digit of the writer has been set equal to."""


class Digits:
    """Axes of a group and of one reader, both in digits. Grows finer; never coarser.

    Args:
        group: Extents of the axes of the group; their names stay unless they are split.
        reader: Extents of the axes of the reader; each becomes digits of the group or stays free.

    Attributes:
        extents: Of each digit.
        group: Each axis of the group in digits.
        reader: Each axis of the reader in digits.
    """

    def __init__(self, group: Mapping[str, int], reader: Mapping[str, int]) -> None:
        self.extents = dict(group)
        self.extents.update({_FREE + name: extent for name, extent in reader.items()})
        self.group = {name: axis(name) for name in group}
        self.reader = {name: axis(_FREE + name) for name in reader}
        self._taken: set[str] = set()

    def free(self) -> tuple[str, ...]:
        """Return the digits of the reader that the group does not have, in order."""
        found = (name for each in self.reader.values() for name in ordered(each))
        return tuple(name for name in found if name.startswith(_FREE))

    def unify(self, written: Affine, read: Affine) -> bool:
        """Set two indices of one dimension equal; say whether that is possible.

        Args:
            written: In axes of the group.
            read: In axes of the reader.
        """
        while True:
            left, right = self._digits(written, self.group), self._digits(read, self.reader)
            if left is None or right is None:
                return False
            differing = [pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]]
            if not differing:
                return len(left) == len(right)
            if not self._closer(*differing[0]):
                return False

    def unify_free(self, columns: Affine, free: Affine) -> bool:
        """Let free digits be the digits of a number that the reader has not read.

        Args:
            columns: In axes of the group.
            free: In free digits.
        """
        rest = {name: axis(name) for name in free.names()}
        self.reader.update(rest)
        is_possible = self.unify(columns, free)
        for name in rest:
            del self.reader[name]
        return is_possible

    def _closer(self, own: str, other: str) -> bool:
        """Split one of two digits, or name the reader's like the group's."""
        wide, narrow = self.extents[own], self.extents[other]
        if wide == narrow:
            if not other.startswith(_FREE) or own in self._taken:
                return False
            self._taken.add(own)
            self._replace(other, axis(own))
            return True
        if wide % narrow == 0:
            self._split(own, narrow)
            return True
        if narrow % wide == 0:
            self._split(other, wide)
            return True
        return False

    def _digits(self, index: Affine, axes: Mapping[str, Affine]) -> tuple[str, ...] | None:
        """Return the digits of an index, lowest first; None when it is no such number."""
        while True:
            current = index.substitute(axes).simplified(self.extents)
            cut = _cut(current, self.extents)
            if cut is None:
                return radix(current, self.extents)
            self._split(*cut)

    def _split(self, digit: str, low: int) -> None:
        high, rest = f"{digit}_0", f"{digit}_1"
        while high in self.extents or rest in self.extents:
            high, rest = high + "_", rest + "_"
        self.extents[high], self.extents[rest] = self.extents[digit] // low, low
        if digit in self._taken:
            self._taken.update((high, rest))
        self._replace(digit, axis(high) * low + axis(rest))

    def _replace(self, digit: str, by: Affine) -> None:
        for axes in (self.group, self.reader):
            for name, value in axes.items():
                axes[name] = value.substitute({digit: by})
        del self.extents[digit]


def ordered(value: Affine) -> tuple[str, ...]:
    """Return the axes of a sum of plain axes, the one with the largest factor first."""
    return tuple(atom for atom, _ in value.terms if isinstance(atom, str))


def radix(value: Affine, extents: Mapping[str, int]) -> tuple[str, ...] | None:
    """Return the axes of a mixed-radix number, lowest first, or None when it is none."""
    if value.constant:
        return None
    names, weight = [], 1
    for atom, times in reversed(value.terms):
        if not isinstance(atom, str) or times != weight:
            return None
        names.append(atom)
        weight *= extents[atom]
    return tuple(names)


def _cut(value: Affine, extents: Mapping[str, int]) -> tuple[str, int] | None:
    """Return a digit and where to split it so that some division in `value` goes away."""
    for atom, _ in value.terms:
        if isinstance(atom, Quotient | Remainder):
            return _cut(atom.of, extents) or _boundary(atom.of, atom.by, extents)
    return None


def _boundary(of: Affine, by: int, extents: Mapping[str, int]) -> tuple[str, int] | None:
    """Return the digit within which a divisor falls, and how much of it lies below."""
    if of.constant:
        return None
    below = 1
    for atom, times in reversed(of.terms):
        if not isinstance(atom, str) or times <= 0 or times % below:
            return None
        extent = extents[atom]
        low = by // times
        if times < by < times * extent:
            return (atom, low) if by % times == 0 and extent % low == 0 else None
        below = times * extent
        if below > by and times < by:
            return None
    return None
