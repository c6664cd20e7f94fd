"""Proposers without a model: they make candidates and never judge."""

from xeforge.errors import BadRequest
from xeforge.ports import Proposer
from xeforge.propose.config_search import ConfigSearch
from xeforge.propose.fusion_compiler import FusionCompiler
from xeforge.propose.recipe_apply import RecipeApply

PROPOSERS: tuple[Proposer, ...] = (RecipeApply(), FusionCompiler(), ConfigSearch())


def find_proposer(name: str) -> Proposer:
    """Return a registered proposer.

    Raises:
        BadRequest: No proposer has this name.
    """
    for each in PROPOSERS:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in PROPOSERS)
    raise BadRequest(f"no proposer is called {name!r}", remedy=f"one of: {known}")
