"""Refuse tensor arithmetic outside kernels that the submitted file does not have."""

import ast
from collections import Counter
from collections.abc import Iterator

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.imports import ImportTable
from xeforge.source.scopes import functions_in
from xeforge.verify.computing import COMPILING
from xeforge.verify.computing import COMPUTING_FUNCTIONS
from xeforge.verify.computing import COMPUTING_METHODS
from xeforge.verify.computing import COMPUTING_PREFIXES
from xeforge.verify.computing import EMPTY_MODULES
from xeforge.verify.computing import FREE_PREFIXES
from xeforge.verify.computing import FREE_TORCH
from xeforge.verify.computing import NO_FUNCTIONS
from xeforge.verify.computing import SHARED_WITH_RECORDS
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
    inside = _inside(reading)
    modules = registered_modules(reading)
    parts, imported = _parts(reading.tree), _imported(reading)
    for node in ast.walk(reading.tree):
        if id(node) in inside:
            # Triton calls nothing of torch: who keeps the Python function can.
            if isinstance(node, ast.Call) and (name := _of_torch(node, reading)):
                yield name, node.lineno
        elif isinstance(node, ast.Attribute | ast.Name) and id(node) not in parts:
            name = _handed_on(node, reading, imported)
            if name:
                yield name, node.lineno
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield "@", node.lineno
        elif isinstance(node, ast.Call):
            name = _computing(node, reading, modules)
            if name:
                yield name, node.lineno


def _inside(reading: Reading) -> set[int]:
    """Return the nodes of jit functions; not of one that is also used as plain Python."""
    jit = {each.line for each in reading.contents.jit_functions}
    kernels = [node for _, node in functions_in(reading.tree) if node.lineno in jit]
    inside = {node: {id(inner) for inner in ast.walk(node)} for node in kernels}
    bodies = set[int]().union(*inside.values())
    handed = {
        id(each)
        for node in ast.walk(reading.tree)
        if isinstance(node, ast.Call) and _makes_kernels(node.func, reading.imports)
        for each in node.args
    }
    python = {
        node.id
        for node in ast.walk(reading.tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        if id(node) not in bodies | handed
    }
    return set[int]().union(
        *(ids for node, ids in inside.items() if node.decorator_list or node.name not in python)
    )


def _makes_kernels(wrapper: ast.expr, imports: ImportTable) -> bool:
    """Say whether ``wrapper(function)`` makes a kernel of it: ``triton.jit`` and its like."""
    called = wrapper.func if isinstance(wrapper, ast.Call) else wrapper
    return imports.is_triton(called, "jit", "autotune", "heuristics")


def _of_torch(call: ast.Call, reading: Reading) -> str:
    dotted = reading.imports.dotted(call.func) or ""
    return dotted if dotted.startswith("torch.") and not _is_free(dotted) else ""


def _computing(call: ast.Call, reading: Reading, modules: set[str]) -> str:
    """Return the name of what a call computes with; empty when it does not compute."""
    dotted = reading.imports.dotted(call.func) or ""
    if dotted.startswith("torch."):
        return _of_torch(call, reading)
    if dotted.startswith(_NOT_TENSORS) or not isinstance(call.func, ast.Attribute):
        return ""
    owner = call.func.value
    is_own = isinstance(owner, ast.Name) and owner.id == "self"
    if is_own:
        return f"self.{call.func.attr}" if call.func.attr in modules else ""
    is_super = isinstance(owner, ast.Call) and ast.unparse(owner.func) == "super"
    if is_super and call.func.attr == "forward":
        return "super().forward"
    if call.func.attr in ("forward", "__call__") and isinstance(owner, ast.Attribute):
        is_module = ast.unparse(owner.value) == "self" and owner.attr in modules
        return f"self.{owner.attr}" if is_module else ""
    return f".{call.func.attr}" if _is_method(call.func.attr) else ""


def _is_method(name: str) -> bool:
    """Say whether a tensor's method of this name computes, in place or not."""
    return name in COMPUTING_METHODS or name.rstrip("_") in COMPUTING_METHODS


def _parts(tree: ast.Module) -> set[int]:
    """Return what is called at once, is the front of a longer name, or only says of what type."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.add(id(node.func))
            if ast.unparse(node.func) in ("isinstance", "issubclass"):
                found |= {id(inner) for each in node.args[1:] for inner in ast.walk(each)}
        elif isinstance(node, ast.Attribute):
            found.add(id(node.value))
        for note in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            found |= {id(inner) for inner in ast.walk(note)} if note is not None else set()
    return found


def _handed_on(node: ast.Attribute | ast.Name, reading: Reading, imported: set[str]) -> str:
    """Return the name of a computing function that is kept or passed on, to be called later."""
    dotted = reading.imports.dotted(node) or ""
    if not isinstance(node.ctx, ast.Load):
        return ""
    if not dotted.startswith("torch."):
        return _bound_method(node, dotted)
    if isinstance(node, ast.Name) and node.id not in imported:
        return ""  # a name given in this file: what it was given was counted
    member = dotted.removeprefix("torch.")
    is_function = "." not in member and member[:1].islower() and member not in NO_FUNCTIONS
    is_computing = dotted in COMPILING or dotted.startswith(COMPUTING_PREFIXES)
    is_known = dotted.rpartition(".")[2] in COMPUTING_FUNCTIONS or _is_layer(dotted)
    is_dtype = member.startswith(("float8", "float4"))
    return dotted if is_computing or is_known or (is_function and not is_dtype) else ""


def _is_layer(dotted: str) -> bool:
    """Say whether a name is a class of ``torch.nn`` whose objects compute."""
    last = dotted.rpartition(".")[2]
    is_class = last[:1].isupper() and dotted.startswith(("torch.nn.", "torch.nn.modules."))
    return is_class and last not in EMPTY_MODULES and dotted.count(".") in (2, 4)


def _bound_method(node: ast.Attribute | ast.Name, dotted: str) -> str:
    """Return the name of a tensor's computing method that is kept without being called."""
    if not isinstance(node, ast.Attribute) or dotted.startswith(("self.", *_NOT_TENSORS)):
        return ""
    is_computing = _is_method(node.attr) and node.attr not in SHARED_WITH_RECORDS
    return f".{node.attr}" if is_computing else ""


def _imported(reading: Reading) -> set[str]:
    """Return the names that are members of some module, by the file's own imports."""
    return {
        alias.asname or alias.name
        for node in ast.walk(reading.tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _is_free(dotted: str) -> bool:
    if dotted.startswith(("torch.Tensor.", "torch.nn.Parameter.", "torch.nn.Buffer.")):
        return not _is_method(dotted.rpartition(".")[2])
    if dotted in COMPILING or dotted.startswith(COMPUTING_PREFIXES):
        return False
    if dotted.startswith(FREE_PREFIXES):
        return True
    _, _, member = dotted.partition(".")
    return member in FREE_TORCH or member.removeprefix("nn.") in EMPTY_MODULES
