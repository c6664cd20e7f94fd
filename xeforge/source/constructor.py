"""What a constructor does with its arguments."""

import ast
from collections.abc import Mapping
from typing import Final

from xeforge.source.declarations import KernelContents
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import functions_in

_CONVERSIONS: Final = frozenset({"int", "float", "bool", "str", "tuple", "list"})


def constructor_node(tree: ast.Module, contents: KernelContents) -> FunctionNode | None:
    """Return ``__init__`` of the model, if the file has it."""
    init = None if contents.model is None else contents.model.method("__init__")
    if init is None:
        return None
    return next((n for _, n in functions_in(tree) if n.lineno == init.line), None)


def stored_arguments(constructor: FunctionNode) -> Mapping[str, str]:
    """Return the attribute that an argument is kept in as it is: ``self.eps = float(eps)``."""
    found = {}
    for node in ast.walk(constructor):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            value = node.value
            if isinstance(value, ast.Call) and ast.unparse(value.func) in _CONVERSIONS:
                value = value.args[0] if len(value.args) == 1 else value
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Attribute) and isinstance(value, ast.Name):
                    found[value.id] = target.attr
    return found


def unused_arguments(tree: ast.Module, contents: KernelContents) -> tuple[str, ...]:
    """Return the constructor parameters that influence nothing as far as the file shows.

    Either they are never read, or they are kept in an attribute that nothing reads.
    """
    constructor = constructor_node(tree, contents)
    if constructor is None or contents.model is None:
        return ()
    if any(isinstance(n, ast.Name) and n.id in {"locals", "vars"} for n in ast.walk(constructor)):
        return ()
    stored = stored_arguments(constructor)
    loads: dict[str, int] = {}
    for node in ast.walk(constructor):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads[node.id] = loads.get(node.id, 0) + 1
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    # getattr and the like reach attributes by text.
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    found = []
    for parameter in contents.model.init_parameters:
        name = parameter.name
        if parameter.kind.startswith("var_") or name.startswith("_"):
            continue
        kept = stored.get(name)
        is_only_kept = kept is not None and loads.get(name) == 1 and kept not in read | texts
        if name not in loads or is_only_kept:
            found.append(name)
    return tuple(found)
