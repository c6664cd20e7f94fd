"""Tensors that one kernel writes and another kernel, or the library, reads at once."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import HostLaunch
from xeforge.source.host_flow import HostScope
from xeforge.source.host_flow import is_cast
from xeforge.source.host_flow import torch_call

ELEMENTWISE: Final = frozenset(
    {
        *("relu", "gelu", "silu", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "abs", "neg"),
        *("add", "sub", "mul", "div", "clamp", "maximum", "minimum", "where", "pow", "square"),
        *("leaky_relu", "elu", "softplus", "hardtanh", "hardswish", "mish", "sin", "cos", "erf"),
        *("add_", "sub_", "mul_", "div_", "relu_", "clamp_", "masked_fill", "dropout"),
    }
)
REDUCTIONS: Final = frozenset(
    {
        *("sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "var", "std", "norm"),
        *("softmax", "log_softmax", "logsumexp", "prod", "cumsum", "layer_norm", "cross_entropy"),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class Handover:
    """One tensor between two launches.

    Attributes:
        name: Of the tensor on the host.
        first: The launch that writes it.
        second: The next launch that reads it.
    """

    name: str
    first: HostLaunch
    second: HostLaunch


@dataclass(frozen=True, slots=True, eq=False)
class HostStep:
    """One operation of the library beside a launch.

    Attributes:
        node: The operation.
        kind: ``"elementwise"`` or ``"reduction"``.
        kernel: Kernel that wrote its operand, or reads its result.
        is_before: Whether it stands before the launch.
    """

    node: ast.expr
    kind: str
    kernel: str
    is_before: bool


def handovers(facts: FileFacts, scope: HostScope) -> Iterator[Handover]:
    """Yield tensors made in a function that one launch writes and one later launch alone reads."""
    for position, first in enumerate(scope.launches):
        for name in _roots(facts, scope, first, "store"):
            if name in scope.function.parameters or name not in scope.bindings:
                continue
            later = scope.launches[position + 1 :]
            readers = [e for e in later if name in _roots(facts, scope, e, "load")]
            if len(readers) == 1 and readers[0].kernel.name != first.kernel.name:
                yield Handover(name, first, readers[0])


def _roots(facts: FileFacts, scope: HostScope, launch: HostLaunch, access: str) -> set[str]:
    accesses = (access, "atomic") if access == "store" else (access,)
    return {
        root
        for name in facts.touched(launch.kernel.name, *accesses)
        if name in launch.arguments
        if (root := scope.root(launch.arguments[name], launch.site.line)) is not None
    }


def host_steps(facts: FileFacts, scope: HostScope) -> Iterator[HostStep]:
    """Yield element-wise operations and reductions of the library on what kernels write or read."""
    written = {
        name: launch
        for launch in scope.launches
        for name in _roots(facts, scope, launch, "store")
        if name in scope.bindings or name in scope.function.parameters
    }
    for node in scope.nodes:
        kind, operands = _operation(facts, node)
        if not kind or not isinstance(node, ast.expr):
            continue
        for each in operands:
            launch = written.get(scope.root(each, node.lineno) or "")
            if launch is not None and launch.site.line < node.lineno:
                yield HostStep(node, kind, launch.kernel.name, is_before=False)
                break
        else:
            reader = _reader(facts, scope, node)
            if kind == "elementwise" and reader is not None and _is_of_inputs(facts, scope, node):
                yield HostStep(node, kind, reader.kernel.name, is_before=True)


def _operation(facts: FileFacts, node: ast.AST) -> tuple[str, list[ast.expr]]:
    """Return the kind and the tensor operands of an operation of the library."""
    if is_cast(node, facts.imports) and isinstance(node, ast.Call):
        return "elementwise", [node.func.value] if isinstance(node.func, ast.Attribute) else []
    name = torch_call(node, facts.imports)
    operands: list[ast.expr] = []
    if isinstance(node, ast.Call):
        operands = list(node.args)
        if not name and isinstance(node.func, ast.Attribute):
            name, operands = node.func.attr, [node.func.value, *node.args]
    elif isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return "elementwise", [node.left, node.right]
    if name in ELEMENTWISE:
        return "elementwise", operands
    return ("reduction", operands[:1]) if name in REDUCTIONS else ("", [])


def _reader(facts: FileFacts, scope: HostScope, node: ast.expr) -> HostLaunch | None:
    """Return the launch that reads the result of an operation directly."""
    for launch in scope.launches:
        pointers = facts.touched(launch.kernel.name, "load")
        for name, value in launch.arguments.items():
            if name in pointers and scope.value(value, launch.site.line) is node:
                return launch
    return None


def _is_of_inputs(facts: FileFacts, scope: HostScope, node: ast.expr) -> bool:
    """Say whether an operation before a launch works on inputs, not on sizes; casts aside."""
    if is_cast(node, facts.imports):
        return False
    _, operands = _operation(facts, node)
    inputs = facts.inputs[scope.function.name]
    return any(scope.root(each, node.lineno) in inputs for each in operands)
