"""Where a kernel's program stands: axes as text, and which of them lie along blocks."""

import math
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import TypeAlias
from typing import Union

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import Quotient
from xeforge.fusion.emit.triton.text import Lines
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.ir import Axis

_SUM, _PRODUCT, _ATOM = 4, 5, 9


@dataclass(frozen=True, slots=True)
class Unless:
    """The claim that not all of these conditions hold."""

    guard: tuple[Condition, ...]


Claim: TypeAlias = Union[Condition, Unless]


def opposite(guard: tuple[Condition, ...]) -> Claim:
    """Return the claim that holds where these conditions do not all hold."""
    if len(guard) == 1 and guard[0].relation == ">=":
        return Condition(guard[0].of * -1 - 1, ">=")
    return Unless(guard)


def mentioned(claims: Iterable[Claim]) -> Iterator[Affine]:
    """Yield the expressions that claims are about."""
    for each in claims:
        yield from (inner.of for inner in (each.guard if isinstance(each, Unless) else (each,)))


@dataclass(frozen=True, slots=True)
class Span:
    """Axes that share one flattened position.

    Attributes:
        index: Variable that holds the position: an integer, or a block of them.
        axes: Outermost first; the last one runs fastest.
        is_block: Whether the variable is a block.
        inside: Mask text that says which positions exist; None where all do.
        parts: Where lines go that take the position apart.
    """

    index: str
    axes: tuple[Axis, ...]
    is_block: bool
    inside: str | None = None
    parts: Lines = field(default_factory=Lines, compare=False)

    def extent(self) -> int:
        """Return how many positions there are."""
        return math.prod(each.extent for each in self.axes)


class Frame:
    """Prints positions in terms of the variables of a kernel.

    Args:
        names: Of the kernel.
        spans: Each axis lies in one of them.
    """

    def __init__(self, names: Names, spans: Sequence[Span]) -> None:
        self._names = names
        self._parts: dict[tuple[Span, int, int], str] = {}
        self.spans: tuple[Span, ...] = ()
        self.extents: dict[str, int] = {}
        self._homes: dict[str, Span] = {}
        for span in spans:
            self.add(span)

    def add(self, span: Span) -> None:
        """Make more axes known: those of a loop that is being entered."""
        self.spans = (*self.spans, span)
        for axis in span.axes:
            self.extents[axis.name] = axis.extent
            self._homes[axis.name] = span

    def replace(self, old: Span, new: Span) -> None:
        """Put another span of the same axes in the place of one: a chunk, or the next loop's."""
        self.spans = tuple(new if each is old else each for each in self.spans)
        self._homes.update({axis.name: new for axis in new.axes})
        self._parts = {key: name for key, name in self._parts.items() if key[0] != old}

    def blocks(self, values: Iterable[Affine]) -> tuple[Span, ...]:
        """Return the spans along which the block of these values lies."""
        names = {name for each in values for name in each.simplified(self.extents).names()}
        homes = {id(self._homes[name]) for name in names}
        return tuple(each for each in self.spans if each.is_block and id(each) in homes)

    def affine(self, of: Affine, binding: int = 0) -> str:
        """Return an expression as text; in brackets where what stands around binds tighter."""
        of = of.simplified(self.extents)
        terms = [self._term(text, times) for text, times in self._merged(of)]
        if of.constant or not terms:
            terms.append((str(of.constant), _ATOM))
        text = " + ".join(each for each, _ in terms).replace("+ -", "- ")
        own = terms[0][1] if len(terms) == 1 else _SUM
        return f"({text})" if own < binding else text

    def condition(self, of: Claim) -> str:
        """Return a comparison as text, with positive terms on both sides."""
        if isinstance(of, Unless):
            inner = " & ".join(f"({self.condition(each)})" for each in of.guard)
            return f"{inner if len(of.guard) == 1 else f'({inner})'} == 0"
        simple = of.of.simplified(self.extents)
        positive = tuple((atom, times) for atom, times in simple.terms if times > 0)
        negative = tuple((atom, -times) for atom, times in simple.terms if times < 0)
        left = Affine(positive, max(simple.constant, 0))
        right = Affine(negative, max(-simple.constant, 0))
        if not simple.terms:
            return f"{self.spans[0].index} < 0"  # never: bounds would have shown the opposite
        if not left.terms and of.relation == ">=":
            return f"{self.affine(right)} <= {self.affine(left)}"
        return f"{self.affine(left)} {of.relation} {self.affine(right)}"

    def needed(self, conditions: Iterable[Claim]) -> tuple[Claim, ...]:
        """Return the claims that bounds alone do not settle, each once."""
        kept = (
            each
            for each in conditions
            if isinstance(each, Unless) or not each.always_holds(self.extents)
        )
        return tuple(dict.fromkeys(kept))

    def _merged(self, of: Affine) -> list[tuple[str, int]]:
        """Return text and factor of each term; neighbouring axes become one position."""
        plain = {atom: times for atom, times in of.terms if isinstance(atom, str)}
        found: list[tuple[str, int]] = []
        for span in self.spans:
            axes = [each for each in span.axes if each.extent > 1]
            first = 0
            while first < len(axes):
                if axes[first].name not in plain:
                    first += 1
                    continue
                last = first
                while last + 1 < len(axes) and _continues(plain, axes[last], axes[last + 1]):
                    last += 1
                part = self._part(span, axes[first], axes[last])
                found.append((part, plain[axes[last].name]))
                first = last + 1
        for atom, times in of.terms:
            if not isinstance(atom, str):
                sign = "//" if isinstance(atom, Quotient) else "%"
                found.append((f"({self._divided(atom.of, atom.by, sign)})", times))
        return found

    def _divided(self, of: Affine, by: int, sign: str) -> str:
        """Divide rounding down; kernels round towards zero, so what is divided is made positive."""
        low, _ = of.interval(self.extents)
        turns = max(0, -(low // by))
        text = f"{self.affine(of + turns * by, _PRODUCT)} {sign} {by}"
        return f"{text} - {turns}" if turns and sign == "//" else text

    def _term(self, text: str, times: int) -> tuple[str, int]:
        if times == 1:
            return text, _ATOM
        return (f"-{text}", _PRODUCT) if times == -1 else (f"{text} * {times}", _PRODUCT)

    def _part(self, span: Span, first: Axis, last: Axis) -> str:
        """Return the variable that holds the position along neighbouring axes of a span."""
        axes = [each for each in span.axes if each.extent > 1]
        start, end = axes.index(first), axes.index(last)
        if start == 0 and end == len(axes) - 1:
            return span.index
        key = (span, start, end)
        if key not in self._parts:
            after = math.prod(each.extent for each in axes[end + 1 :])
            text = span.index if after == 1 else f"{span.index} // {after}"
            if start > 0:
                text += f" % {math.prod(each.extent for each in axes[start : end + 1])}"
            name = self._names.fresh("_".join(each.name for each in axes[start : end + 1]))
            span.parts.add(f"{name} = {text}")
            self._parts[key] = name
        return self._parts[key]


def _continues(plain: Mapping[str, int], outer: Axis, inner: Axis) -> bool:
    """Say whether two neighbouring axes step through an expression as one would."""
    return plain.get(inner.name, 0) * inner.extent == plain[outer.name]
