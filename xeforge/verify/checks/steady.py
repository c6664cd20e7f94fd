"""Tell what changed on the card in mid-run; a change is nobody's fault, so this never fails."""

from xeforge.domain.evidence import Finding
from xeforge.verify.context import CheckContext
from xeforge.verify.context import passed_timed
from xeforge.verify.places import listed
from xeforge.verify.steadiness import remarks

NAME = "steady"


def check(context: CheckContext) -> Finding:
    """Note fallen clocks and changed levels; `disturbed` decides what cannot be trusted."""
    return passed_timed(context, NAME, listed(remarks(context.samples), limit=10))
