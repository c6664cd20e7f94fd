"""Finds the places where kernels are launched: ``kernel[grid](...)``."""

import ast
import copy
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping

from xeforge.source.declarations import LaunchSite
from xeforge.source.scopes import MODULE
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import bindings_of
from xeforge.source.scopes import functions_in
from xeforge.source.scopes import own_nodes

Bindings = Mapping[str, list[ast.expr | FunctionNode]]
_NESTING_LIMIT = 4


def read_launches(tree: ast.Module, kernels: Collection[str]) -> tuple[LaunchSite, ...]:
    """Return all launches of the named jit functions, in order of appearance."""
    outer = bindings_of(tree)
    found = list(_scope(tree, MODULE, outer, kernels))
    for name, node in functions_in(tree):
        if name.rpartition(".")[2] not in kernels:
            found += _scope(node, name, {**outer, **bindings_of(node)}, kernels)
    return tuple(sorted(found, key=lambda each: each.line))


def _scope(
    scope: ast.AST, function: str, bindings: Bindings, kernels: Collection[str]
) -> Iterator[LaunchSite]:
    for call in own_nodes(scope):
        if not isinstance(call, ast.Call):
            continue
        launcher = _launcher(call.func, bindings)
        if launcher is None:
            continue
        for kernel in _kernels(launcher.value, bindings, kernels):
            yield LaunchSite(
                kernel=kernel,
                line=call.lineno,
                function=function,
                grid=ast.unparse(launcher.slice),
                positional=tuple(ast.unparse(each) for each in call.args),
                keywords={each.arg or "**": ast.unparse(each.value) for each in call.keywords},
                resolved_grid=_resolved(launcher.slice, bindings),
                end_line=call.end_lineno or call.lineno,
            )


def _launcher(node: ast.expr, bindings: Bindings) -> ast.Subscript | None:
    """Return ``kernel[grid]`` behind the called expression, also when it was given a name."""
    if isinstance(node, ast.Name) and len(bindings.get(node.id, ())) == 1:
        only = bindings[node.id][0]
        return only if isinstance(only, ast.Subscript) else None
    return node if isinstance(node, ast.Subscript) else None


def _kernels(
    node: ast.expr, bindings: Bindings, kernels: Collection[str], depth: int = 0
) -> Iterator[str]:
    """Yield the jit functions an expression may stand for."""
    if depth > _NESTING_LIMIT:
        return
    if isinstance(node, ast.IfExp):
        yield from _kernels(node.body, bindings, kernels, depth + 1)
        yield from _kernels(node.orelse, bindings, kernels, depth + 1)
    elif isinstance(node, ast.Call) and node.args:
        # Wrappers that keep the launch syntax, such as torch.library.wrap_triton.
        yield from _kernels(node.args[0], bindings, kernels, depth + 1)
    elif isinstance(node, ast.Attribute) and node.attr in kernels:
        yield node.attr
    elif isinstance(node, ast.Name):
        if node.id in kernels:
            yield node.id
        else:
            for bound in bindings.get(node.id, ()):
                if isinstance(bound, ast.expr):
                    yield from _kernels(bound, bindings, kernels, depth + 1)


def _resolved(grid: ast.expr, bindings: Bindings) -> str:
    if not isinstance(grid, ast.Name):
        return ast.unparse(grid)
    found = bindings.get(grid.id, [])
    if len(found) != 1:
        return ""
    only = found[0]
    if isinstance(only, ast.expr):
        return ast.unparse(only)
    returned = [each for each in own_nodes(only) if isinstance(each, ast.Return)]
    if len(returned) != 1 or returned[0].value is None:
        return ""
    arguments = copy.deepcopy(only.args)
    for each in ast.walk(arguments):
        if isinstance(each, ast.arg):
            each.annotation = None  # a lambda has none
    return f"lambda {ast.unparse(arguments)}: {ast.unparse(returned[0].value)}"
