"""An access may pass the end of its tensor.

Looks for accesses without a mask by offsets that the same kernel compares with a size, and, in
kernels that compare nothing, for accesses by ``program_id * BLOCK + arange(BLOCK)`` where the grid
of the launch is rounded up. Misses branches, which may have looked before, block pointers (see
``block_ptr_boundary_wrong``), and offsets that are wrapped around or clamped. Source: Triton's
language reference, ``tl.load``: without a mask every element is accessed.
"""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.addresses import address_of
from xeforge.source.addresses import lanes_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody

NAME: Final = "missing_boundary_check"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report accesses without a mask by offsets that the same kernel compares with a size."""
    found = list(_rounded_up(facts))
    for body in facts.bodies.values():
        bounded = _bounded(body)
        for call in _unmasked(body) if bounded else ():
            names = {each.id for each in ast.walk(call.args[0]) if isinstance(each, ast.Name)}
            hit = sorted(names & bounded.keys())
            if hit:
                kind = ast.unparse(call.func)
                found.append(
                    Issue(
                        type=NAME,
                        severity=Severity.WARNING,
                        message=f"{kind} with {hit[0]} has no mask, though {hit[0]} may reach "
                        f"{bounded[hit[0]]} and beyond, as another mask of the kernel says",
                        line=call.lineno,
                        remedy=f"add mask={hit[0]} < {bounded[hit[0]]}",
                    )
                )
    return tuple(found)


def _bounded(body: KernelBody) -> Mapping[str, str]:
    """Return the block offsets that some mask compares with a run-time size: name to size."""
    ranges = {each.place.index for each in body.named("arange")}
    offsets = {each.name for each in body.bindings if each.place.index in ranges}
    # Offsets that are wrapped around a size never pass it.
    wraps = {
        place.index
        for node, place in body.expressions
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    }
    offsets -= {each.name for each in body.bindings if each.place.index in wraps}
    sizes = {each.arg for each in body.node.args.args if each.annotation is None}
    found = {}
    for node, _ in body.expressions:
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
            left, right = node.left, node.comparators[0]
            left = left.value if isinstance(left, ast.Subscript) else left
            if not (isinstance(left, ast.Name) and isinstance(right, ast.Name)):
                continue
            if left.id in offsets and right.id in sizes:
                found[left.id] = right.id
    return found


def _unmasked(body: KernelBody) -> list[ast.Call]:
    """Return loads and stores without a mask; those in branches may have been checked before."""
    found = []
    for call in body.named("load", "store"):
        if call.is_method or call.place.branches:
            continue
        most = 1 if call.name == "load" else 2
        has_mask = any(each.arg in {"mask", "boundary_check"} for each in call.node.keywords)
        if not has_mask and len(call.node.args) == most:
            found.append(call.node)
    return found


def _rounded_up(facts: FileFacts) -> Iterator[Issue]:
    """Yield accesses of kernels that compare nothing though their grid is rounded up."""
    seen: set[str] = set()
    for launch in facts.launches:
        name = launch.kernel.name
        body = facts.bodies[name]
        is_bounded = any(
            isinstance(node, ast.Compare)
            or (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod))
            for node, _ in body.expressions
        )
        if name in seen or is_bounded or "cdiv(" not in launch.site.resolved_grid:
            continue
        seen.add(name)
        for call in body.named("load", "store"):
            address, index = address_of(call), call.place.index
            lanes = lanes_of(body, address, index)
            is_open = all(each.is_plain for each in lanes) and not _has_mask(call)
            if address is None or not lanes or not is_open or call.place.branches:
                continue
            if "program_id()" in body.sources(address, index):
                yield Issue(
                    type=NAME,
                    severity=Severity.WARNING,
                    message=f"{ast.unparse(call.node.func)} has no mask, though the grid "
                    f"{launch.site.resolved_grid} is rounded up: the last program passes the end",
                    line=call.line,
                    remedy="pass the size and add a mask",
                )


def _has_mask(call: Call) -> bool:
    position = 1 if call.name == "load" else 2
    return call.argument(position, "mask") is not None
