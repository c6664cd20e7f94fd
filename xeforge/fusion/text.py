"""Programs as text that a person can read."""

from collections.abc import Iterator
from collections.abc import Sequence

from xeforge.fusion.affine import Condition
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt

_INFIX = {
    "add": ("+", 1),
    "sub": ("-", 1),
    "mul": ("*", 2),
    "div": ("/", 2),
    "lt": ("<", 0),
    "le": ("<=", 0),
    "gt": (">", 0),
    "ge": (">=", 0),
    "eq": ("==", 0),
    "ne": ("!=", 0),
}
_HIGHEST = 3


def program_text(program: Program) -> str:
    """Return the program, one statement in two or three lines, with a final newline."""
    return "\n".join(_lines(program)) + "\n"


def stmt_text(stmt: Stmt) -> str:
    """Return one statement: its loops, then what it writes."""
    loops = ", ".join(f"{each.name} < {each.extent}" for each in stmt.parallel_axes())
    head = f"{stmt.name}: for {loops}" if loops else f"{stmt.name}: once"
    if stmt.write_constraints():
        head += f" where {_conditions(stmt.write_constraints())}"
    return f"{head}\n    {access_text(stmt.output)} = {_folded(stmt)}"


def access_text(access: Access) -> str:
    """Return ``array[index]``, with the padding where there is one."""
    plain = f"{access.array}[{', '.join(map(str, access.index))}]"
    if not access.guard:
        return plain
    return f"({plain} where {_conditions(access.guard)} else {access.otherwise:g})"


def expr_text(value: Expr, binding: int = -1) -> str:
    """Return an expression; in brackets where what stands around it binds tighter."""
    if isinstance(value, Const):
        return f"{value.value!r}" if isinstance(value.value, bool | int) else f"{value.value:.9g}"
    if isinstance(value, Read):
        return access_text(value.access)
    if isinstance(value, Call):
        return _call(value, binding)
    if isinstance(value, Position):
        return f"<{value.of}>"
    then, otherwise = expr_text(value.then), expr_text(value.otherwise)
    return f"({then} where {_conditions(value.guard)} else {otherwise})"


def _lines(program: Program) -> Iterator[str]:
    arrays = program.arrays_by_name()
    yield from _declared("input", [arrays[name] for name in program.inputs])
    given = [each for each in program.arrays if each.role == "parameter"]
    yield from _declared("parameter", given)
    yield from _declared("stores", [each for each in program.arrays if each.role == "intermediate"])
    yield from _declared("output", [arrays[name] for name in program.outputs])
    for stmt in program.statements:
        yield stmt_text(stmt)
    for note in program.notes:
        yield f"note: {note}"


def _declared(title: str, arrays: Sequence[Array]) -> Iterator[str]:
    for each in arrays:
        yield f"{title:<10}{each.name}: {each.dtype}[{', '.join(map(str, each.shape))}]"


def _folded(stmt: Stmt) -> str:
    if stmt.reduce is None:
        return expr_text(stmt.body)
    extents = stmt.extents()
    loops = ", ".join(f"{name} < {extents[name]}" for name in stmt.reduce.axes)
    inner = [each for each in stmt.constraints if each not in stmt.write_constraints()]
    where = f" where {_conditions(inner)}" if inner else ""
    kind = f"{stmt.reduce.monoid} in {stmt.reduce.dtype}"
    return f"{kind} over {loops}{where} of {expr_text(stmt.body)}"


def _call(value: Call, binding: int) -> str:
    if value.function == "cast":
        return f"{value.dtype}({expr_text(value.args[0])})"
    if value.function == "neg":
        return f"-{expr_text(value.args[0], _HIGHEST)}"
    if value.function not in _INFIX:
        return f"{value.function}({', '.join(map(expr_text, value.args))})"
    sign, own = _INFIX[value.function]
    left, right = value.args
    # The right side of - and / binds tighter than the left: a - (b - c).
    text = f"{expr_text(left, own - 1)} {sign} {expr_text(right, own)}"
    return f"({text})" if own <= binding else text


def _conditions(conditions: Sequence[Condition]) -> str:
    return " and ".join(map(str, conditions))
