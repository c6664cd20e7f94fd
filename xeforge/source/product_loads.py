"""Loads behind the operands of matrix products in loops."""

import ast

from xeforge.source.addresses import address_of
from xeforge.source.addresses import lanes_of
from xeforge.source.addresses import made_by
from xeforge.source.addresses import pointer_of
from xeforge.source.kernel_body import Binding
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Loop


def product_loads(body: KernelBody) -> tuple[Call, ...]:
    """Return the loads in loops that operands of ``tl.dot`` in the same loop come from, in order.

    Values loaded by helper functions, and addresses that were loaded themselves, are left out.
    """
    found: dict[ast.Call, Call] = {}
    loads = body.named("load")
    for dot in body.named("dot", "dot_scaled"):
        if not dot.place.loops:
            continue
        loop = dot.place.loops[-1]
        reached = _reached(body, dot, loop)
        for load in loads:
            if loop in load.place.loops and load.node in reached and not _is_gather(body, load):
                found[load.node] = load
    return tuple(sorted(found.values(), key=lambda each: (each.place.index, each.line)))


def is_descriptor(load: Call) -> bool:
    """Say whether a load goes through a tensor descriptor."""
    return load.is_method


def is_block_pointer(body: KernelBody, load: Call) -> bool:
    """Say whether a load goes through a block pointer made in the kernel."""
    return not load.is_method and made_by(body, load.first, load.place.index) is not None


def multiplied(body: KernelBody) -> frozenset[str]:
    """Return the parameters whose memory goes into a product, in loops or outside."""
    found: set[str] = set()
    for dot in body.named("dot", "dot_scaled"):
        reached = _reached(body, dot, None)
        for load in body.named("load"):
            pointer = pointer_of(body, load.first, load.place.index)
            if load.node in reached and pointer is not None:
                found.add(pointer)
    return frozenset(found)


def _reached(body: KernelBody, dot: Call, loop: Loop | None) -> set[ast.AST]:
    """Return every node that the operands of a product are made of.

    Args:
        body: The kernel.
        dot: The product.
        loop: Names are followed to bindings in this loop only; None: to all.
    """
    waiting: list[tuple[ast.AST, int]] = [(each, dot.place.index) for each in dot.node.args[:2]]
    waiting += [
        (e.value, dot.place.index) for e in dot.node.keywords if e.arg in {"input", "other"}
    ]
    found: set[ast.AST] = set()
    while waiting:
        node, index = waiting.pop()
        for each in ast.walk(node):
            if each in found:
                continue
            found.add(each)
            bound = _binding(body, each.id, index, loop) if isinstance(each, ast.Name) else None
            # A dot's own result is a product, not an operand that was loaded.
            if bound is None or bound.value is None:
                continue
            if loop is None or loop in bound.place.loops:
                is_product = isinstance(bound.value, ast.Call) and body.imports.is_triton(
                    bound.value.func, "dot"
                )
                if not is_product:
                    waiting.append((bound.value, bound.place.index))
    return found


def _binding(body: KernelBody, name: str, index: int, loop: Loop | None) -> Binding | None:
    """Return the binding that a name has at a statement of a loop, carried over by its turns."""
    found = body.before(name, index)
    if loop is not None and (found is None or loop not in found.place.loops):
        carried = [b for b in body.by_name.get(name, ()) if loop in b.place.loops]
        return carried[-1] if carried else found
    return found


def _is_gather(body: KernelBody, load: Call) -> bool:
    address = address_of(load)
    if address is None or is_block_pointer(body, load):
        return False
    lanes = lanes_of(body, address, load.place.index)
    return len({each.axis for each in lanes}) < 2 or any(e.is_loaded for e in lanes)  # noqa: PLR2004
