"""Questions about the body of a jit function: its blocks, its program order, its casts."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.source.declarations import KernelContents
from xeforge.source.imports import ImportTable
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import functions_in


def kernel_nodes(tree: ast.Module, contents: KernelContents) -> Mapping[str, FunctionNode]:
    """Return the syntax tree of every jit function, by the name that launches use."""
    by_line = {node.lineno: node for _, node in functions_in(tree)}
    return {each.name: by_line[each.line] for each in contents.jit_functions}


def is_call(node: ast.AST, imports: ImportTable, *names: str) -> bool:
    """Say whether a node calls one of these functions of Triton's language."""
    return isinstance(node, ast.Call) and imports.is_triton(node.func, *names)


def assignments(kernel: FunctionNode) -> Iterator[tuple[str, ast.expr, int]]:
    """Yield name, value and line of every plain assignment, in order of lines."""
    found = [
        (target.id, node.value, node.lineno)
        for node in ast.walk(kernel)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    yield from sorted(found, key=lambda each: each[2])


def program_axes(kernel: FunctionNode, imports: ImportTable) -> Mapping[str, frozenset[int]]:
    """Return, for each local name, the axes of the program number that it was computed from.

    Names of element offsets (computed with ``arange``) are left out: they number no tiles.
    """
    parts: list[tuple[str, frozenset[int], frozenset[str]]] = []
    for name, value in (*((n, v) for n, v, _ in assignments(kernel)), *_starts(kernel)):
        nodes = tuple(ast.walk(value))
        if any(is_call(each, imports, "arange") for each in nodes):
            continue
        names = frozenset(each.id for each in nodes if isinstance(each, ast.Name))
        parts.append((name, axes_of(value, {}, imports), names))
    axes: dict[str, frozenset[int]] = {}
    for _ in range(2):  # twice, because loops carry values back
        for name, own, names in parts:
            inherited = (axes.get(each, frozenset()) for each in names)
            axes[name] = axes.get(name, frozenset()).union(own, *inherited)
    return {name: found for name, found in axes.items() if found}


def _starts(kernel: FunctionNode) -> Iterator[tuple[str, ast.expr]]:
    """Yield loop variables with the first value they take: a resident program's tile number."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            arguments = node.iter.args if isinstance(node.iter, ast.Call) else []
            if len(arguments) == 3:  # noqa: PLR2004
                yield node.target.id, arguments[0]


def axes_of(
    node: ast.expr, axes: Mapping[str, frozenset[int]], imports: ImportTable
) -> frozenset[int]:
    """Return the axes of the program number inside an expression."""
    found: frozenset[int] = frozenset()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found |= axes.get(each.id, frozenset())
        elif isinstance(each, ast.Call) and is_call(each, imports, "program_id"):
            given = [*each.args, *(keyword.value for keyword in each.keywords)]
            if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, int):
                found |= {given[0].value}
    return found


@dataclass(frozen=True, slots=True)
class BlockProduct:
    """One product of something from the program number with a block size.

    Attributes:
        axes: Axes of the program number in the other factor.
        block: Name of the compile-time parameter.
        factor: The other factor.
        line: Where it stands.
    """

    axes: frozenset[int]
    block: str
    factor: ast.expr
    line: int


def block_products(
    kernel: FunctionNode,
    parameters: frozenset[str],
    imports: ImportTable,
    axes: Mapping[str, frozenset[int]] | None = None,
) -> tuple[BlockProduct, ...]:
    """Return the products ``pid * BLOCK``.

    Args:
        kernel: The jit function.
        parameters: Its compile-time parameters.
        imports: Of the file.
        axes: What `program_axes` says, when it has been asked already.
    """
    axes = program_axes(kernel, imports) if axes is None else axes
    found = []
    for node in ast.walk(kernel):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
            continue
        for factor, block in ((node.left, node.right), (node.right, node.left)):
            if isinstance(block, ast.Name) and block.id in parameters:
                inside = axes_of(factor, axes, imports)
                if inside:
                    found.append(BlockProduct(inside, block.id, factor, node.lineno))
    return tuple(found)


def strides_over_programs(
    kernel: FunctionNode,
    imports: ImportTable,
    axes: Mapping[str, frozenset[int]] | None = None,
) -> bool:
    """Say whether a program may work on more than one tile: a loop that starts at its number."""
    axes = program_axes(kernel, imports) if axes is None else axes
    for node in ast.walk(kernel):
        if is_call(node, imports, "num_programs"):
            return True
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            arguments = node.iter.args
            if len(arguments) == 3 and axes_of(arguments[0], axes, imports):  # noqa: PLR2004
                return True
    return False
