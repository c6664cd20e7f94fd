"""What a program must be, checked after every pass."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from xeforge.domain.dtype import DTYPES
from xeforge.errors import PlatformError
from xeforge.fusion import isl
from xeforge.fusion.expr_rules import Fault
from xeforge.fusion.expr_rules import expr_faults
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import IDENTITY
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import GuardedRead
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Stmt

_BOOL = DTYPES["bool"]


class Rule(StrEnum):
    """The closed list of rules; each value is what a violation is called."""

    UNIQUE_NAMES = "two things have one name"
    KNOWN_NAMES = "a name stands for nothing"
    NOT_EMPTY = "a size or an extent is not positive"
    GIVEN_NOT_WRITTEN = "an input or parameter is overwritten"
    ONE_WRITER = "two statements write one array"
    WRITTEN = "an array that is not given is never written"
    DEFINED_BEFORE_USE = "an array is read before the statement that writes it has run"
    NO_SELF_READ = "a statement reads the array that it writes"
    RANK = "an access has another number of indices than its array"
    IN_BOUNDS = "an access leaves its array"
    WRITTEN_WHOLE = "an element of an array is never written"
    WRITTEN_ONCE = "an element of an array is written twice"
    UNGUARDED_WRITE = "a written access has a guard"
    REDUCED_NOT_WRITTEN = "a reduced axis numbers the elements that are written"
    REDUCTION = "a reduction has no axis, an unknown monoid or an axis twice"
    DTYPES = "dtypes do not fit"
    FUNCTIONS = "a function is unknown or has other arguments"
    NO_ALIAS = "an array stands twice among inputs and outputs"
    ROLES = "an array's role is not what the program does with it"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Attributes:
        rule: Which.
        place: Name of the statement or array.
        detail: What is wrong there, with a point or an element where there is one.
    """

    rule: Rule
    place: str
    detail: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule.value} ({self.detail})"


class Malformed(PlatformError):
    """A pass made a program that breaks a rule.

    Attributes:
        violations: All of them.
        made_by: Name of the pass.
    """

    code = "malformed_program"

    def __init__(self, violations: tuple[Violation, ...], *, made_by: str) -> None:
        super().__init__(f"{made_by}: " + "; ".join(map(str, violations)))
        self.violations = violations
        self.made_by = made_by


def check(program: Program, *, made_by: str) -> None:
    """Refuse a program that breaks a rule.

    Raises:
        Malformed: With every violation that was found.
        TooHard: The bounds of an access could not be settled.
    """
    found = find_violations(program)
    if found:
        raise Malformed(found, made_by=made_by)


def find_violations(program: Program) -> tuple[Violation, ...]:
    """Return all violations; those that need names to be right only when the names are."""
    names = (*_names(program), *_unknown(program))
    if names:
        return names
    found = [*_roles(program), *_order(program)]
    arrays = program.arrays_by_name()
    for stmt in program.statements:
        shape = tuple(_shape(stmt, arrays))
        found += shape
        found += _dtypes(stmt, arrays)
        if not shape:
            found += _bounds(stmt, arrays)
            found += _writes(stmt, arrays[stmt.output.array])
    return tuple(found)


def _names(program: Program) -> Iterator[Violation]:
    groups = {
        "arrays": [each.name for each in program.arrays],
        "statements": [each.name for each in program.statements],
        **{stmt.name: [each.name for each in stmt.axes] for stmt in program.statements},
    }
    for place, names in groups.items():
        for name in _repeated(names):
            yield Violation(Rule.UNIQUE_NAMES, place, name)
    for name in _repeated(program.inputs):
        yield Violation(Rule.NO_ALIAS, name, "twice among the inputs")
    for name in _repeated(program.outputs):
        yield Violation(Rule.NO_ALIAS, name, "twice among the outputs")
    for name in sorted(set(program.inputs) & set(program.outputs)):
        yield Violation(Rule.NO_ALIAS, name, "an output is an input")
    yield from _empty(program)


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({each for each in names if names.count(each) > 1})


def _empty(program: Program) -> Iterator[Violation]:
    for array in program.arrays:
        if any(size <= 0 for size in array.shape):
            yield Violation(Rule.NOT_EMPTY, array.name, str(array.shape))
    for stmt in program.statements:
        for axis in stmt.axes:
            if axis.extent <= 0:
                yield Violation(Rule.NOT_EMPTY, stmt.name, f"{axis.name} < {axis.extent}")


def _unknown(program: Program) -> Iterator[Violation]:
    arrays = {each.name for each in program.arrays}
    for name in (*program.inputs, *program.outputs):
        if name not in arrays:
            yield Violation(Rule.KNOWN_NAMES, name, "no such array")
    for stmt in program.statements:
        for access in (stmt.output, *(read.access for read in stmt.reads())):
            if access.array not in arrays:
                yield Violation(Rule.KNOWN_NAMES, stmt.name, f"no array {access.array}")
        for name in sorted(stmt.used_axes() - set(stmt.extents())):
            yield Violation(Rule.KNOWN_NAMES, stmt.name, f"no axis {name}")


def _roles(program: Program) -> Iterator[Violation]:
    for array in program.arrays:
        listed = {"input": program.inputs, "output": program.outputs}
        for role, names in listed.items():
            if (array.name in names) != (array.role == role):
                yield Violation(Rule.ROLES, array.name, f"its role is {array.role}")


def _order(program: Program) -> Iterator[Violation]:
    arrays = program.arrays_by_name()
    defined = {each.name for each in program.arrays if each.role in {"input", "parameter"}}
    written: set[str] = set()
    for stmt in program.statements:
        for name in sorted({read.access.array for read in stmt.reads()}):
            if name == stmt.output.array:
                yield Violation(Rule.NO_SELF_READ, stmt.name, name)
            elif name not in defined | written:
                yield Violation(Rule.DEFINED_BEFORE_USE, stmt.name, name)
        target = stmt.output.array
        if arrays[target].role in {"input", "parameter"}:
            yield Violation(Rule.GIVEN_NOT_WRITTEN, stmt.name, target)
        elif target in written:
            yield Violation(Rule.ONE_WRITER, stmt.name, target)
        written.add(target)
    for name in sorted(set(arrays) - defined - written):
        yield Violation(Rule.WRITTEN, name, f"its role is {arrays[name].role}")


def _shape(stmt: Stmt, arrays: Mapping[str, Array]) -> Iterator[Violation]:
    for access in (stmt.output, *(read.access for read in stmt.reads())):
        rank = len(arrays[access.array].shape)
        if len(access.index) != rank:
            detail = f"{access.array} has {rank} dimensions, not {len(access.index)}"
            yield Violation(Rule.RANK, stmt.name, detail)
    if stmt.output.guard:
        yield Violation(Rule.UNGUARDED_WRITE, stmt.name, stmt.output.array)
    if stmt.reduce is None:
        return
    axes = stmt.reduce.axes
    if not axes or len(set(axes)) != len(axes) or stmt.reduce.monoid not in IDENTITY:
        yield Violation(Rule.REDUCTION, stmt.name, f"{stmt.reduce.monoid} over {axes}")
    used = {name for each in stmt.output.index for name in each.names()}
    for name in sorted(used & set(axes)):
        yield Violation(Rule.REDUCED_NOT_WRITTEN, stmt.name, name)


def _dtypes(stmt: Stmt, arrays: Mapping[str, Array]) -> Iterator[Violation]:
    for read in stmt.reads():
        if read.dtype != arrays[read.access.array].dtype:
            detail = f"{read.access.array} is {arrays[read.access.array].dtype}, not {read.dtype}"
            yield Violation(Rule.DTYPES, stmt.name, detail)
    for fault, detail in expr_faults(stmt.body):
        rule = Rule.DTYPES if fault is Fault.DTYPE else Rule.FUNCTIONS
        yield Violation(rule, stmt.name, detail)
    if stmt.reduce and DTYPES.get(stmt.reduce.dtype, _BOOL).kind != "float":
        yield Violation(Rule.DTYPES, stmt.name, f"a fold in {stmt.reduce.dtype}")
    wanted = stmt.reduce.dtype if stmt.reduce else arrays[stmt.output.array].dtype
    if dtype_of(stmt.body) != wanted:
        detail = f"the body is {dtype_of(stmt.body)}, wanted is {wanted}"
        yield Violation(Rule.DTYPES, stmt.name, detail)


def _bounds(stmt: Stmt, arrays: Mapping[str, Array]) -> Iterator[Violation]:
    writes = GuardedRead(stmt.output, stmt.write_constraints(), "")
    for read in dict.fromkeys((writes, *stmt.reads())):
        shape = arrays[read.access.array].shape
        if _inside_by_bounds(stmt, read, shape):
            continue
        point = isl.point_outside(stmt, read.access, read.conditions, shape)
        if point is not None:
            where = ", ".join(f"{name}={value}" for name, value in point.items())
            index = tuple(each.evaluate(point) for each in read.access.index)
            detail = f"{read.access.array}{list(index)} at {where}"
            yield Violation(Rule.IN_BOUNDS, stmt.name, detail)


def _inside_by_bounds(stmt: Stmt, read: GuardedRead, shape: tuple[int, ...]) -> bool:
    """Say whether intervals alone settle it, which spares most of the work on integer sets."""
    extents = stmt.extents()
    for index, size in zip(read.access.index, shape, strict=True):
        low, high = index.interval(extents)
        if low < 0 or high >= size:
            return False
    return True


def _writes(stmt: Stmt, array: Array) -> Iterator[Violation]:
    if _is_plain_write(stmt, array):
        return
    missing = isl.element_unwritten(stmt, array.shape)
    if missing is not None:
        yield Violation(Rule.WRITTEN_WHOLE, stmt.name, f"{array.name}{list(missing)}")
    twice = isl.element_written_twice(stmt)
    if twice is not None:
        yield Violation(Rule.WRITTEN_ONCE, stmt.name, f"{array.name}{list(twice)}")


def _is_plain_write(stmt: Stmt, array: Array) -> bool:
    """Say whether each dimension is numbered by an axis of its own, over its whole size."""
    if stmt.write_constraints():
        return False
    extents = {each.name: each.extent for each in stmt.parallel_axes()}
    names = [each.single_axis() for each in stmt.output.index]
    sizes = [extents.get(name) if name else None for name in names]
    return len(set(names)) == len(names) == len(extents) and sizes == list(array.shape)
