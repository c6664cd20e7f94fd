"""What a recipe is and what it gives back: a whole new file and the reason for it."""

from dataclasses import dataclass
from typing import Protocol

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One way to rewrite a kernel file.

    Attributes:
        source: The new file.
        because: What was changed and why that may help, one sentence.
        line: One-based line of the first change in the old file.
        recipes: Advice of the knowledge base that it carries out, as ``pack.recipe``.
    """

    source: str
    because: str
    line: int
    recipes: tuple[str, ...] = ()


def counted(number: int, noun: str, ending: str = "s") -> str:
    """Return ``"1 launch"`` or ``"2 launches"``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{ending}"


class Recipe(Protocol):
    """A module of `xeforge.propose.recipes`.

    Attributes:
        NAME: File name.
        STAGE: Stage that asks for it.
        CURES: Issue types it can remove.
        CARRIES_OUT: Advice of the knowledge base that its rewrites may carry out.
    """

    NAME: str
    STAGE: str
    CURES: frozenset[str]
    CARRIES_OUT: tuple[str, ...]

    def apply(self, source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
        """Return the rewrites that are right for this file, the most complete one first."""
        ...
