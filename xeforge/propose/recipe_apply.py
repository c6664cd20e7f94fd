"""Applies the recipes of a stage to the incumbent: each alone, then all of them together.

Which comes first is decided by what the knowledge base says of the advice that each carries out;
a rewrite whose advice is not for this device or these shapes is left out, and that is said.
"""

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import replace

from xeforge.domain.events import Skipped
from xeforge.ports import Assignment
from xeforge.ports import Batch
from xeforge.ports import Proposal
from xeforge.propose.guidance import Guidance
from xeforge.propose.guidance import guidance_for
from xeforge.propose.recipes import RECIPES
from xeforge.propose.rewrite import Recipe
from xeforge.propose.rewrite import Rewrite


class RecipeApply:
    """Proposes every rewrite that fits and was not tried yet."""

    name = "recipe_apply"

    def __init__(self, recipes: tuple[Recipe, ...] = RECIPES) -> None:
        """Use the given recipes, in this order where advice is silent."""
        self._recipes = recipes

    def propose(self, assignment: Assignment) -> Batch:
        """Return rewrites of the incumbent; no proposals when none is left."""
        source = assignment.parent.source
        seen = {candidate.source for candidate, _ in assignment.tried}
        seen |= {source, assignment.problem.kernel.text}
        fitting = [each for each in self._recipes if assignment.stage == each.STAGE]
        singles = [
            (recipe, rewrite)
            for recipe in fitting
            for rewrite in recipe.apply(source, assignment.problem, assignment.device)
        ]
        named = {each for _, rewrite in singles for each in rewrite.recipes}
        guidance = guidance_for(assignment, named)
        found: list[Proposal] = []
        for rewrite in (*_ranked(singles, guidance), *_together(fitting, assignment, guidance)):
            if rewrite.source not in seen and len(found) < assignment.limit:
                seen.add(rewrite.source)
                recipes = guidance.followed(rewrite.recipes)
                found.append(Proposal(rewrite.source, rewrite.because, {}, recipes=recipes))
        return Batch(tuple(found), _skipped(singles, guidance))


def _ranked(singles: Sequence[tuple[Recipe, Rewrite]], guidance: Guidance) -> list[Rewrite]:
    """Return what is not refused; where advice ranks, the best comes first.

    Rewrites on which advice is silent keep their places, the others share theirs by rank. Equals
    stay in the order of the registry.
    """
    kept = [each for _, each in singles if not guidance.refusal(each.recipes)]
    scores = [guidance.score(each.recipes) for each in kept]
    ranked = [(each, score) for each, score in zip(kept, scores, strict=True) if score is not None]
    best_first = iter(sorted(ranked, key=lambda pair: -pair[1]))
    return [
        each if score is None else next(best_first)[0]
        for each, score in zip(kept, scores, strict=True)
    ]


def _skipped(singles: Sequence[tuple[Recipe, Rewrite]], guidance: Guidance) -> tuple[Skipped, ...]:
    found = [
        Skipped(recipe.NAME, rewrite.recipes, refusal)
        for recipe, rewrite in singles
        if (refusal := guidance.refusal(rewrite.recipes))
    ]
    return tuple(dict.fromkeys(found))


def _together(
    fitting: Sequence[Recipe], assignment: Assignment, guidance: Guidance
) -> Iterator[Rewrite]:
    """Yield all rewrites in one file, if there are several.

    Recipes see what earlier ones wrote, so that they combine without conflicts; that is why they
    combine in the order of the registry, whatever their rank.
    """
    done = Rewrite(assignment.parent.source, "", 0)
    reasons: list[str] = []
    for recipe in fitting:
        for rewrite in recipe.apply(done.source, assignment.problem, assignment.device)[:1]:
            if not guidance.refusal(rewrite.recipes):
                reasons.append(rewrite.because)
                recipes = tuple(dict.fromkeys((*done.recipes, *rewrite.recipes)))
                done = Rewrite(rewrite.source, "", done.line or rewrite.line, recipes)
    if len(reasons) > 1:
        yield replace(done, because="; ".join(reasons))
