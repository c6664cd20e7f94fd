"""Programs written by hand, with one place each where a test may break them."""

from dataclasses import replace

from xeforge.fusion.affine import axis
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt

ROW, COL, DEEP = axis("i"), axis("j"), axis("k")
ROWS, COLUMNS, DEPTH = 4, 6, 5


def read(array, *index, dtype="float32", guard=(), otherwise=0.0):
    return Read(Access(array, index, guard, otherwise), dtype)


PRODUCT = Stmt(
    "product",
    (Axis("i", ROWS), Axis("j", COLUMNS), Axis("k", DEPTH)),
    Access("p", (ROW, COL)),
    call("mul", read("a", ROW, DEEP), read("b", DEEP, COL)),
    Reduce(("k",), "sum", "float32"),
)
BENT = Stmt(
    "bent",
    (Axis("i", ROWS), Axis("j", COLUMNS)),
    Access("y", (ROW, COL)),
    call("gelu", read("p", ROW, COL)),
)
TOTAL = Stmt(
    "total",
    (Axis("i", ROWS), Axis("j", COLUMNS)),
    Access("s", (ROW,)),
    read("y", ROW, COL),
    Reduce(("j",), "sum", "float32"),
)
PROGRAM = Program(
    arrays=(
        Array("a", (ROWS, DEPTH), "float32", "input"),
        Array("b", (DEPTH, COLUMNS), "float32", "parameter"),
        Array("p", (ROWS, COLUMNS), "float32", "intermediate"),
        Array("y", (ROWS, COLUMNS), "float32", "output"),
        Array("s", (ROWS,), "float32", "output"),
    ),
    statements=(PRODUCT, BENT, TOTAL),
    inputs=("a",),
    outputs=("y", "s"),
)


def with_stmt(name, **changes):
    """Return the program with one statement changed."""
    statements = tuple(
        replace(each, **changes) if each.name == name else each for each in PROGRAM.statements
    )
    return replace(PROGRAM, statements=statements)


def with_array(name, **changes):
    """Return the program with one array changed."""
    arrays = tuple(
        replace(each, **changes) if each.name == name else each for each in PROGRAM.arrays
    )
    return replace(PROGRAM, arrays=arrays)
