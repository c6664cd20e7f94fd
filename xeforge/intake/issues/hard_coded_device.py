"""The code insists on one type of device instead of following its inputs."""

import ast
import re
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import HostFunction
from xeforge.source.host_code import local_values
from xeforge.source.imports import ImportTable

NAME: Final = "hard_coded_device"
_DEVICE: Final = re.compile(r"(cuda|xpu|hip)(:\d+)?")


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the first place in what ``forward`` runs, and count the others."""
    places = sorted(
        {
            place
            for function in facts.hosts
            for place in _places(function, facts.contents.constants, facts.imports)
        }
    )
    if not places:
        return ()
    line, device = places[0]
    lines = sorted({each for each, _ in places})
    others = ", ".join(map(str, lines[1:]))
    more = f" (again on line {others})" if others else ""
    return (
        Issue(
            type=NAME,
            severity=Severity.WARNING,
            message=f"the device {device!r} is hard-coded{more}; it is run on the chosen device",
            line=line,
            remedy="allocate on the device of the input: device=x.device",
        ),
    )


def _places(
    function: HostFunction, constants: Mapping[str, object], imports: ImportTable
) -> Iterator[tuple[int, str]]:
    values = local_values(function.node, constants)
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call):
            device = _of_call(node, values, imports)
        elif isinstance(node, ast.Assert):
            device = _of_assert(node)
        else:
            continue
        if device is not None:
            yield node.lineno, device


def _of_call(
    node: ast.Call, values: Mapping[str, ast.expr | object], imports: ImportTable
) -> str | None:
    for keyword in node.keywords:
        if keyword.arg == "device":
            return _device(keyword.value, values)
    if isinstance(node.func, ast.Attribute):
        is_move = node.func.attr in {"cuda", "xpu"} and not node.args
        if is_move and not isinstance(node.func.value, ast.Call):
            return node.func.attr
        if node.func.attr == "to" and node.args:
            return _device(node.args[0], values)
    if imports.is_torch(node.func, "device") and node.args:
        return _device(node.args[0], values)
    return None


def _of_assert(node: ast.Assert) -> str | None:
    """``assert x.device.type == "xpu"`` refuses other devices."""
    for each in ast.walk(node.test):
        if isinstance(each, ast.Compare) and ".device" in ast.unparse(each.left):
            for other in each.comparators:
                device = _device(other, {})
                if device is not None:
                    return device
    return None


def _device(node: ast.expr, values: Mapping[str, ast.expr | object], depth: int = 0) -> str | None:
    """Return the device that an expression certainly names."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if _DEVICE.fullmatch(node.value) else None
    if isinstance(node, ast.Name) and node.id in values and depth <= len(values):
        value = values[node.id]
        if isinstance(value, ast.expr):
            return _device(value, values, depth + 1)
        return value if isinstance(value, str) and _DEVICE.fullmatch(value) else None
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == "torch.device":
        return _device(node.args[0], values, depth + 1)
    return None
