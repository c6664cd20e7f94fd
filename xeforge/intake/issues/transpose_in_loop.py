"""A loop of a kernel transposes a tile that it loads.

Looks for ``tl.trans``, ``tl.permute`` and ``.T`` of a tile loaded in the same loop. Misses tiles
that helper functions load or transpose, and computed tiles, which have no layout in memory to
choose. Source: a transposed tile changes layout through shared memory unless the product reads it
from there (``ConvertLayoutOp`` in Triton's GPU dialect).
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Place

NAME: Final = "transpose_in_loop"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each transposition."""
    found: dict[int, Issue] = {}
    for body in facts.bodies.values():
        for node, place in body.expressions:
            turned = _turned(body, node) if place.loops else None
            if turned is not None and _is_loaded(body, turned, place):
                found[turned.lineno] = slow(
                    NAME,
                    turned.lineno,
                    f"{ast.unparse(turned)} is loaded and transposed in every turn of the loop",
                    "load it in the order that is needed: swap the strides or the axes of the "
                    "descriptor",
                )
    return tuple(found.values())


def _turned(body: KernelBody, node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Attribute(value=value, attr="T"):
            return value
        case ast.Call(args=[first, *_]) if body.imports.is_triton(node.func, "trans", "permute"):
            return first
        case ast.Call(func=ast.Attribute(value=value, attr="trans" | "permute")):
            return value
        case _:
            return None


def _is_loaded(body: KernelBody, node: ast.expr, place: Place) -> bool:
    index = place.index
    for _ in range(4):
        if isinstance(node, ast.Name):
            found = body.before(node.id, index)
            is_inside = found is not None and place.loops[-1] in found.place.loops
            if found is None or found.value is None or not is_inside:
                return False
            node, index = found.value, found.place.index
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "load":
                return True
            if node.func.attr != "to":
                return False
            node = node.func.value
        else:
            return False
    return False
