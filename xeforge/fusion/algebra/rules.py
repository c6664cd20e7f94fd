"""All rules, group by group."""

from xeforge.fusion.algebra import cancellation
from xeforge.fusion.algebra import dead
from xeforge.fusion.algebra import distribution
from xeforge.fusion.algebra import folding
from xeforge.fusion.algebra import reordering
from xeforge.fusion.algebra.rule import Rule

RULES: tuple[Rule, ...] = (
    *distribution.RULES,
    *folding.RULES,
    *cancellation.RULES,
    *dead.RULES,
    *reordering.RULES,
)
