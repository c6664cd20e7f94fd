"""What advice says of the changes that a proposer can make."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from xeforge.domain.advice import AdviceQuestion
from xeforge.domain.advice import LeftOutKind
from xeforge.domain.submission import SourceFile
from xeforge.ports import Assignment

_REFUSING = frozenset({LeftOutKind.DOES_NOT_APPLY, LeftOutKind.VERSION})
"""The other reasons say that nothing is known, or nothing about this change."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """An answer of the knowledge base, by recipe.

    Attributes:
        scores: Of recipes that fit.
        refusals: Of recipes that do not apply here: why.
    """

    scores: Mapping[str, float] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, recipes: Sequence[str]) -> str:
        """Say why a change that carries out these recipes is not for this kernel; empty: it is.

        One of them that may apply is enough; a change that names none is never refused.
        """
        if not recipes or any(each not in self.refusals for each in recipes):
            return ""
        return "; ".join(f"{each} {self.refusals[each]}" for each in recipes)

    def followed(self, recipes: Iterable[str]) -> tuple[str, ...]:
        """Return the recipes that a change is tried for: those that are not refused."""
        return tuple(each for each in recipes if each not in self.refusals)

    def score(self, recipes: Iterable[str]) -> float | None:
        """Return what the best advice behind a change was ranked by; None: advice is silent."""
        return max((self.scores[each] for each in recipes if each in self.scores), default=None)


def guidance_for(assignment: Assignment, recipes: Iterable[str]) -> Guidance:
    """Ask what is known of some recipes for the incumbent on the device and shapes of the job.

    Raises:
        BadKernel: The incumbent cannot be read.
    """
    wanted = frozenset(recipes)
    if assignment.advice is None or not wanted:
        return Guidance()
    problem = assignment.problem
    answer = assignment.advice.advise(
        AdviceQuestion(
            kernel=SourceFile(problem.kernel.path, assignment.parent.source),
            device=assignment.device,
            workloads=problem.workloads,
            issues=assignment.issues,
            only=wanted,
            wins=assignment.wins,
        )
    )
    return Guidance(
        {each.id: each.score for each in answer.recipes},
        {each.recipe: each.reason for each in answer.left_out if each.kind in _REFUSING},
    )
