"""A better known way exists: three walks over the same data, or a product without matrix units.

Looks for three or more loops that read the same addresses (softmax and norms need two, or one with
running statistics), and for ``tl.sum(a[:, :, None] * b[None, :, :])``. Misses better algorithms
that only knowing the purpose would suggest. Source: online normalizer calculation for softmax,
arXiv:1805.02867; Welford's running variance; matrix units do a product at many times the rate of
vector units.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import KernelBody
from xeforge.source.walks import repeated_walks

NAME: Final = "suboptimal_algorithm"
_MOST_WALKS: Final = 2
_CUBE: Final = 3


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the third walk, and each sum of a broadcast product."""
    found = []
    for name, body in facts.bodies.items():
        for walk in repeated_walks(body):
            if len(walk.loops) > _MOST_WALKS:
                pointer = pointer_of(body, walk.loads[0].first, walk.loads[0].place.index)
                lines = ", ".join(str(each.line) for each in walk.loads)
                found.append(
                    slow(
                        NAME,
                        walk.loops[_MOST_WALKS].lineno,
                        f"{name} reads {pointer} in {len(walk.loops)} loops (lines {lines})",
                        "keep running statistics, or the whole row on chip, and walk less often",
                    )
                )
                break
        found += _broadcast_products(body)
    return tuple(found)


def _broadcast_products(body: KernelBody) -> list[Issue]:
    found = []
    for call in body.named("sum"):
        if call.first is None:
            continue
        node, index = body.value_of(call.first, call.place.index)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = (body.value_of(node.left, index)[0], body.value_of(node.right, index)[0])
            if all(_is_cube(each) for each in sides):
                found.append(
                    slow(
                        NAME,
                        call.line,
                        f"{ast.unparse(call.node)} is a matrix product on the vector units",
                        "use tl.dot",
                    )
                )
    return found


def _is_cube(node: ast.expr) -> bool:
    """Say whether a tile is spread over a third axis: ``a[:, :, None]``."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)):
        return False
    parts = node.slice.elts
    news = [each for each in parts if isinstance(each, ast.Constant) and each.value is None]
    return len(parts) >= _CUBE and len(news) == 1
