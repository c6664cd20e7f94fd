"""``forward`` waits for the device, or copies from it, on every call.

Looks for fetches (``item``, ``tolist``, ``cpu``, ``float(x)``), waits, and conditions on tensors in
what ``forward`` runs. Misses waits inside library calls. Source: CUDA and SYCL launches are queued;
a fetch waits for all of them.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import HostFunction
from xeforge.source.imports import ImportTable

NAME: Final = "device_host_sync"
_FETCHES: Final = {
    "item": "fetches a number from the device",
    "tolist": "fetches a tensor from the device",
    "cpu": "copies a tensor to the host",
    "numpy": "copies a tensor to the host",
    "synchronize": "waits for the device",
}
_REDUCTIONS: Final = frozenset({"any", "all", "max", "min", "sum", "mean", "norm"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each place in what ``forward`` runs."""
    places = {
        place
        for function in facts.hosts
        for place in _places(function, facts.imports, is_entry=function.name.endswith(".forward"))
    }
    return tuple(
        Issue(
            type=NAME,
            severity=Severity.SPEED,
            message=f"{text} {why}, on every call",
            line=line,
            remedy="keep the value on the device, or leave waiting to the caller",
        )
        for line, text, why in sorted(places)
    )


def _places(
    function: HostFunction, imports: ImportTable, *, is_entry: bool
) -> Iterator[tuple[int, str, str]]:
    # Only forward itself is known to get tensors.
    tensors = set(function.parameters[1:]) if is_entry else set()
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call):
            why = _of_call(node, tensors, imports)
            if why is not None:
                yield node.lineno, ast.unparse(node), why
        elif isinstance(node, ast.If | ast.While | ast.Assert):
            for each in ast.walk(node.test):
                if isinstance(each, ast.Call) and _is_tensor_claim(each, imports):
                    yield each.lineno, ast.unparse(each), "is decided on the host"


def _of_call(node: ast.Call, tensors: set[str], imports: ImportTable) -> str | None:
    if isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name == "synchronize" or (name in _FETCHES and not node.args):
            return _FETCHES[name]
        if name == "to" and node.args and isinstance(node.args[0], ast.Constant):
            return _FETCHES["cpu"] if node.args[0].value == "cpu" else None
    if isinstance(node.func, ast.Name) and node.args:
        if node.func.id in {"float", "int", "bool"} and _is_tensor(node.args[0], tensors, imports):
            return _FETCHES["item"]
        if node.func.id == "print" and any(_is_tensor(a, tensors, imports) for a in node.args):
            return _FETCHES["tolist"]
    return None


def _is_tensor(node: ast.expr, tensors: set[str], imports: ImportTable) -> bool:
    """Whether an expression is certainly a tensor: an input, a part or a reduction of one."""
    if isinstance(node, ast.Name):
        return node.id in tensors
    if isinstance(node, ast.Subscript):
        return _is_tensor(node.value, tensors, imports)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr in _REDUCTIONS:
            is_torch = imports.dotted(owner) == "torch"
            return is_torch or _is_tensor(owner, tensors, imports)
    return False


def _is_tensor_claim(node: ast.Call, imports: ImportTable) -> bool:
    """Say whether a condition is ``x.any()`` or ``torch.isnan(x).all()``."""
    if not isinstance(node.func, ast.Attribute):
        return False
    owner = imports.dotted(node.func.value)
    if node.func.attr in {"any", "all"} and not node.args:
        return owner != "numpy"
    return owner == "torch" and node.func.attr in {"any", "all", "equal", "allclose"}
