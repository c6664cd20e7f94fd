"""A block pointer over run-time sizes is used without boundary check on one of its axes.

Looks for loads and stores of block pointers made in the kernel whose ``boundary_check`` lacks an
axis with a run-time size, or names an axis that is not there. Misses block pointers that come in
as arguments, and branches that may have looked before. Source: Triton's language reference,
``tl.load``: without the check, elements beyond the shape are read and written.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.addresses import made_by
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody

NAME: Final = "block_ptr_boundary_wrong"
_FIELDS: Final = ("base", "shape", "strides", "offsets", "block_shape", "order")


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each access."""
    found = []
    for name, body in facts.bodies.items():
        kernel = facts.contents.jit_function(name)
        fixed = {each.name for each in kernel.params if each.is_constexpr} if kernel else set()
        for call in body.named("load", "store"):
            made = None if call.is_method else made_by(body, call.first, call.place.index)
            if made is None or not body.imports.is_triton(made.func, "make_block_ptr"):
                continue
            why = None if call.place.branches else _fault(body, call, made, fixed)
            if why:
                found.append(
                    Issue(
                        type=NAME,
                        severity=Severity.SPEED,
                        message=f"{ast.unparse(call.node)}: {why}",
                        line=call.line,
                        remedy="check every axis whose size is no multiple of the block",
                    )
                )
    return tuple(found)


def _fault(body: KernelBody, call: Call, made: ast.Call, fixed: set[str]) -> str | None:
    given = dict(zip(_FIELDS, made.args, strict=False))
    given |= {each.arg: each.value for each in made.keywords if each.arg is not None}
    shape, block = given.get("shape"), given.get("block_shape")
    if not isinstance(shape, ast.Tuple | ast.List) or not isinstance(block, ast.Tuple | ast.List):
        return None
    position = 3 if call.name == "load" else 2
    node = call.argument(position, "boundary_check")
    checked: tuple[int, ...] = ()
    if node is not None:
        try:
            read = ast.literal_eval(node)
        except ValueError:
            return None
        checked = tuple(read) if isinstance(read, tuple | list) else (read,)
    beyond = [axis for axis in checked if axis >= len(shape.elts)]
    if beyond:
        return f"axis {beyond[0]} is checked, but there are only {len(shape.elts)}"
    for axis, (size, extent) in enumerate(zip(shape.elts, block.elts, strict=False)):
        names = {each.id for each in ast.walk(size) if isinstance(each, ast.Name)}
        names &= body.parameters
        is_single = isinstance(extent, ast.Constant) and extent.value == 1
        if axis not in checked and names - fixed and not is_single:
            return f"axis {axis} of size {ast.unparse(size)} is not checked"
    return None
