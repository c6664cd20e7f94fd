"""Reads how a launch sizes its grid."""

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.knob_binding import resolve
from xeforge.source.knob_roles import grid_parts
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import integer
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import unparenthesized
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import additive_leaves


def grid_tuple(tree: KernelTree, launch: Launch) -> cst.Tuple | None:
    """Return the one tuple that a launch's grid is written as; None when there is not just one."""
    tuples = []
    for part in grid_parts(tree, launch):
        inner = part.body if isinstance(part, cst.Lambda) else part
        if isinstance(inner, cst.Tuple):
            tuples.append(inner)
        if isinstance(inner, cst.IndentedBlock):
            tuples.extend(
                each.value
                for each in walk(inner)
                if isinstance(each, cst.Return) and isinstance(each.value, cst.Tuple)
            )
    return tuples[0] if len(tuples) == 1 else None


def ceil_division(node: cst.BaseExpression) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """Return dividend and divisor of a division that rounds up; None for anything else."""
    if isinstance(node, cst.Call) and last_name(node.func) in {"cdiv", "ceil_div"}:
        above = argument(node, 0, "x")
        below = argument(node, 1, "y")
        return None if above is None or below is None else (above, below)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.FloorDivide):
        terms = list(additive_leaves(node.left))
        if [text(each) for each in terms[1:]] == [text(node.right), "1"]:
            return terms[0], node.right
    return None


def flat_extent(tree: KernelTree, launch: Launch, block: str) -> cst.BaseExpression | None:
    """Return what a one-dimensional grid covers in blocks of a parameter; None when unclear."""
    grid = grid_tuple(tree, launch)
    if grid is None or any(text(each.value) != "1" for each in grid.elements[1:]):
        return None
    parts = ceil_division(grid.elements[0].value)
    if parts is None or not is_value_of(tree, launch, parts[1], block):
        return None
    return parts[0]


def is_value_of(tree: KernelTree, launch: Launch, node: cst.BaseExpression, name: str) -> bool:
    """Say whether a host expression is the value that a launch gives to a parameter."""
    if text(node).endswith((f'["{name}"]', f"['{name}']")):
        return True
    given = launch.arguments.get(name)
    if given is None:
        return False
    if unparenthesized(node) == unparenthesized(given):
        return True
    one, other = resolve(tree, launch, node), resolve(tree, launch, given)
    return one is not None and other is not None and integer(one.literal) == integer(other.literal)
