"""A source that might be faster, where it came from and why."""

from collections.abc import Mapping
from dataclasses import dataclass

BASELINE_ID = "t0"
"""Identity of the submitted kernel among the candidates of a job."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One source to judge.

    Attributes:
        id: ``t1``, ``t2``, ... in the order of proposal; the submitted kernel is ``t0``.
        parent: Candidate it was made from.
        stage: Stage that asked for it.
        proposer: Who made it.
        source: Whole kernel file.
        because: What was changed and why, one sentence.
        settings: Values of the knobs it sets, for search and display; empty for rewrites.
        scope: For which inputs its change holds, in words; all others take the path of the file
            that it was made from. Empty: for all.
        recipes: Advice of the knowledge base that it carries out, as ``pack.recipe``.
    """

    id: str
    parent: str
    stage: str
    proposer: str
    source: str
    because: str
    settings: Mapping[str, int]
    scope: str = ""
    recipes: tuple[str, ...] = ()
