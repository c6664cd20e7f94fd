"""A first plan for a program: everything fused that may be, in one pass over its statements."""

from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse.growing import Limits
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Plan


def plan(program: Program, machine: Machine) -> Plan:
    """Return a plan whose groups are as large as the machine allows.

    Args:
        program: Well-formed.
        machine: Says how much a tile may hold.

    Raises:
        BrokenPlan: The passes made something that emitters may not be given.
    """
    found = grow(canonical.run(program), Limits(machine))
    check_plan(found)
    return found
