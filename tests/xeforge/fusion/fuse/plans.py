"""Plans against the programs they are made from."""

import numpy as np

from xeforge.fusion.fuse.invariants import check_plan
from xeforge.fusion.interpret import interpret


def assert_same_values(program, plan, given):
    """Interpret both; sums may have another order."""
    check_plan(plan)
    wanted, got = interpret(program, given), interpret(plan.as_program(), given)
    assert plan.program.outputs == program.outputs
    for name, values in wanted.items():
        np.testing.assert_allclose(got[name], values, rtol=1e-9, atol=1e-9)


def families(plan):
    """Return the family and the names of the statements of each group."""
    return [(each.family, [stmt.name for stmt in each.statements]) for each in plan.groups]
