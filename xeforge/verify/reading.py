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
from xeforge.verify.forbidden import ALLOWED_IMPORTS


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, parsed.

    Attributes:
        tree: Syntax tree, with what stands for ``x.name`` written so: ``getattr(x, "name")`` and
            patterns that look at members; annotations in quotes are written out.
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
    """Writes what is asked for by a constant name as an attribute, and quoted code as code."""

    def visit_Match(self, node: ast.Match) -> ast.Match:
        """Say before a case's body which members its patterns look at."""
        self.generic_visit(node)
        for case in node.cases:
            looks = [
                ast.copy_location(ast.Expr(ast.Attribute(node.subject, name, ast.Load())), inner)
                for inner in ast.walk(case.pattern)
                if isinstance(inner, ast.MatchClass)
                for name in inner.kwd_attrs
            ]
            case.body[:0] = [ast.fix_missing_locations(each) for each in looks]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Write a parameter's annotation out."""
        node.annotation = _unquoted(node.annotation)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """Write a variable's annotation out."""
        self.generic_visit(node)
        node.annotation = _unquoted(node.annotation) or node.annotation
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Write the annotation of what is returned out."""
        self.generic_visit(node)
        node.returns = _unquoted(node.returns)
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815 - ast's own

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace ``getattr(x, "name")``, with a default or without."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) > 1:
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                return ast.copy_location(ast.Attribute(node.args[0], name.value, ast.Load()), node)
        return node


class _Unquoted(ast.NodeTransformer):
    """Replaces texts by the expressions they hold: libraries evaluate annotations."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Parse a text; one that is no expression stays a text."""
        if not isinstance(node.value, str):
            return node
        try:
            found = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return node
        for each in ast.walk(found):
            ast.copy_location(each, node)
        return found


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    return None if annotation is None else _Unquoted().visit(annotation)


def _with_renamed(tree: ast.Module, imports: ImportTable) -> ImportTable:
    """Add names that stand for a part of a module: bound once in the file, to nothing but that."""
    bound = Counter(_bound_names(tree))
    given = [
        (target.id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute | ast.Name)
        for target in node.targets
        if isinstance(target, ast.Name) and bound[target.id] == 1
    ]
    table, grew = imports, True
    while grew:  # a name may be given on: a = torch; b = a
        renamed = {
            name: dotted
            for name, value in given
            if (dotted := table.dotted(value) or "").partition(".")[0] in ALLOWED_IMPORTS
        }
        grew = {**table.names, **renamed} != table.names
        table = ImportTable({**table.names, **renamed})
    return table


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
