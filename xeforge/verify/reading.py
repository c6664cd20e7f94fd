"""A candidate and the submitted kernel, both parsed, for the static rules."""

import ast
from collections import Counter
from dataclasses import dataclass

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.source.contents import KernelContents
from xeforge.source.contents import parse
from xeforge.source.contents import read_contents
from xeforge.source.imports import ImportTable
from xeforge.source.imports import read_imports


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, parsed.

    Attributes:
        tree: Syntax tree, with ``getattr(x, "name")`` written as ``x.name``.
        contents: What the file declares.
        imports: What its names stand for, names given to parts of a module included.
    """

    tree: ast.Module
    contents: KernelContents
    imports: ImportTable

    @classmethod
    def of(cls, source: str, path: str) -> "Reading":
        """Parse a file.

        Raises:
            BadKernel: It is no Python text.
        """
        tree = _Spelt().visit(parse(source, path))
        contents = read_contents(source, path, require_kernel=False)
        return cls(tree, contents, _with_renamed(tree, read_imports(tree)))


@dataclass(frozen=True, slots=True)
class GateContext:
    """Everything a static rule may look at.

    Attributes:
        problem: The question.
        device: Model that is optimized for.
        candidate: The source to judge.
        submitted: The kernel it must stay comparable with.
    """

    problem: Problem
    device: Device
    candidate: Reading
    submitted: Reading

    @classmethod
    def of(cls, problem: Problem, source: str, device: Device) -> "GateContext":
        """Parse both files.

        Raises:
            BadKernel: One of them is no Python text.
        """
        return cls(
            problem=problem,
            device=device,
            candidate=Reading.of(source, "candidate.py"),
            submitted=Reading.of(problem.kernel.text, problem.kernel.path),
        )


class _Spelt(ast.NodeTransformer):
    """Writes attributes that are asked for by a constant name as attributes."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace ``getattr(x, "name")``, with a default or without."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                return ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node)
        return node


def _with_renamed(tree: ast.Module, imports: ImportTable) -> ImportTable:
    """Add names that stand for a part of a module: bound once in the file, to nothing but that."""
    bound = Counter(_bound_names(tree))
    renamed = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Attribute | ast.Name):
            continue
        dotted = imports.dotted(node.value) or ""
        is_imported = dotted.partition(".")[0] in ("torch", "triton")
        for target in node.targets:
            if isinstance(target, ast.Name) and bound[target.id] == 1 and is_imported:
                renamed[target.id] = dotted
    return ImportTable({**imports.names, **renamed})


def _bound_names(tree: ast.Module) -> list[str]:
    """Return every name that the file binds, once for each place."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(node, ast.arg):
            found.append(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.alias):
            found.append(node.asname or node.name)
    return found
