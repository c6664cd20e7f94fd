"""What the launches of a kernel tell about the factors in its addresses."""

import ast
from collections.abc import Mapping

from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import HostLaunch
from xeforge.source.scopes import FunctionNode


def certainly_not_one(facts: FileFacts, kernel: str, factor: ast.expr) -> bool:
    """Say whether a factor of an address is a size, a stride between rows, or a number above one.

    Every launch must say so. A size may be one by chance; that is not what kernels are tuned for.
    """
    if isinstance(factor, ast.Constant):
        return isinstance(factor.value, int) and factor.value > 1
    if isinstance(factor, ast.BinOp) and isinstance(factor.op, ast.Mult):
        sides = (factor.left, factor.right)
        return any(certainly_not_one(facts, kernel, each) for each in sides)
    if not isinstance(factor, ast.Name):
        return False
    launches = [each for each in facts.launches if each.kernel.name == kernel]
    given = [each.arguments.get(factor.id) for each in launches]
    return bool(given) and all(
        node is not None and _is_large(facts, launch, node)
        for launch, node in zip(launches, given, strict=True)
    )


def _is_large(facts: FileFacts, launch: HostLaunch, node: ast.expr) -> bool:
    function = facts.functions.get(launch.site.function)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int) and node.value > 1
    if isinstance(node, ast.Name) and function is not None:
        return _is_large_name(facts, function, node.id)
    text = ast.unparse(node)
    if ".shape[" in text or ".size(" in text:
        return isinstance(node, ast.Subscript | ast.Call)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr != "stride" or function is None or len(node.args) != 1:
            return False
        axis, tensor = ast.unparse(node.args[0]), ast.unparse(node.func.value)
        return axis == "-2" or (axis == "0" and _has_two_axes(function, tensor))
    return False


def _is_large_name(facts: FileFacts, function: FunctionNode, name: str) -> bool:
    """Say whether a local name is a size: unpacked from a shape, or bound to one."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        is_shape = ".shape" in ast.unparse(node.value) or ".size(" in ast.unparse(node.value)
        for target in node.targets:
            names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
            if name in names and is_shape:
                return isinstance(node.value, ast.Attribute | ast.Subscript | ast.Call | ast.Tuple)
    constants: Mapping[str, object] = facts.contents.constants
    value = constants.get(name)
    return isinstance(value, int) and value > 1


def _has_two_axes(function: FunctionNode, tensor: str) -> bool:
    """Say whether the function treats a tensor, or what it is made from, as a matrix at least."""
    names = {tensor}
    text = ast.unparse(function)
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Tuple)):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id == tensor:
            names.add(_shown(node.value))
        is_unpacked = isinstance(target, ast.Tuple) and len(target.elts) > 1
        if is_unpacked and ast.unparse(node.value) == f"{tensor}.shape":
            return True
    ends = (".shape[1]", ".size(1)", ".stride(1)")
    return any(f"{name}{end}" in text for name in names - {""} for end in ends)


def _shown(node: ast.expr) -> str:
    """Return the name at the start of ``boxes[order].contiguous()``; empty for other values."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
