"""Which attributes of a model hold weights."""

import ast
from collections.abc import Collection
from typing import Final

from xeforge.source.imports import ImportTable
from xeforge.source.scopes import FunctionNode

_TENSORS: Final = ("nn.Parameter", "nn.parameter.Parameter")
_OF_MODULES: Final = ("weight", "bias", "running_mean", "running_var")


def weight_attributes(constructor: FunctionNode, imports: ImportTable) -> frozenset[str]:
    """Return the dotted attributes of ``self`` that hold parameters and buffers.

    Parameters of submodules made from ``torch.nn`` classes count under their usual names, e.g.
    ``"linear.weight"``.
    """
    found: set[str] = set()
    for node in ast.walk(constructor):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for target in node.targets:
                name = _own_attribute(target)
                if name is None:
                    continue
                if imports.is_torch(node.value.func, *_TENSORS):
                    found.add(name)
                elif (imports.dotted(node.value.func) or "").startswith("torch.nn."):
                    found |= {f"{name}.{each}" for each in _OF_MODULES}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_registered = node.func.attr in {"register_buffer", "register_parameter"}
            if is_registered and node.args and isinstance(node.args[0], ast.Constant):
                found.add(str(node.args[0].value))
    return frozenset(found)


def is_weight(node: ast.expr, names: Collection[str], weights: Collection[str]) -> bool:
    """Say whether an expression is a weight itself: ``self.weight``, or a name that holds one."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Attribute):
        return ast.unparse(node).removeprefix("self.") in weights and _is_of_self(node)
    return False


def _own_attribute(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if node.value.id == "self" else None
    return None


def _is_of_self(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"
