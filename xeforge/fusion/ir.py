"""Programs of the fusion compiler: arrays, and statements that each write one whole array.

    C[i, j] = sum over k of A[i, k] * B[k, j]

is one `Stmt` with the axes i, j, k, the output access ``C[i, j]``, the body ``A[i, k] * B[k, j]``
and a `Reduce` over k. All axes start at 0. What may not be said is in `xeforge.fusion.wellformed`;
what a program means, in `xeforge.fusion.interpret`.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from typing import Literal
from typing import TypeAlias
from typing import Union

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Condition

Role: TypeAlias = Literal["input", "parameter", "intermediate", "output"]
Monoid: TypeAlias = Literal["sum", "prod", "max", "min"]
IDENTITY: Mapping[Monoid, float] = {
    "sum": 0.0,
    "prod": 1.0,
    "max": float("-inf"),
    "min": float("inf"),
}


@dataclass(frozen=True, slots=True)
class Array:
    """A dense block of elements, written by one statement or given by the caller.

    Attributes:
        name: Unique in the program.
        shape: Sizes in elements, all positive; ``()`` is one element.
        dtype: Torch name of what is stored, e.g. ``"float16"``.
        role: Inputs and parameters are given; outputs and intermediates are written.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    role: Role


@dataclass(frozen=True, slots=True)
class Access:
    """One element of an array, as a function of the axes.

    Attributes:
        array: Name.
        index: One expression per dimension of the array.
        guard: Where one of them does not hold, nothing is read and `otherwise` is the value.
        otherwise: The padding, in the array's dtype.
    """

    array: str
    index: tuple[Affine, ...]
    guard: tuple[Condition, ...] = ()
    otherwise: float = 0.0


@dataclass(frozen=True, slots=True)
class Const:
    """A number.

    Attributes:
        value: Rounded to `dtype` where it is used.
        dtype: Torch name.
    """

    value: float
    dtype: str


@dataclass(frozen=True, slots=True)
class Read:
    """The element that an access names.

    Attributes:
        access: Which one.
        dtype: Of the array.
    """

    access: Access
    dtype: str


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function applied; build it with `xeforge.fusion.functions.call`.

    Attributes:
        function: Key of `xeforge.fusion.functions.FUNCTIONS`.
        args: Its arguments.
        dtype: Of the result; the target dtype for ``cast``.
    """

    function: str
    args: tuple["Expr", ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Select:
    """One of two expressions, by position; the other one is not evaluated.

    Attributes:
        guard: All must hold for `then`.
        then: Of the same dtype as `otherwise`.
        otherwise: Taken where a condition does not hold.
    """

    guard: tuple[Condition, ...]
    then: "Expr"
    otherwise: "Expr"


@dataclass(frozen=True, slots=True)
class Position:
    """Where the statement is, as a number: class numbers and masks compare with it.

    Attributes:
        of: An expression in the axes.
        dtype: Torch name of an integer or float format.
    """

    of: Affine
    dtype: str


Expr: TypeAlias = Union[Const, Read, Call, Select, Position]


@dataclass(frozen=True, slots=True)
class Axis:
    """A named loop from 0 to `extent` - 1."""

    name: str
    extent: int


@dataclass(frozen=True, slots=True)
class Reduce:
    """How the values of a body are folded.

    Attributes:
        axes: Names of axes that are folded away; never in the output access.
        monoid: Associative and commutative; NaN wins in ``max`` and ``min``.
        dtype: Of the accumulator and of the body; the result is rounded to the array's dtype.
    """

    axes: tuple[str, ...]
    monoid: Monoid
    dtype: str

    @property
    def identity(self) -> float:
        """The value of an empty fold."""
        return IDENTITY[self.monoid]


@dataclass(frozen=True, slots=True)
class Stmt:
    """Writes one array, each element once.

    Conditions of the domain that name a reduced axis only leave out terms of the fold; a fold
    without any term is the identity.

    Attributes:
        name: Unique in the program.
        axes: The domain is their box, outermost first.
        output: The element that is written; no guard.
        body: Its value, or the terms of the fold.
        reduce: None for a pointwise statement.
        constraints: Cut points off the box.
    """

    name: str
    axes: tuple[Axis, ...]
    output: Access
    body: Expr
    reduce: Reduce | None = None
    constraints: tuple[Condition, ...] = ()

    def extents(self) -> Mapping[str, int]:
        """Return the extent of each axis by name."""
        return {each.name: each.extent for each in self.axes}

    def reduced(self) -> frozenset[str]:
        """Return the names of the axes that are folded away."""
        return frozenset(self.reduce.axes) if self.reduce else frozenset()

    def parallel_axes(self) -> tuple[Axis, ...]:
        """Return the axes that number the elements written."""
        return tuple(each for each in self.axes if each.name not in self.reduced())

    def write_constraints(self) -> tuple[Condition, ...]:
        """Return the constraints that decide which elements are written."""
        return tuple(each for each in self.constraints if not each.of.names() & self.reduced())

    def used_axes(self) -> frozenset[str]:
        """Return every name that stands for an axis somewhere in the statement."""
        reads = self.reads()
        indices = [
            each
            for access in (self.output, *(read.access for read in reads))
            for each in access.index
        ]
        conditions = [*self.constraints, *(each for read in reads for each in read.conditions)]
        used = {name for each in indices for name in each.names()}
        used |= {name for each in conditions for name in each.of.names()}
        return frozenset(used | self.reduced() | set(_named(self.body)))

    def reads(self) -> tuple["GuardedRead", ...]:
        """Return every read of the body in order, with all conditions under which it happens."""
        return tuple(_reads(self.body, self.constraints))


@dataclass(frozen=True, slots=True)
class GuardedRead:
    """A read and where it happens.

    Attributes:
        access: What is read.
        conditions: Of the domain, of selections around it, and of the access itself.
        dtype: That the read claims.
    """

    access: Access
    conditions: tuple[Condition, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Program:
    """Statements in the order in which they run.

    Attributes:
        arrays: All of them.
        statements: Each array that is not given is written by exactly one.
        inputs: Names of arrays that the caller passes, in order.
        outputs: Names of arrays that the caller gets, in order.
        notes: What the program leaves to its caller, one sentence each.
        passes: Names of the passes that made it what it is.
    """

    arrays: tuple[Array, ...]
    statements: tuple[Stmt, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()

    def arrays_by_name(self) -> Mapping[str, Array]:
        """Return the arrays by name."""
        return {each.name: each for each in self.arrays}

    def writers(self) -> Mapping[str, Stmt]:
        """Return the statement that writes each array."""
        return {each.output.array: each for each in self.statements}

    def with_statements(self, statements: tuple[Stmt, ...], *, by: str) -> "Program":
        """Replace the statements and drop intermediates that none of them names."""
        named = {each.output.array for each in statements}
        named.update(read.access.array for each in statements for read in each.reads())
        arrays = tuple(
            each for each in self.arrays if each.role != "intermediate" or each.name in named
        )
        return replace(self, arrays=arrays, statements=statements, passes=(*self.passes, by))


def _named(value: Expr) -> Iterator[str]:
    """Yield axes of positions and selections; those of reads are found with the reads."""
    if isinstance(value, Position):
        yield from value.of.names()
    elif isinstance(value, Call):
        for part in value.args:
            yield from _named(part)
    elif isinstance(value, Select):
        yield from (name for each in value.guard for name in each.of.names())
        yield from _named(value.then)
        yield from _named(value.otherwise)


def _reads(value: Expr, conditions: tuple[Condition, ...]) -> Iterator[GuardedRead]:
    if isinstance(value, Read):
        access = value.access
        yield GuardedRead(access, (*conditions, *access.guard), value.dtype)
    elif isinstance(value, Call):
        for part in value.args:
            yield from _reads(part, conditions)
    elif isinstance(value, Select):
        yield from _reads(value.then, (*conditions, *value.guard))
        yield from _reads(value.otherwise, conditions)
