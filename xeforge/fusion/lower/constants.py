"""Tensors that are one number everywhere, and triangles: nothing is read to know them."""

from xeforge.fusion.affine import at_least
from xeforge.fusion.front.graph import Node
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select
from xeforge.fusion.lower.arguments import Arguments
from xeforge.fusion.lower.arguments import refuse
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import At
from xeforge.fusion.lower.value import Value

_PLACEMENT = ("dtype", "layout", "device", "pin_memory", "memory_format")
_NUMBERS = {"ones": 1.0, "ones_like": 1.0, "zeros": 0.0, "zeros_like": 0.0}


def lower_number(_: Draft, node: Node) -> Value:
    """Stand for one number in a shape, without a statement."""
    args = Arguments(node, "size", *(() if node.op in _NUMBERS else ("fill_value",)), *_PLACEMENT)
    number = _NUMBERS.get(node.op)
    if number is None:
        number = args.number("fill_value", 0.0)
    return Value(node.shape, node.dtype, "", (), constant=number)


def lower_triangle(draft: Draft, node: Node) -> Value:
    """Keep one side of a diagonal of the last two dimensions."""
    args = Arguments(node, "self", "diagonal")
    value = draft.value(args.ref("self"))
    diagonal = args.integer("diagonal", 0)
    if node.dtype == "bool":
        raise refuse(node, "of booleans is not covered")

    def body(at: At) -> Expr:
        row, column = at[-2], at[-1]
        is_lower = at_least(row + diagonal, column)
        is_upper = at_least(column, row + diagonal)
        guard = (is_lower if node.op == "tril" else is_upper,)
        return Select(guard, value.at(at), Const(0.0, node.dtype))

    return draft.pointwise(node.name, node.shape, node.dtype, body)


LOWERINGS = {
    **dict.fromkeys((*_NUMBERS, "full", "full_like"), lower_number),
    **dict.fromkeys(("tril", "triu"), lower_triangle),
}
