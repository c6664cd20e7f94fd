"""The plan for a program: the fastest of those searched, by the cost model."""

from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.fuse.search import search
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Plan


def plan(program: Program, machine: Machine) -> Plan:
    """Return the plan to emit first; `xeforge.fusion.fuse.search.search` returns the others too.

    Args:
        program: Well-formed.
        machine: Rates and limits of the target.

    Raises:
        BrokenPlan: The passes made something that emitters may not be given.
    """
    return search(program, machine)[0].plan
