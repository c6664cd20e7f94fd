"""A file that the fusion compiler wrote, cut into what it is made of."""

import ast
import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass

_CHECKING = "_given"
"""Function of an emitted file by which its host code asks what it is given."""

Edit = tuple[int, int, str]
"""First and last offset of a piece of text, and what to put there."""


@dataclass(frozen=True, slots=True)
class Given:
    """One tensor that the kernels are given.

    Attributes:
        name: Variable of the host code.
        place: Source text of where it comes from: an argument of ``forward`` or a member of
            ``self``.
        shape: Source text of its shape.
        dtype: Source text of its format.
    """

    name: str
    place: str
    shape: str
    dtype: str


@dataclass(frozen=True, slots=True)
class EmittedFile:
    """The parts of one emitted file.

    Attributes:
        helpers: Jit functions that kernels call, by name.
        kernels: Jit functions that are launched, by name, in the order of the file.
        arguments: Of ``forward``, without ``self``.
        given: Tensors in the order of the host code.
        body: Host code after the checks, without indentation: allocations, launches, return.
    """

    helpers: Mapping[str, str]
    kernels: Mapping[str, str]
    arguments: tuple[str, ...]
    given: tuple[Given, ...]
    body: str


def cut_up(source: str) -> EmittedFile:
    """Return the parts of an emitted file.

    Raises:
        ValueError: The file is not of the form that the compiler writes.
    """
    tree = ast.parse(source)
    forward = _forward(tree)
    launched = {name for node in ast.walk(forward) if (name := launched_by(node))}
    helpers: dict[str, str] = {}
    kernels: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            text = _lines(source, node.decorator_list[0].lineno, node.end_lineno or node.lineno)
            (kernels if node.name in launched else helpers)[node.name] = text
    given = tuple(each for stmt in forward.body if (each := _given(stmt)))
    rest = [stmt for stmt in forward.body if _given(stmt) is None]
    if not rest or launched - kernels.keys():
        raise ValueError("the emitted file launches nothing, or what it does not define")
    # Comments in front of the first statement belong to it.
    first = (forward.body[len(given) - 1].end_lineno or 0) + 1 if given else rest[0].lineno
    lines = _lines(source, first, rest[-1].end_lineno or rest[-1].lineno).splitlines()
    margin = rest[0].col_offset
    arguments = tuple(each.arg for each in forward.args.args[1:])
    return EmittedFile(
        helpers, kernels, arguments, given, "\n".join(line[margin:] for line in lines)
    )


def launched_by(node: ast.AST) -> str:
    """Return the kernel of ``kernel[grid](...)``; empty for every other node."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
        kernel = node.func.value
        return kernel.id if isinstance(kernel, ast.Name) else ""
    return ""


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return source text with some names replaced, everything else as it is."""
    tree, starts = ast.parse(text), line_starts(text)
    edits: list[Edit] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            start = starts[node.lineno - 1] + node.col_offset
            edits.append((start, start + len(node.id), names[node.id]))
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            found = re.compile(r"def\s+").search(text, starts[node.lineno - 1])
            if found:
                end = found.end() + len(node.name)
                edits.append((found.end(), end, names[node.name]))
    return edited(text, edits)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return text with disjoint pieces replaced."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def line_starts(text: str) -> list[int]:
    """Return the offset of each line; what the compiler writes is ASCII, so columns are bytes."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _forward(tree: ast.Module) -> ast.FunctionDef:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef) and each.name == "forward":
                    return each
    raise ValueError("the emitted file has no class with forward()")


def _given(stmt: ast.stmt) -> Given | None:
    """Read a check of what is given: name, place, shape, format; None for other statements."""
    if not (isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call)):
        return None
    called, target = stmt.value.func, stmt.targets[0]
    if not (isinstance(called, ast.Name) and called.id == _CHECKING):
        return None
    _, place, shape, dtype = map(ast.unparse, stmt.value.args)
    return Given(ast.unparse(target), place, shape, dtype)


def _lines(source: str, first: int, last: int) -> str:
    return "\n".join(source.splitlines()[first - 1 : last])


def appended(text: str, end: int, words: Iterable[str]) -> Edit:
    """Return the edit that adds arguments behind the last one, which ends at an offset.

    Each gets a line of its own where the last one has.
    """
    start = text.rfind("\n", 0, end) + 1
    line = text[start:end]
    margin = line[: len(line) - len(line.lstrip())]
    is_alone = start > 0 and not set("()") & set(line) and line.count(",") == 0
    separator = f",\n{margin}" if is_alone else ", "
    return end, end, "".join(f"{separator}{each}" for each in words)


def numbers_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield first and last offset and text of each number literal, in the order of the text."""
    starts = line_starts(text)
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            found.append((start, end, text[start:end]))
    return iter(sorted(found))
