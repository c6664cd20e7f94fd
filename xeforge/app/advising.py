"""Asks the knowledge base on behalf of proposers; packs are read when it is first asked."""

from pathlib import Path

from xeforge.domain.advice import AdviceQuestion
from xeforge.domain.advice import Advised
from xeforge.domain.advice import AdvisedRecipe
from xeforge.source.facts import read_facts
from xeforge.verify.gates.sites import sites_of


class KnowledgeAdvice:
    """Implements `xeforge.ports.Advice` with our packs and those of some folders.

    Args:
        folders: Packs of a user.
        triton: Version in use, such as ``"3.7"``; empty: not known, nothing is held back for it.
    """

    def __init__(self, *folders: Path, triton: str = "") -> None:
        self._folders = folders
        self._triton = triton

    def advise(self, question: AdviceQuestion) -> Advised:
        """Return the recipes that fit, best first, and what was left out and why.

        Raises:
            BadKernel: The kernel cannot be read.
            BadSpec: A pack is wrong.
        """
        from knowledge.packs import load_base
        from knowledge.select import Question
        from knowledge.select import render
        from knowledge.select import select

        facts = read_facts(question.kernel.text, question.kernel.path)
        selection = select(
            load_base(*self._folders),
            Question(
                sites_of(facts, question.device, question.workloads),
                question.issues,
                stages=question.stages,
                only=question.only,
                triton=self._triton,
                records=question.wins,
                budget_tokens=question.budget_tokens,
            ),
        )
        found = {each.type for each in question.issues}
        recipes = tuple(
            AdvisedRecipe(
                id=each.recipe.id,
                stage=each.recipe.stage,
                cures=tuple(sorted(each.recipe.cures & found)),
                score=each.score,
                because=each.because,
                text=render(each.recipe),
            )
            for each in selection.chosen
        )
        return Advised(recipes, selection.left_out)
