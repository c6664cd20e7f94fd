"""Refuse tensor arithmetic outside kernels that the submitted file does not have."""

import ast
from collections import Counter
from collections.abc import Iterator

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.scopes import functions_in
from xeforge.verify.computing import COMPILING
from xeforge.verify.computing import COMPUTING_FUNCTIONS
from xeforge.verify.computing import COMPUTING_METHODS
from xeforge.verify.computing import COMPUTING_PREFIXES
from xeforge.verify.computing import FREE_PREFIXES
from xeforge.verify.computing import FREE_TORCH
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.gates.structure import registered_modules
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "host_code"

_NOT_TENSORS = ("math.", "triton.", "functools.", "itertools.", "typing.", "dataclasses.")


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Compare the computing calls of both files as multisets: moving one is fine."""
    before = Counter(name for name, _ in computing_calls(context.submitted))
    lines: dict[str, list[int]] = {}
    for name, line in computing_calls(context.candidate):
        lines.setdefault(name, []).append(line)
    complaints = tuple(
        failed(
            NAME,
            Reason.NO_CUSTOM_KERNEL,
            f"host code computes with {name} {len(where)} times, the submitted kernel "
            f"{before[name]} times",
            line=where[-1],
        )
        for name, where in lines.items()
        if len(where) > before[name]
    )
    return complaints or (passed(NAME),)


def computing_calls(reading: Reading) -> Iterator[tuple[str, int]]:
    """Yield name and line of what computes on tensors outside jit functions."""
    jit = {each.line for each in reading.contents.jit_functions}
    inside = {
        id(inner)
        for _, node in functions_in(reading.tree)
        if node.lineno in jit
        for inner in ast.walk(node)
    }
    modules = registered_modules(reading)
    parts, imported = _parts(reading.tree), _imported(reading)
    for node in ast.walk(reading.tree):
        if id(node) in inside:
            continue
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in parts:
            name = _handed_on(node, reading, imported)
            if name:
                yield name, node.lineno
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield "@", node.lineno
        elif isinstance(node, ast.Call):
            name = _computing(node, reading, modules)
            if name:
                yield name, node.lineno


def _computing(call: ast.Call, reading: Reading, modules: set[str]) -> str:
    """Return the name of what a call computes with; empty when it does not compute."""
    dotted = reading.imports.dotted(call.func) or ""
    if dotted.startswith("torch."):
        return "" if _is_free(dotted) else dotted
    if dotted.startswith(_NOT_TENSORS) or not isinstance(call.func, ast.Attribute):
        return ""
    owner = call.func.value
    is_own = isinstance(owner, ast.Name) and owner.id == "self"
    if is_own:
        return f"self.{call.func.attr}" if call.func.attr in modules else ""
    is_super = isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"
    if is_super and call.func.attr == "forward":
        return "super().forward"
    return f".{call.func.attr}" if call.func.attr in COMPUTING_METHODS else ""


def _parts(tree: ast.Module) -> set[int]:
    """Return the expressions that are called at once, or are the front of a longer name."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.add(id(node.func))
        elif isinstance(node, ast.Attribute):
            found.add(id(node.value))
    return found


def _handed_on(node: ast.Attribute | ast.Name, reading: Reading, imported: set[str]) -> str:
    """Return the name of a computing function that is kept or passed on, to be called later."""
    dotted = reading.imports.dotted(node) or ""
    if not isinstance(node.ctx, ast.Load) or not dotted.startswith("torch."):
        return ""
    if isinstance(node, ast.Name) and node.id not in imported:
        return ""  # a name given in this file: what it was given was counted
    is_computing = dotted in COMPILING or dotted.startswith(COMPUTING_PREFIXES)
    return dotted if is_computing or dotted.rpartition(".")[2] in COMPUTING_FUNCTIONS else ""


def _imported(reading: Reading) -> set[str]:
    """Return the names that are members of some module, by the file's own imports."""
    return {
        alias.asname or alias.name
        for node in ast.walk(reading.tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _is_free(dotted: str) -> bool:
    if dotted.startswith("torch.Tensor."):
        return dotted.rpartition(".")[2] not in COMPUTING_METHODS
    if dotted.startswith(FREE_PREFIXES):
        return True
    _, _, member = dotted.partition(".")
    is_module_class = member.startswith("nn.") and member[3:4].isupper() and "." not in member[3:]
    return member in FREE_TORCH or is_module_class
