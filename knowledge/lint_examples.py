"""Checks of example kernels that need nothing to be run."""

import ast
from collections.abc import Iterator
from pathlib import Path

from knowledge.lint_names import Complaint
from knowledge.recipes import KnowledgeBase
from knowledge.recipes import Pair
from xeforge.errors import BadKernel
from xeforge.source.contents import parse
from xeforge.source.contents import read_contents

ENTRY = "run"
"""The function of an example that takes its inputs and returns its answer."""


def unsound(base: KnowledgeBase) -> Iterator[Complaint]:
    """Yield examples that are no kernels, do not fit their inputs or show no change."""
    used = {each.example for each in base.recipes}
    for pair in base.pairs.values():
        trees = {path: tree for path in (pair.before, pair.after) if (tree := _tree(path))}
        for path in (pair.before, pair.after):
            yield from _of_file(path, pair)
        if len(trees) == len((pair.before, pair.after)) and _same(*trees.values()):
            message = f"{pair.name}: before and after are the same program"
            yield "examples", str(pair.after), 1, message, "show what the advice changes"
        if pair.name not in used:
            message = f"no recipe shows {pair.name}"
            yield "examples", pair.file, pair.line, message, "cite it, or take it out"


def _tree(path: Path) -> ast.Module | None:
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except (BadKernel, UnicodeDecodeError):
        return None


def _same(one: ast.Module, two: ast.Module) -> bool:
    """Compare two programs without their descriptions and comments."""
    return ast.dump(_bare(one)) == ast.dump(_bare(two))


def _bare(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


def _of_file(path: Path, pair: Pair) -> Iterator[Complaint]:
    try:
        contents = read_contents(path.read_text(encoding="utf-8"), str(path))
    except BadKernel as error:
        remedy = error.remedy or "write a kernel"
        yield "examples", str(path), error.line or 1, error.message, remedy
        return
    except UnicodeDecodeError as error:
        yield "examples", str(path), 1, f"cannot be read: {error}", "save the file as UTF-8"
        return
    entry = next((each for each in contents.functions if each.name == ENTRY), None)
    names = tuple(each.name for each in pair.inputs)
    if entry is None:
        remedy = f"write def {ENTRY}({', '.join(names)})"
        yield "examples", str(path), 1, f"there is no function {ENTRY!r}", remedy
    elif tuple(each.name for each in entry.parameters) != names:
        found = ", ".join(each.name for each in entry.parameters)
        message = f"{ENTRY}({found}) does not take the inputs of the pair"
        yield "examples", str(path), entry.line, message, f"write def {ENTRY}({', '.join(names)})"
    if not contents.launches:
        yield "examples", str(path), 1, "it launches no kernel", "launch one in run"
