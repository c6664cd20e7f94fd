"""Axes of a graph at other sizes: which are free, which follow, and which must agree."""

from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import TypeAlias

from xeforge.errors import UserError

Variable: TypeAlias = tuple[str, int]
"""An axis of something given: its name and the position."""

_LEAST = 3


class CannotShrink(UserError):
    """No consistent small sizes were found."""

    code = "cannot_shrink"


class Retry(Exception):
    """Sizes have been changed; the graph is to be walked again."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of one value.

    Attributes:
        size: Now.
        full: In the graph as captured.
        variable: The free size that it is; None where it is computed.
        needs: Free sizes that it depends on.
        parts: Axes that were merged into it.
    """

    size: int
    full: int
    variable: Variable | None = None
    needs: frozenset[Variable] = frozenset()
    parts: tuple["Axis", ...] = ()


ONE = Axis(1, 1)


@dataclass(slots=True)
class Sizes:
    """Sizes tried so far; each conflict changes some of them and asks for another walk."""

    chosen: dict[Variable, int] = field(default_factory=dict)
    limits: dict[Variable, int] = field(default_factory=dict)
    same_as: dict[Variable, Variable] = field(default_factory=dict)
    behind: dict[Variable, frozenset[Variable]] = field(default_factory=dict)

    def axis(self, name: str, place: int, full: int) -> Axis:
        """Return an axis of something given; size 1 stays."""
        if full == 1:
            return ONE
        variable = self._first((name, place))
        if variable not in self.chosen:
            self.chosen[variable] = min(full, _LEAST + len(self.chosen) % 2)
            self.limits[variable] = full
        needs = self.behind.get(variable, frozenset({variable}))
        return Axis(self.chosen[variable], full, variable, needs)

    def agree(self, axes: Iterable[Axis]) -> Axis:
        """Return what axes are that must have one size; those of size 1 broadcast.

        Raises:
            Retry: Sizes were changed so that they agree.
            CannotShrink: They never do.
        """
        wide = [each for each in axes if each.full != 1]
        if not wide:
            return ONE
        kept = next((each for each in wide if each.variable is None), wide[0])
        for each in wide:
            self._match(each, kept)
        return kept

    def _match(self, own: Axis, kept: Axis) -> None:
        if own.full != kept.full:
            raise CannotShrink(f"axes of {own.full} and {kept.full} should be equal")
        if own.variable is not None and kept.variable is not None:
            if own.variable != kept.variable:
                self.same_as[own.variable] = kept.variable
                raise Retry
        elif own.variable is not None:
            self.set(own, kept.size, kept.needs)
        elif [each.full for each in own.parts] == [each.full for each in kept.parts] != []:
            for pair in zip(own.parts, kept.parts, strict=True):
                self.agree(pair)
        elif own.size != kept.size:
            raise CannotShrink(f"two axes of {own.full} are computed in different ways")

    def set(self, own: Axis, size: int, needs: frozenset[Variable] = frozenset()) -> None:
        """Give an axis a size.

        Raises:
            Retry: It had another one.
            CannotShrink: It is computed.
        """
        if own.size == size:
            return
        if own.variable is None:
            raise CannotShrink(f"an axis of {own.full} would have to be {size}")
        self.chosen[own.variable] = size
        self.behind[own.variable] = needs
        raise Retry

    def grow(self, axes: Sequence[Axis]) -> None:
        """Enlarge what axes depend on by one.

        Raises:
            Retry: Always, unless nothing can grow.
            CannotShrink: Nothing can.
        """
        needs = sorted({self._first(each) for axis in axes for each in axis.needs})
        able = [each for each in needs if self.chosen[each] < self.limits[each]]
        if not able:
            raise CannotShrink("a window needs all of an axis that follows another one")
        for each in able:
            self.chosen[each] += 1
        raise Retry

    def _first(self, variable: Variable) -> Variable:
        while variable in self.same_as:
            variable = self.same_as[variable]
        return variable
