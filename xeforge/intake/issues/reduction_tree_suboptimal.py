"""A loop of a kernel reduces each tile to a number instead of accumulating tiles.

Looks for ``n += tl.sum(tile)`` and ``n = tl.maximum(n, tl.max(tile))`` of one-dimensional tiles in
a loop that uses ``n`` for nothing else. Misses reductions of one axis of several, and numbers that
the loop needs (online softmax must have its maximum in each turn). Source: a reduction over a
work-group takes log2(32) shuffles, shared memory and a barrier (``triton/lib/Conversion/
TritonGPUToLLVM/ReduceOpToLLVM.cpp``); adding tiles takes one instruction an element.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import rank_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Binding
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody

NAME: Final = "reduction_tree_suboptimal"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each such reduction."""
    found = []
    for body in facts.bodies.values():
        for call in body.named("sum", "max", "min"):
            if not call.place.loops or rank_of(body, call.first, call.place.index) != 1:
                continue
            binding = _accumulating(body, call)
            if binding is not None and _is_only_use(body, binding):
                found.append(
                    slow(
                        NAME,
                        call.line,
                        f"{ast.unparse(call.node)} reduces over the work-group in every turn of "
                        f"the loop, though {binding.name} is only accumulated",
                        "accumulate whole tiles in the loop and reduce once behind it",
                    )
                )
    return tuple(found)


def _accumulating(body: KernelBody, call: Call) -> Binding | None:
    """Return the binding of this statement when it adds the reduction to the name it binds."""
    for each in body.bindings:
        if each.place.index != call.place.index or each.value is None:
            continue
        parts = _parts(body, each.value)
        is_added = any(part is call.node for part in parts)
        is_carried = any(isinstance(p, ast.Name) and p.id == each.name for p in parts)
        if is_added and is_carried:
            return each
    return None


def _parts(body: KernelBody, node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [left, right]
        case ast.Call() if body.imports.is_triton(node.func, "maximum", "minimum"):
            return node.args
        case ast.Call(func=ast.Name(id="max" | "min")):
            return node.args
        case _:
            return []


def _is_only_use(body: KernelBody, binding: Binding) -> bool:
    loop = binding.place.loops[-1]
    uses = sum(
        isinstance(each, ast.Name) and each.id == binding.name and isinstance(each.ctx, ast.Load)
        for statement in loop.body
        for each in ast.walk(statement)
    )
    # A step such as ``n += ...`` reads the name without a load in the tree.
    bound = sum(loop in each.place.loops for each in body.by_name[binding.name])
    return bound == 1 and uses == (0 if binding.is_step else 1)
