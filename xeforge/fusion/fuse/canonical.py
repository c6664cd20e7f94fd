"""Leave out axes of one point; a fold over nothing but them is its only term.

Before:  s[i, 0] = max over r < 1 of p[i, r]      (i < 4, j < 1 in the output's index)
After:   s[i, 0] = p[i, 0]
"""

from dataclasses import replace

from xeforge.fusion import wellformed
from xeforge.fusion.affine import number
from xeforge.fusion.functions import cast
from xeforge.fusion.fuse.rewrite import moved
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt

NAME = "drop_single_points"


def run(program: Program) -> Program:
    """Return the program without axes of extent 1."""
    arrays = program.arrays_by_name()
    statements = tuple(
        _without_single_points(stmt, arrays[stmt.output.array].dtype) for stmt in program.statements
    )
    result = program.with_statements(statements, by=NAME)
    wellformed.check(result, made_by=NAME)
    return result


def _without_single_points(stmt: Stmt, dtype: str) -> Stmt:
    single = {each.name: number(0) for each in stmt.axes if each.extent == 1}
    if not single:
        return stmt
    kept = tuple(each for each in stmt.axes if each.extent > 1)
    result = moved(stmt, single, kept)
    # A condition that is false everywhere needs the fold: its value is the identity then.
    if result.reduce is None or result.reduce.axes or result.constraints:
        return result if result.reduce is None or result.reduce.axes else stmt
    return replace(result, body=cast(result.body, dtype), reduce=None)
