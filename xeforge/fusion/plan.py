"""What becomes one kernel: statements on common axes, and where each of their arrays lives."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Literal
from typing import TypeAlias

from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt

Family: TypeAlias = Literal["pointwise", "rows", "contraction", "nest"]
AxisRole: TypeAlias = Literal["point", "row", "column", "batch", "m", "n", "k"]

ROLES: Mapping[Family, tuple[AxisRole, ...]] = {
    "pointwise": ("point",),
    "rows": ("row", "column"),
    "contraction": ("batch", "m", "n", "k"),
    "nest": (),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Statements that one kernel computes.

    All statements use the axes of the group by name, so what one of them writes and another one
    reads within the group is read at the index at which it was written.

    ``pointwise``
        Every statement runs over all of ``point``, without folds.
    ``rows``
        A statement runs over ``row``, or over ``row`` and ``column``; folds fold all of ``column``
        away. A kernel's program owns whole rows.
    ``contraction``
        The first statement sums products of two factors over ``k``; one factor knows ``m`` but
        not ``n``, the other one ``n`` but not ``m``. Statements after it run over ``batch``, ``m``
        and ``n``; folds among them fold all of ``n`` away, or its last axes, the same ones in
        every fold of the group (``n`` of a group norm is ``(group, channel)``, folded over
        ``channel``; that of partial sums ``(tile, column)``), and what follows them may leave
        these out. No axis has extent 1, and no read within the group has a guard. The factors
        are not guarded and not read through windows, except where `Machine.contracts_windows`.
    ``nest``
        One statement of any form, and no axes. Where `Machine.nests_take_pointwise` says that the
        emitter can do it, pointwise statements may follow, at the points that the first one
        writes: then ``point`` has the axes of these, and the first statement may fold others.

    Attributes:
        name: Unique in the plan, an identifier.
        family: Which form the statements have.
        axes: By role, outermost first; a role without axes has an empty tuple. Empty for a nest
            of one statement.
        statements: In order; each writes one array.
        stored: Arrays that are written to memory: outputs, and what other groups read. What the
            others hold lives in registers.
    """

    name: str
    family: Family
    axes: Mapping[AxisRole, tuple[Axis, ...]]
    statements: tuple[Stmt, ...]
    stored: tuple[str, ...]

    def extent(self, role: AxisRole) -> int:
        """Return how many points a role has; 1 without axes."""
        return math.prod(each.extent for each in self.axes.get(role, ()))

    def local(self) -> tuple[str, ...]:
        """Return the arrays that never reach memory."""
        written = (each.output.array for each in self.statements)
        return tuple(name for name in written if name not in self.stored)

    def given(self) -> tuple[str, ...]:
        """Return the arrays that are read from memory, in order of first use."""
        written = {each.output.array for each in self.statements}
        reads = (read.access.array for stmt in self.statements for read in stmt.reads())
        return tuple(dict.fromkeys(name for name in reads if name not in written))


@dataclass(frozen=True, slots=True)
class Plan:
    """A program cut into kernels.

    Attributes:
        program: What is computed; the statements of the groups compute its outputs from its
            inputs, and write no array twice.
        groups: In the order in which they run.
        notes: What was decided and why, one sentence each.
        riders: Small groups of rows that run in the launch of a large one, as programs of their
            own: name of each and of its carrier. They read inputs and parameters alone, share no
            array with the carrier, and nothing up to the carrier reads what they write.
    """

    program: Program
    groups: tuple[Group, ...]
    notes: tuple[str, ...] = field(default=())
    riders: Mapping[str, str] = field(default_factory=dict)

    def as_program(self) -> Program:
        """Return the statements of all groups as a program: what the interpreter can run."""
        statements = tuple(stmt for group in self.groups for stmt in group.statements)
        return self.program.with_statements(statements, by="plan")


def unfused(program: Program) -> Plan:
    """Return the plan with one kernel for each statement, which is always among the choices."""
    groups = tuple(
        Group(stmt.name, "nest", {}, (stmt,), (stmt.output.array,)) for stmt in program.statements
    )
    return Plan(program, groups, ("nothing is fused",))
