"""Quasi-affine integer expressions in the axes of a statement, and conditions over them."""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Any
from typing import Literal
from typing import TypeAlias
from typing import Union


@dataclass(frozen=True, slots=True)
class Quotient:
    """``floor(of / by)``.

    Attributes:
        of: Dividend; may be negative.
        by: Positive.
    """

    of: "Affine"
    by: int

    def __str__(self) -> str:
        return f"{_bracketed(self.of)} // {self.by}"


@dataclass(frozen=True, slots=True)
class Remainder:
    """``of - by * floor(of / by)``: never negative.

    Attributes:
        of: Dividend; may be negative.
        by: Positive.
    """

    of: "Affine"
    by: int

    def __str__(self) -> str:
        return f"{_bracketed(self.of)} % {self.by}"


Atom: TypeAlias = Union[str, Quotient, Remainder]
"""The name of an axis, or a division by a number."""


@dataclass(frozen=True, slots=True)
class Affine:
    """A sum of atoms times integers, plus an integer. Equal sums compare equal.

    Attributes:
        terms: Atom and nonzero factor, each atom once, in a fixed order.
        constant: The rest.
    """

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __add__(self, other: "Affine | int") -> "Affine":
        right = _as_affine(other)
        return _sum((*self.terms, *right.terms), self.constant + right.constant)

    def __sub__(self, other: "Affine | int") -> "Affine":
        return self + _as_affine(other) * -1

    def __mul__(self, factor: int) -> "Affine":
        return _sum(
            tuple((atom, times * factor) for atom, times in self.terms), self.constant * factor
        )

    def __floordiv__(self, by: int) -> "Affine":
        _check_divisor(by)
        if by == 1:
            return self
        if not self.terms:
            return Affine(constant=self.constant // by)
        return Affine(((Quotient(self, by), 1),))

    def __mod__(self, by: int) -> "Affine":
        _check_divisor(by)
        if by == 1 or not self.terms:
            return Affine(constant=self.constant % by)
        return Affine(((Remainder(self, by), 1),))

    def __str__(self) -> str:
        parts = [_term(atom, times) for atom, times in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")

    def names(self) -> frozenset[str]:
        """Return the axes that occur in it."""
        return frozenset(_names(self))

    def single_axis(self) -> str | None:
        """Return the axis when the expression is just that axis, else None."""
        if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1:
            atom = self.terms[0][0]
            return atom if isinstance(atom, str) else None
        return None

    def substitute(self, values: Mapping[str, "Affine"]) -> "Affine":
        """Replace axes by expressions; axes that are not named stay."""
        total = Affine(constant=self.constant)
        for atom, times in self.terms:
            if isinstance(atom, str):
                total = total + values.get(atom, axis(atom)) * times
            elif isinstance(atom, Quotient):
                total = total + (atom.of.substitute(values) // atom.by) * times
            else:
                total = total + (atom.of.substitute(values) % atom.by) * times
        return total

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Compute it from integers, or from integer arrays that broadcast."""
        total: Any = self.constant
        for atom, times in self.terms:
            if isinstance(atom, str):
                total = total + values[atom] * times
            elif isinstance(atom, Quotient):
                total = total + (atom.of.evaluate(values) // atom.by) * times
            else:
                total = total + (atom.of.evaluate(values) % atom.by) * times
        return total

    def interval(self, extents: Mapping[str, int]) -> tuple[int, int]:
        """Return bounds, both inclusive, for axes that run from 0 to their extent - 1.

        Every value lies within; the bounds need not be reached where an axis occurs twice.
        """
        low = high = self.constant
        for atom, times in self.terms:
            first, last = _atom_interval(atom, extents)
            low += min(first * times, last * times)
            high += max(first * times, last * times)
        return low, high

    def simplified(self, extents: Mapping[str, int]) -> "Affine":
        """Return an equal expression over these axes with fewer divisions where that is easy.

        Axes of extent 1 are left out: they are 0.
        """
        total = Affine(constant=self.constant)
        for atom, times in self.terms:
            if isinstance(atom, str):
                total = total + Affine(((atom, times),)) * (extents[atom] > 1)
            elif isinstance(atom, Quotient):
                total = total + _quotient(atom.of.simplified(extents), atom.by, extents) * times
            else:
                total = total + _remainder(atom.of.simplified(extents), atom.by, extents) * times
        return total


@dataclass(frozen=True, slots=True)
class Condition:
    """A claim about one expression.

    Attributes:
        of: Compared with zero.
        relation: ``">="`` or ``"=="``.
    """

    of: Affine
    relation: Literal[">=", "=="]

    def __str__(self) -> str:
        positive = tuple((atom, times) for atom, times in self.of.terms if times > 0)
        negative = tuple((atom, -times) for atom, times in self.of.terms if times < 0)
        constant = self.of.constant
        left = Affine(positive, max(constant, 0))
        right = Affine(negative, max(-constant, 0))
        return f"{left} {self.relation} {right}"

    def substitute(self, values: Mapping[str, Affine]) -> "Condition":
        """Replace axes by expressions."""
        return Condition(self.of.substitute(values), self.relation)

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """Return whether it holds, for integers or element by element for arrays."""
        value = self.of.evaluate(values)
        return value >= 0 if self.relation == ">=" else value == 0

    def always_holds(self, extents: Mapping[str, int]) -> bool:
        """Say whether bounds alone show that it holds; False may also mean not known."""
        low, high = self.of.interval(extents)
        return low >= 0 if self.relation == ">=" else low == high == 0


def axis(name: str) -> Affine:
    """Return the expression that is one axis."""
    return Affine(((name, 1),))


def number(value: int) -> Affine:
    """Return a constant expression."""
    return Affine(constant=value)


def at_least(left: Affine, right: Affine | int) -> Condition:
    """Claim ``left >= right``."""
    return Condition(left - right, ">=")


def below(left: Affine, right: Affine | int) -> Condition:
    """Claim ``left < right``."""
    return Condition(_as_affine(right) - left - 1, ">=")


def equal(left: Affine, right: Affine | int) -> Condition:
    """Claim ``left == right``."""
    return Condition(left - right, "==")


def _as_affine(value: Affine | int) -> Affine:
    return value if isinstance(value, Affine) else Affine(constant=value)


def _check_divisor(by: int) -> None:
    if by <= 0:
        raise ValueError(f"division by {by}; divisors are positive")


def _sum(terms: tuple[tuple[Atom, int], ...], constant: int) -> Affine:
    total: dict[Atom, int] = {}
    for atom, times in terms:
        total[atom] = total.get(atom, 0) + times
    kept = ((atom, times) for atom, times in total.items() if times)
    return Affine(tuple(sorted(kept, key=lambda term: (-term[1], str(term[0])))), constant)


def _term(atom: Atom, times: int) -> str:
    text = str(atom)
    if times == 1:
        return text
    inner = text if isinstance(atom, str) else f"({text})"
    return f"-{inner}" if times == -1 else f"{times}*{inner}"


def _bracketed(of: Affine) -> str:
    return str(of) if of.single_axis() else f"({of})"


def _names(of: Affine) -> Iterator[str]:
    for atom, _ in of.terms:
        if isinstance(atom, str):
            yield atom
        else:
            yield from _names(atom.of)


def _atom_interval(atom: Atom, extents: Mapping[str, int]) -> tuple[int, int]:
    if isinstance(atom, str):
        return 0, extents[atom] - 1
    low, high = atom.of.interval(extents)
    if isinstance(atom, Quotient):
        return low // atom.by, high // atom.by
    if low // atom.by == high // atom.by:
        return low % atom.by, high % atom.by
    return 0, atom.by - 1


def _split(of: Affine, by: int) -> tuple[Affine, Affine]:
    """Return `whole` and `rest` with ``of == by * whole + rest``."""
    whole = tuple((atom, times // by) for atom, times in of.terms if times % by == 0)
    rest = tuple((atom, times) for atom, times in of.terms if times % by)
    return _sum(whole, of.constant // by), _sum(rest, of.constant % by)


def _quotient(of: Affine, by: int, extents: Mapping[str, int]) -> Affine:
    whole, rest = _split(of, by)
    low, high = rest.interval(extents)
    if low >= 0 and high < by:
        return whole
    if len(rest.terms) == 1 and rest.terms[0][1] == 1 and rest.constant == 0:
        inner = rest.terms[0][0]
        if isinstance(inner, Quotient):
            return whole + _quotient(inner.of, inner.by * by, extents)
        if isinstance(inner, Remainder) and inner.by % by == 0:
            return whole + _remainder(_quotient(inner.of, by, extents), inner.by // by, extents)
    shared = gcd(by, *(times for _, times in rest.terms))
    if shared > 1:
        smaller = Affine(
            tuple((atom, times // shared) for atom, times in rest.terms), rest.constant // shared
        )
        return whole + _quotient(smaller, by // shared, extents)
    return whole + rest // by


def _remainder(of: Affine, by: int, extents: Mapping[str, int]) -> Affine:
    _, rest = _split(of, by)
    low, high = rest.interval(extents)
    if low >= 0 and high < by:
        return rest
    if len(rest.terms) == 1 and rest.terms[0][1] == 1 and rest.constant == 0:
        inner = rest.terms[0][0]
        if isinstance(inner, Remainder) and inner.by % by == 0:
            return _remainder(inner.of, by, extents)
    return rest % by
