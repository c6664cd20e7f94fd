"""Finds the class ``Model`` and what it inherits within the file."""

import ast

from xeforge.source.declarations import ModelClass
from xeforge.source.declarations import ModuleFunction
from xeforge.source.imports import ImportTable
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import parameters_of

MODEL = "Model"


def read_model(tree: ast.Module, imports: ImportTable) -> ModelClass | None:
    """Return the class named ``Model`` (or that ``Model`` is bound to), or nothing."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    node = classes.get(MODEL) or _aliased(tree, classes)
    if node is None:
        return None
    lineage = _lineage(node, classes)
    methods = _methods(lineage, imports)
    by_name = {each.name: each for each in methods}
    init, forward = by_name.get("__init__"), by_name.get("forward")
    return ModelClass(
        name=node.name,
        line=node.lineno,
        end_line=node.end_lineno or node.lineno,
        init_parameters=init.parameters if init else (),
        forward_parameters=forward.parameters if forward else (),
        methods=methods,
        is_module=any(_is_torch_class(base, imports) for each in lineage for base in each.bases),
        bases=tuple(ast.unparse(base) for base in node.bases),
    )


def _aliased(tree: ast.Module, classes: dict[str, ast.ClassDef]) -> ast.ClassDef | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names = [each.id for each in node.targets if isinstance(each, ast.Name)]
            if MODEL in names:
                return classes.get(node.value.id)
    return None


def _lineage(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """Return the class and its bases in this file, nearest first."""
    found = [node]
    for current in found:
        for base in current.bases:
            known = classes.get(base.id) if isinstance(base, ast.Name) else None
            if known is not None and known not in found:
                found.append(known)
    return found


def _methods(lineage: list[ast.ClassDef], imports: ImportTable) -> tuple[ModuleFunction, ...]:
    found: dict[str, ModuleFunction] = {}
    for each in lineage:
        for node in each.body:
            if isinstance(node, FunctionNode) and node.name not in found:
                found[node.name] = ModuleFunction(
                    name=node.name,
                    line=node.lineno,
                    end_line=node.end_lineno or node.lineno,
                    parameters=parameters_of(node, imports, drop_first=not _is_static(node)),
                )
    return tuple(found.values())


def _is_static(node: FunctionNode) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list
    )


def _is_torch_class(base: ast.expr, imports: ImportTable) -> bool:
    return (imports.dotted(base) or "").startswith("torch.nn.")
