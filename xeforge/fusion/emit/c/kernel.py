"""What all families share: the function of a group, its loops and how it names things."""

import math
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion.emit.c.expression import element
from xeforge.fusion.emit.c.expression import folded
from xeforge.fusion.emit.c.index import Extents
from xeforge.fusion.emit.c.index import affine_text
from xeforge.fusion.emit.c.index import axis_name
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.numbers import literal
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.numbers import rounded
from xeforge.fusion.emit.c.numbers import to_store
from xeforge.fusion.emit.c.target import CpuTarget
from xeforge.fusion.emit.c.target import Limits
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group
from xeforge.fusion.text import stmt_text


@dataclass(frozen=True, slots=True)
class Kernel:
    """The function of one group, without its head.

    Attributes:
        body: Lines of C, indented by one level.
        work_bytes: Memory that all threads share while it runs, as ``work``.
        scratch_bytes: Memory of each thread, as ``scratch``; multiples of 64.
    """

    body: str
    work_bytes: int = 0
    scratch_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """What an emitter of a family is given beside its group.

    Attributes:
        arrays: Of the program.
        target: Whose registers and caches count.
    """

    arrays: Mapping[str, Array]
    target: CpuTarget

    @property
    def limits(self) -> Limits:
        """Sizes at which loops are cut."""
        return self.target.limits


def pointer(name: str) -> str:
    """Return the C variable that points to an array."""
    return f"p_{name}"


def scalar(name: str) -> str:
    """Return the C variable of one value of an array."""
    return f"v_{name}"


def extra(kernel: Kernel) -> list[str]:
    """Return the memory that a function takes beside its arrays."""
    sizes = {"work": kernel.work_bytes, "scratch": kernel.scratch_bytes}
    return [name for name, size in sizes.items() if size]


def head(name: str, group: Group, arrays: Mapping[str, Array], kernel: Kernel) -> str:
    """Return the signature of a group's function."""
    given = (
        f"const {number(arrays[each].dtype).stored} *restrict {pointer(each)}"
        for each in group.given()
    )
    stored = (
        f"{number(arrays[each].dtype).stored} *restrict {pointer(each)}" for each in group.stored
    )
    listed = ", ".join((*given, *stored, *(f"char *{each}" for each in extra(kernel))))
    return f"static void {name}({listed})"


def described(group: Group) -> str:
    """Return a comment that shows the statements."""
    shown = "\n".join(stmt_text(each).rstrip() for each in group.statements)
    lines = [f" * {line}".rstrip() for line in shown.replace("*/", "* /").splitlines()]
    return "\n".join((f"/* {group.family} {group.name}", *lines, " */"))


def loop(axis: Axis, low: str = "0", high: str = "") -> str:
    """Return the head of a loop."""
    name = axis_name(axis.name)
    return f"for (int64_t {name} = {low}; {name} < {high or axis.extent}; {name}++)"


def points(axes: Sequence[Axis]) -> int:
    """Return how many points a box has."""
    return math.prod(each.extent for each in axes)


@dataclass(frozen=True, slots=True)
class Memory:
    """Reads elements of flat arrays through their pointers.

    Attributes:
        extents: Of the axes.
    """

    extents: Extents

    def __call__(self, read: Read) -> str:
        """Write the value of an element."""
        return element(read, pointer(read.access.array), self.extents)


def store(stmt: Stmt, array: Array, value: str, extents: Extents) -> str:
    """Write the line that stores a value of the array's dtype."""
    place = affine_text(stmt.output.index[0], extents)
    return f"{pointer(array.name)}[{place}] = {to_store(array.dtype, value)};"


def identity(reduce: Reduce) -> str:
    """Write the value of an empty fold."""
    return literal(reduce.identity, reduce.dtype)


def fold_line(reduce: Reduce, state: str, term: str) -> str:
    """Write the line that adds a term to a fold."""
    return f"{state} = {folded(reduce.monoid, reduce.dtype, state, term)};"


def reduction(reduce: Reduce, state: str) -> str:
    """Return the clause that lets a loop fold in vectors; empty where it must not.

    Folds that round after every term stay as they are: their order would matter most.
    """
    if rounded(reduce.dtype, ""):
        return ""
    name = {"sum": "+", "prod": "*"}.get(reduce.monoid)
    name = name or f"xf_{reduce.monoid}_{number(reduce.dtype).suffix}"
    return f"reduction({name} : {state})"


def share(lines: Lines, depth: int, *, is_parallel: bool) -> None:
    """Let threads share the next loops."""
    if depth and is_parallel:
        collapse = f" collapse({depth})" if depth > 1 else ""
        lines.pragma(f"parallel for{collapse} schedule(static)")


def guarded(condition: str, line: str) -> str:
    """Put a condition before a line; an empty one holds."""
    return f"if ({condition}) {line}" if condition else line
