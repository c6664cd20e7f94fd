"""Applies the recipes of a stage to the incumbent: each alone, then all of them together."""

from collections.abc import Iterator

from xeforge.ports import Assignment
from xeforge.ports import Proposal
from xeforge.propose.recipes import RECIPES
from xeforge.propose.rewrite import Recipe
from xeforge.propose.rewrite import Rewrite


class RecipeApply:
    """Proposes every rewrite that fits and was not tried yet."""

    name = "recipe_apply"

    def __init__(self, recipes: tuple[Recipe, ...] = RECIPES) -> None:
        """Use the given recipes, in this order."""
        self._recipes = recipes

    def propose(self, assignment: Assignment) -> tuple[Proposal, ...]:
        """Return rewrites of the incumbent; empty when none is left."""
        source = assignment.parent.source
        seen = {candidate.source for candidate, _ in assignment.tried}
        seen |= {source, assignment.problem.kernel.text}
        found: list[Proposal] = []
        for rewrite in self._rewrites(assignment):
            if rewrite.source not in seen and len(found) < assignment.limit:
                seen.add(rewrite.source)
                found.append(Proposal(rewrite.source, rewrite.because, {}))
        return tuple(found)

    def _rewrites(self, assignment: Assignment) -> Iterator[Rewrite]:
        problem, device = assignment.problem, assignment.device
        source = assignment.parent.source
        fitting = [each for each in self._recipes if assignment.stage == each.STAGE]
        reasons: list[str] = []
        singles: list[Rewrite] = []
        first_line = 0
        for recipe in fitting:
            singles.extend(recipe.apply(assignment.parent.source, problem, device))
            # Recipes see what earlier ones wrote, so that they combine without conflicts.
            for rewrite in recipe.apply(source, problem, device)[:1]:
                source = rewrite.source
                reasons.append(rewrite.because)
                first_line = first_line or rewrite.line
        yield from singles
        if len(reasons) > 1:
            yield Rewrite(source, "; ".join(reasons), first_line)
