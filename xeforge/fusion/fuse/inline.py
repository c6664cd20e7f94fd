"""Put a pointwise statement's body in place of the reads of what it writes.

Before:  r[i, k] = relu(x[i, k]);  p[i, j] = sum over k of r[i, k] * w[j, k]
After:   p[i, j] = sum over k of relu(x[i, k]) * w[j, k]

A guarded read takes the body where the guard holds, and the padding elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion.affine import Affine
from xeforge.fusion.cost import expr_flops
from xeforge.fusion.functions import children
from xeforge.fusion.fuse.digits import Digits
from xeforge.fusion.fuse.rewrite import moved_expr
from xeforge.fusion.fuse.rewrite import with_reads
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt

NAME = "inline"

MOST_PARTS = 120
"""Nodes of a body after inlining; past it, what is emitted is no longer readable."""
CHEAP_FLOPS = 6
_DEAR = frozenset(
    {"exp", "exp2", "expm1", "log", "log1p", "pow", "erf", "tanh", "sin", "cos", "tan", "sqrt"}
    | {"rsqrt", "sigmoid", "silu", "gelu", "gelu_tanh", "mish", "softplus", "elu", "div"}
)


@dataclass(frozen=True, slots=True)
class Edge:
    """A producer and one of its readers, by the names of the statements."""

    producer: str
    reader: str


def may_inline(program: Program, edge: Edge) -> bool:
    """Say whether inlining is possible and repeats no more than it should.

    A cheap producer may go into any reader. A dear one goes into its only reader, and only where
    each of its elements is read at one place of what the reader reads.
    """
    statements = {each.name: each for each in program.statements}
    producer, reader = statements.get(edge.producer), statements.get(edge.reader)
    if producer is None or reader is None or not _can_inline(producer):
        return False
    array = producer.output.array
    reads = [each for each in reader.reads() if each.access.array == array]
    if not reads:
        return False
    size = _parts(reader.body) + len(reads) * _parts(producer.body)
    if size > MOST_PARTS:
        return False
    if not is_dear(producer.body):
        return True
    readers = [
        each
        for each in program.statements
        if any(read.access.array == array for read in each.reads())
    ]
    return (
        array not in program.outputs
        and readers == [reader]
        and len({each.access for each in reads}) == 1
        and _is_bijective(producer, reader, reads[0].access.index)
    )


def _can_inline(producer: Stmt) -> bool:
    is_pointwise = producer.reduce is None and not producer.constraints
    return is_pointwise and _values(producer, producer.output.index) is not None


def is_dear(value: Expr) -> bool:
    """Say whether computing a value again costs more than reading it may."""
    if expr_flops(value) > CHEAP_FLOPS:
        return True
    return any(each.function in _DEAR for each in _calls(value))


def run(program: Program, edge: Edge) -> Program:
    """Inline one producer into one reader; a producer that nobody reads any more goes.

    Args:
        program: Well-formed.
        edge: For which `may_inline` is true.

    Raises:
        ValueError: The producer is no pointwise statement, or leaves out points.
    """
    statements = {each.name: each for each in program.statements}
    producer, reader = statements[edge.producer], statements[edge.reader]
    if producer.reduce is not None or producer.constraints:
        raise ValueError(f"{producer.name} is not pointwise")
    new = replace(reader, body=with_reads(reader.body, lambda read: _put(producer, reader, read)))
    kept = tuple(new if each is reader else each for each in program.statements)
    array = producer.output.array
    is_read = any(read.access.array == array for each in kept for read in each.reads())
    if not is_read and array not in program.outputs:
        kept = tuple(each for each in kept if each is not producer)
    return program.with_statements(kept, by=NAME)


def _put(producer: Stmt, reader: Stmt, read: Read) -> Expr:
    if read.access.array != producer.output.array:
        return read
    values = _values(producer, read.access.index)
    if values is None:
        raise ValueError(f"{producer.name} does not write along plain axes")
    body = moved_expr(producer.body, values, reader.extents())
    if not read.access.guard:
        return body
    return Select(read.access.guard, body, Const(read.access.otherwise, read.dtype))


def _values(producer: Stmt, index: tuple[Affine, ...]) -> dict[str, Affine] | None:
    """Return the axes of the producer as what it is read at; None where they are not plain."""
    names = [each.single_axis() for each in producer.output.index]
    is_constant = [not each.terms for each in producer.output.index]
    if any(name is None and not fixed for name, fixed in zip(names, is_constant, strict=True)):
        return None
    if {each.name for each in producer.axes} != {name for name in names if name}:
        return None
    return {name: value for name, value in zip(names, index, strict=False) if name}


def _is_bijective(producer: Stmt, reader: Stmt, index: tuple[Affine, ...]) -> bool:
    """Say whether each element is read at one point of the axes that the index knows."""
    known = {name for each in index for name in each.names()}
    extents = {name: extent for name, extent in reader.extents().items() if name in known}
    digits = Digits({each.name: each.extent for each in producer.axes}, extents)
    pairs = zip(producer.output.index, index, strict=True)
    return all(digits.unify(written, read) for written, read in pairs) and not digits.free()


def _calls(value: Expr) -> Iterator[Call]:
    if isinstance(value, Call):
        yield value
    for part in children(value):
        yield from _calls(part)


def _parts(value: Expr) -> int:
    return 1 + sum(_parts(each) for each in children(value))
