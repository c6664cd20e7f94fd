"""Refuse a file that has lost its kernels, its parameters or its way of making inputs."""

import ast
from collections.abc import Iterator

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.imports import ImportTable
from xeforge.source.scopes import functions_in
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "structure"
_HARNESS_FUNCTIONS = ("get_inputs", "get_init_inputs")
_REGISTERING = ("register_parameter", "register_buffer", "register_module", "add_module")


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Ask for launched jit functions, the same parameters and untouched input makers."""
    complaints = (*_kernels(context), *_parameters(context), *_harness(context))
    return complaints or (passed(NAME),)


def _kernels(context: GateContext) -> Iterator[Finding]:
    contents = context.candidate.contents
    if not contents.jit_functions:
        text = "no function is decorated with triton.jit"
        yield failed(NAME, Reason.NO_CUSTOM_KERNEL, text)
    elif not contents.launches and context.submitted.contents.launches:
        text = "no kernel is launched: kernel[grid](...) appears nowhere"
        yield failed(NAME, Reason.NO_CUSTOM_KERNEL, text)


def _parameters(context: GateContext) -> Iterator[Finding]:
    """Compare the names under which ``state_dict`` entries are made."""
    now, before = _registered(context.candidate), _registered(context.submitted)
    for name in sorted(before.keys() - now.keys()):
        yield failed(NAME, Reason.OUTPUT_CONTRACT, f"the parameter self.{name} is gone")
    for name in sorted(now.keys() - before.keys()):
        text = f"self.{name} is a new parameter, which no saved weights have"
        yield failed(NAME, Reason.OUTPUT_CONTRACT, text, line=now[name])


def registered_modules(reading: Reading) -> set[str]:
    """Return the attributes of any class that hold a module or parameter of ``torch.nn``."""
    found: set[str] = set()
    for node in ast.walk(reading.tree):
        found |= dict(_registrations(node, reading.imports)).keys()
    return found


def _registered(reading: Reading) -> dict[str, int]:
    """Return attribute name to line of every parameter, buffer and module of ``Model``."""
    model = reading.contents.model
    found: dict[str, int] = {}
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.ClassDef) and model is not None and node.name == model.name:
            for inner in ast.walk(node):
                found |= dict(_registrations(inner, reading.imports))
    return found


def _registrations(node: ast.AST, imports: ImportTable) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if _makes_state(node.value, imports):
            for target in targets:
                if isinstance(target, ast.Attribute) and _is_self(target.value):
                    yield target.attr, node.lineno
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_saved = not any(
            each.arg == "persistent"
            and isinstance(each.value, ast.Constant)
            and each.value.value is False
            for each in node.keywords
        )
        first = node.args[0] if node.args else None
        if (
            node.func.attr in _REGISTERING
            and _is_self(node.func.value)
            and isinstance(first, ast.Constant)
            and is_saved
        ):
            yield str(first.value), node.lineno


def _makes_state(call: ast.Call, imports: ImportTable) -> bool:
    """Say whether a call builds something of ``torch.nn`` that carries state."""
    dotted = imports.dotted(call.func) or ""
    is_module = dotted.startswith("torch.nn.") and not dotted.startswith(
        ("torch.nn.functional.", "torch.nn.init.", "torch.nn.utils.")
    )
    return is_module and dotted.rpartition(".")[2][:1].isupper()


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _harness(context: GateContext) -> Iterator[Finding]:
    """Compare the functions by which a file makes its own inputs."""
    now, before = _harness_functions(context.candidate), _harness_functions(context.submitted)
    for name in _HARNESS_FUNCTIONS:
        if name in before and name not in now:
            yield failed(NAME, Reason.OUTPUT_CONTRACT, f"the function {name} is gone")
        elif name in now and name in before and now[name][0] != before[name][0]:
            text = f"{name} makes other inputs than the submitted file"
            yield failed(NAME, Reason.HARNESS_TAMPERING, text, line=now[name][1])


def _harness_functions(reading: Reading) -> dict[str, tuple[str, int]]:
    return {
        name: (ast.dump(node), node.lineno)
        for name, node in functions_in(reading.tree)
        if name in _HARNESS_FUNCTIONS
    }
