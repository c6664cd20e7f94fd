"""Reads a kernel file or a reference: what it declares, by its syntax tree alone."""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Final

from xeforge.errors import BadKernel
from xeforge.source.declarations import Autotune
from xeforge.source.declarations import AutotuneConfig
from xeforge.source.declarations import JitFunction
from xeforge.source.declarations import KernelContents
from xeforge.source.declarations import LaunchSite
from xeforge.source.declarations import ModelClass
from xeforge.source.declarations import ModuleFunction
from xeforge.source.declarations import Parameter
from xeforge.source.decorators import Decoration
from xeforge.source.decorators import read_decorators
from xeforge.source.imports import ImportTable
from xeforge.source.imports import read_imports
from xeforge.source.launches import read_launches
from xeforge.source.model import read_model
from xeforge.source.scopes import FunctionNode
from xeforge.source.scopes import functions_in
from xeforge.source.scopes import parameters_of
from xeforge.source.values import ModuleValues
from xeforge.source.values import read_values

__all__ = [
    "Autotune",
    "AutotuneConfig",
    "JitFunction",
    "KernelContents",
    "LaunchSite",
    "ModelClass",
    "ModuleFunction",
    "Parameter",
    "parse",
    "read_contents",
]

SIZE_LIMIT_CHARACTERS: Final = 2_000_000
"""Longer files are refused; the longest known kernel file has a twentieth of this."""


_ENCODING: Final = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
"""How Python looks for a declaration in the first two lines."""
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_READ_AS_WRITTEN: Final = ("utf-8-", "utf8-", "ascii-", "us-ascii-")


def parse(source: str, path: str) -> ast.Module:
    """Return the syntax tree of a file.

    Args:
        source: Text of the file; a leading byte order mark is passed over, as Python does.
        path: Name of the file in messages.

    Raises:
        BadKernel: Empty, too long, null bytes, another encoding than UTF-8, or not Python; with the
            line.
    """
    if not source.strip("\ufeff \t\r\n\f"):
        raise BadKernel(
            "the file is empty", file=path, remedy="check the path and the file's contents"
        )
    if "\0" in source:
        line = source[: source.index("\0")].count("\n") + 1
        raise BadKernel(
            "the file contains null bytes: it is no text file",
            file=path,
            line=line,
            remedy="pass the Python source of the kernel, saved as UTF-8",
        )
    if len(source) > SIZE_LIMIT_CHARACTERS:
        raise BadKernel(
            f"the file has {len(source):,} characters, more than {SIZE_LIMIT_CHARACTERS:,}",
            file=path,
            remedy="keep data out of the kernel file",
        )
    _check_encoding(source, path)
    try:
        with warnings.catch_warnings():
            # Doubtful escape sequences are the file's affair and would otherwise be printed.
            warnings.simplefilter("ignore")
            return ast.parse(source.removeprefix("\ufeff"), filename=path)
    except SyntaxError as error:
        raise BadKernel(
            f"not valid Python: {error.msg}",
            file=path,
            line=error.lineno,
            remedy="run the file through python -m py_compile and mend what it reports",
        ) from error
    except (RecursionError, MemoryError, ValueError) as error:
        raise BadKernel(
            "the file cannot be parsed: it is nested too deeply or holds characters that no "
            "UTF-8 text can hold",
            file=path,
            remedy="simplify the expression, or save the file as UTF-8",
        ) from error


def _check_encoding(source: str, path: str) -> None:
    """Refuse a declared encoding under which Python reads another text than stands here."""
    # Not `splitlines`, which ends lines where Python does not.
    for line, text in enumerate(_LINE_END.split(source.removeprefix("\ufeff"), 2)[:2], start=1):
        declared = _ENCODING.match(text)
        name = declared[1].lower().replace("_", "-") if declared is not None else "utf-8"
        if declared is not None and not f"{name}-".startswith(_READ_AS_WRITTEN):
            raise BadKernel(
                f"the file declares the encoding {declared[1]}",
                file=path,
                line=line,
                remedy="save the file as UTF-8 and take the declaration out",
            )


def read_contents(
    source: str, path: str, *, require_kernel: bool = True, tree: ast.Module | None = None
) -> KernelContents:
    """Say what a file declares; nothing of it is run.

    Args:
        source: Text of the file.
        path: Name of the file in messages.
        require_kernel: Refuse a file without a jit function; off for references.
        tree: What `parse` made of the text, when it has been asked already.

    Raises:
        BadKernel: The file is no Python text, or has no jit function though it must.
    """
    tree = parse(source, path) if tree is None else tree
    imports = read_imports(tree)
    values = read_values(tree, imports)
    jit = tuple(_jit_functions(tree, imports, values))
    if require_kernel and not jit:
        raise BadKernel(
            "no Triton kernel: no function is decorated with triton.jit",
            file=path,
            remedy="decorate the kernel function with @triton.jit",
        )
    names = {each.name for each in jit}
    functions = tuple(
        ModuleFunction(
            node.name, node.lineno, node.end_lineno or node.lineno, parameters_of(node, imports)
        )
        for name, node in functions_in(tree)
        if "." not in name and name not in names
    )
    function_names = {each.name for each in functions}
    return KernelContents(
        path=path,
        jit_functions=jit,
        launches=read_launches(tree, names),
        model=read_model(tree, imports),
        functions=functions,
        constants=values.constants,
        has_get_inputs="get_inputs" in function_names,
        has_get_init_inputs="get_init_inputs" in function_names,
        classes=tuple(each.name for each in tree.body if isinstance(each, ast.ClassDef)),
    )


def _jit_functions(
    tree: ast.Module, imports: ImportTable, values: ModuleValues
) -> Iterator[JitFunction]:
    found: dict[str, tuple[FunctionNode, Decoration]] = {}
    plain: dict[str, FunctionNode] = {}
    for _, node in functions_in(tree):
        decoration = read_decorators(node.decorator_list, imports, values)
        if decoration.is_jit:
            found[node.name] = (node, decoration)
        plain[node.name] = node
    for alias, wrappers, target in _wrapped(tree):
        node_or_none = plain.get(target)
        decoration = read_decorators(wrappers, imports, values)
        if node_or_none is None or not (decoration.is_jit or target in found):
            continue
        if decoration.is_jit or decoration.autotune or decoration.heuristics:
            found[alias] = (node_or_none, decoration)
    calls = {name: _calls(node, found.keys() - {name}) for name, (node, _) in found.items()}
    with_dot = {name for name, (node, _) in found.items() if _uses_dot(node, imports)}
    for name, (node, decoration) in sorted(found.items(), key=lambda item: item[1][0].lineno):
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        yield JitFunction(
            name=name,
            line=node.lineno,
            end_line=node.end_lineno or node.lineno,
            params=parameters_of(node, imports),
            autotune=decoration.autotune,
            heuristics=decoration.heuristics,
            has_dot=bool(with_dot & _reachable(name, calls)),
            first_line=first,
            calls=tuple(sorted(calls[name])),
        )


def _wrapped(tree: ast.Module) -> Iterator[tuple[str, list[ast.expr], str]]:
    """Yield ``name = triton.jit(function)`` and its like: new name, wrappers, function.

    Attributes count too, by their last part: ``Attention.kernel = tuner(function)``.
    """
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
            continue
        target = node.targets[0]
        wrappers: list[ast.expr] = []
        value: ast.expr = node.value
        while isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
            wrappers.append(value.func)
            value = value.args[0]
        if isinstance(value, ast.Name) and isinstance(target, ast.Name):
            yield target.id, wrappers, value.id
        elif isinstance(value, ast.Name) and isinstance(target, ast.Attribute):
            yield target.attr, wrappers, value.id


def _calls(node: FunctionNode, kernels: set[str]) -> set[str]:
    return {
        each.func.id
        for each in ast.walk(node)
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Name)
        and each.func.id in kernels
    }


def _uses_dot(node: FunctionNode, imports: ImportTable) -> bool:
    return any(
        isinstance(each, ast.Call) and imports.is_triton(each.func, "dot", "dot_scaled")
        for each in ast.walk(node)
    )


def _reachable(name: str, calls: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            waiting += calls[current]
    return seen
