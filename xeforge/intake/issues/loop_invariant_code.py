"""A loop of a kernel loads or computes something that no turn of it changes.

Looks for loads and dear functions in a ``range`` loop whose names the loop does not bind, or binds
to unchanging values only. Misses cheap arithmetic and pointer sums, which LLVM hoists, loads of
memory that the same loop writes, anything in a branch or a ``static_range``. Source: Triton has no
pass that hoists loads out of ``scf.for`` (``triton/lib/Dialect/Triton/Transforms``: its
loop-invariant code motion moves loads only when no store is in the loop).
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import pointer_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Loop

NAME: Final = "loop_invariant_code"
_DEAR: Final = (
    *("load", "dot", "sum", "max", "min", "trans", "permute", "exp", "exp2", "log", "log2"),
    *("sqrt", "rsqrt", "sqrt_rn", "sin", "cos", "erf", "tanh", "sigmoid", "softmax"),
)


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the outermost unchanging call of each expression."""
    found = {}
    for name, body in facts.bodies.items():
        for call in body.named(*_DEAR):
            if _is_invariant(body, call):
                text = ast.unparse(call.node)
                found[name, call.line] = slow(
                    NAME,
                    call.line,
                    f"{text} is the same in every turn of the loop at line "
                    f"{call.place.loops[-1].lineno}",
                    "compute it once, before the loop",
                )
    return tuple(found.values())


def _is_invariant(body: KernelBody, call: Call) -> bool:
    if not call.place.loops or not isinstance(call.place.loops[-1], ast.For):
        return False
    loop = call.place.loops[-1]
    is_static = ast.unparse(loop.iter).partition("(")[0].endswith("static_range")
    if is_static or len(call.place.branches) > len(body.place_of(loop).branches):
        return False
    if call.name == "load" and _is_written(body, call, loop):
        return False
    return _unchanging(body, call.node, loop, 0)


def _unchanging(body: KernelBody, node: ast.AST, loop: Loop, depth: int) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and body.imports.is_triton(each.func, "rand", "randn"):
            return False
        if not (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)):
            continue
        inside = [b for b in body.by_name.get(each.id, ()) if loop in b.place.loops]
        if not inside:
            continue
        only = inside[0]
        if len(inside) > 1 or only.value is None or only.is_step or depth > 4:  # noqa: PLR2004
            return False
        if any(loop_ is not loop for loop_ in only.place.loops[only.place.loops.index(loop) :]):
            return False
        if not _unchanging(body, only.value, loop, depth + 1):
            return False
    return True


def _is_written(body: KernelBody, call: Call, loop: Loop) -> bool:
    pointer = pointer_of(body, call.first, call.place.index)
    return any(
        pointer_of(body, each.first, each.place.index) in {pointer, None}
        for each in body.calls
        if loop in each.place.loops and (each.name == "store" or each.name.startswith("atomic_"))
    )
