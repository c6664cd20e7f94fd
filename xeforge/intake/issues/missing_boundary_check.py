"""One access is bounded by a mask, another one with the same offsets is not."""

import ast
from collections.abc import Mapping
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts
from xeforge.source.imports import ImportTable
from xeforge.source.kernel_code import assignments
from xeforge.source.kernel_code import is_call
from xeforge.source.scopes import FunctionNode

NAME: Final = "missing_boundary_check"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report accesses without a mask by offsets that the same kernel compares with a size."""
    found = []
    for node in facts.nodes.values():
        bounded = _bounded(node, facts.imports)
        for call in _unmasked(node, facts.imports):
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


def _bounded(kernel: FunctionNode, imports: ImportTable) -> Mapping[str, str]:
    """Return the block offsets that some mask compares with a run-time size: name to size."""
    offsets = {
        name
        for name, value, _ in assignments(kernel)
        if any(is_call(each, imports, "arange") for each in ast.walk(value))
    }
    # Offsets that are wrapped around a size never pass it.
    wrapped = {
        name
        for name, value, _ in assignments(kernel)
        if any(isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mod) for e in ast.walk(value))
    }
    sizes = {each.arg for each in kernel.args.args if each.annotation is None}
    found = {}
    for node in ast.walk(kernel):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt):
            left, right = node.left, node.comparators[0]
            left = left.value if isinstance(left, ast.Subscript) else left
            if not (isinstance(left, ast.Name) and isinstance(right, ast.Name)):
                continue
            if left.id in offsets - wrapped and right.id in sizes:
                found[left.id] = right.id
    return found


def _unmasked(kernel: FunctionNode, imports: ImportTable) -> list[ast.Call]:
    """Return loads and stores without a mask; those in branches may have been checked before."""
    guarded = {
        id(inner)
        for node in ast.walk(kernel)
        if isinstance(node, ast.If)
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(kernel):
        if not isinstance(node, ast.Call) or id(node) in guarded:
            continue
        most = 1 if is_call(node, imports, "load") else 2 if is_call(node, imports, "store") else 0
        has_mask = any(each.arg in {"mask", "boundary_check"} for each in node.keywords)
        if most and not has_mask and len(node.args) == most:
            found.append(node)
    return found
