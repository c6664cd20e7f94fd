"""Traffic and arithmetic of a program whose statements each run alone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import children
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt


@dataclass(frozen=True, slots=True)
class StmtCost:
    """What one statement does when it runs alone and each element moves once.

    Attributes:
        name: Of the statement.
        points: Of its box; points that conditions cut off are counted.
        flops: Arithmetic operations; a multiplication that is summed counts as two.
        read_bytes: Of the parts of arrays that it reads; an upper bound.
        written_bytes: Of the array that it writes.
    """

    name: str
    points: int
    flops: int
    read_bytes: int
    written_bytes: int


@dataclass(frozen=True, slots=True)
class ProgramCost:
    """What a program does, statement by statement.

    Attributes:
        statements: In order.
        compulsory_bytes: What is given and read, and the outputs: no fusion can avoid it.
    """

    statements: tuple[StmtCost, ...]
    compulsory_bytes: int

    @property
    def flops(self) -> int:
        """Arithmetic of all statements."""
        return sum(each.flops for each in self.statements)

    @property
    def moved_bytes(self) -> int:
        """Traffic of all statements when nothing is fused."""
        return sum(each.read_bytes + each.written_bytes for each in self.statements)


def program_cost(program: Program) -> ProgramCost:
    """Count bytes and operations without running anything."""
    arrays = program.arrays_by_name()
    costs = tuple(stmt_cost(each, arrays) for each in program.statements)
    given: dict[str, int] = {}
    for stmt in program.statements:
        for name, size in read_bytes(stmt, arrays).items():
            if arrays[name].role in {"input", "parameter"}:
                given[name] = max(given.get(name, 0), size)
    outputs = sum(array_bytes(arrays[name]) for name in program.outputs)
    return ProgramCost(costs, sum(given.values()) + outputs)


def stmt_cost(stmt: Stmt, arrays: Mapping[str, Array]) -> StmtCost:
    """Count bytes and operations of one statement."""
    points = math.prod(each.extent for each in stmt.axes)
    each = expr_flops(stmt.body) + (1 if stmt.reduce else 0)
    read = sum(read_bytes(stmt, arrays).values())
    return StmtCost(stmt.name, points, points * each, read, array_bytes(arrays[stmt.output.array]))


def expr_flops(value: Expr) -> int:
    """Count the operations of one evaluation of an expression."""
    own = FUNCTIONS[value.function].flops if isinstance(value, Call) else 0
    return own + sum(expr_flops(each) for each in children(value))


def array_bytes(array: Array) -> int:
    """Return the storage of an array."""
    return math.prod(array.shape) * DTYPES[array.dtype].size_bytes


def read_bytes(stmt: Stmt, arrays: Mapping[str, Array]) -> Mapping[str, int]:
    """Return the bytes read of each array: what its accesses span together, at most all of it."""
    found: dict[str, int] = {}
    for access in dict.fromkeys(read.access for read in stmt.reads()):
        array = arrays[access.array]
        size = _span(stmt, access, array) * DTYPES[array.dtype].size_bytes
        found[array.name] = min(found.get(array.name, 0) + size, array_bytes(array))
    return found


def _span(stmt: Stmt, access: Access, array: Array) -> int:
    extents = stmt.extents()
    total = 1
    for index, size in zip(access.index, array.shape, strict=True):
        low, high = index.interval(extents)
        spanned = max(min(high, size - 1) - max(low, 0) + 1, 0)
        points = math.prod(extents[name] for name in index.names())
        total *= min(spanned, points)
    return total
