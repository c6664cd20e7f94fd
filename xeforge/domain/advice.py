"""What is asked of the knowledge base about one kernel, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import StrEnum

from xeforge.domain.device import Device
from xeforge.domain.issue import Issue
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.domain.wins import WinRecord


class LeftOutKind(StrEnum):
    """Why a recipe was kept back."""

    STAGE = "stage"
    """It belongs to a stage that was not asked for."""
    NO_ISSUE = "no issue"
    """Nothing was found that it cures."""
    VERSION = "version"
    """It needs a newer Triton."""
    DOES_NOT_APPLY = "does not apply"
    """Kernel, device or shapes are not what it is for."""
    NOT_KNOWN = "not known"
    """Whether it applies rests on a fact that nobody knows."""
    OPPOSED = "opposed"
    """It takes back something that ranks higher."""
    BUDGET = "budget"
    """There was no room left for it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One piece of advice that was kept back.

    Attributes:
        recipe: Its id.
        reason: Why, in words.
        kind: Class of the reason.
    """

    recipe: str
    reason: str
    kind: LeftOutKind


@dataclass(frozen=True, slots=True)
class AdvisedRecipe:
    """One piece of advice that fits.

    Attributes:
        id: ``pack.recipe``.
        stage: Stage that it belongs to.
        cures: Issue types found here that it cures.
        score: What it was ranked by; only comparable within one answer.
        because: What it cures where, why it applies, and how often it paid so far.
        text: The advice with its effect, when it hurts, and where it is known from.
    """

    id: str
    stage: str
    cures: tuple[str, ...]
    score: float
    because: str
    text: str


@dataclass(frozen=True, slots=True)
class Advised:
    """An answer; without recipes nothing is known that fits.

    Attributes:
        recipes: Best first.
        left_out: All others that came into question, with the reason.
    """

    recipes: tuple[AdvisedRecipe, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class AdviceQuestion:
    """For what advice is asked.

    Attributes:
        kernel: File to be improved; only read.
        device: Model of accelerator.
        workloads: Shapes; timed ones count where there are any.
        issues: What detectors found.
        stages: Only advice of these; empty: of all.
        only: Only these recipes, of whatever stage and whether or not what they cure was found,
            because the asker has seen for itself; empty: all that cure what was found.
        wins: How often advice paid on this device, by recipe id.
        budget_tokens: Most advice, in tokens of a language model; None: no limit.
    """

    kernel: SourceFile
    device: Device
    workloads: tuple[Workload, ...]
    issues: tuple[Issue, ...] = ()
    stages: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    wins: Mapping[str, WinRecord] = field(default_factory=dict)
    budget_tokens: int | None = None
