"""Refuse constructs that reach around the kernel: files, processes, the caller, the stack."""

import ast
from collections import Counter
from collections.abc import Iterator

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.imports import ImportTable
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.forbidden import ALLOWED_IMPORTS
from xeforge.verify.forbidden import FRAME_ATTRIBUTES
from xeforge.verify.forbidden import PLAIN_DUNDERS
from xeforge.verify.forbidden import REACHED_MODULES
from xeforge.verify.forbidden import REFUSED_BUILTINS
from xeforge.verify.forbidden import REFUSED_IMPORTS
from xeforge.verify.forbidden import REFUSED_METHODS
from xeforge.verify.forbidden import REFUSED_MODULES
from xeforge.verify.forbidden import REFUSED_NAMES
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "policy"

_Construct = tuple[Reason, str, int]


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Report every forbidden construct that the submitted kernel does not have itself."""
    allowed = Counter(construct for _, construct, _ in _constructs(context.submitted))
    complaints = []
    for reason, construct, line in _constructs(context.candidate):
        if not allowed[construct]:
            complaints.append(failed(NAME, reason, construct, line=line))
    return tuple(complaints) or (passed(NAME),)


def _constructs(reading: Reading) -> Iterator[_Construct]:
    """Yield what would need a reason: class, words, line."""
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for module in _modules(node):
                if _is_refused_import(module):
                    yield Reason.POLICY_VIOLATION, f"imports {module}", node.lineno
        elif isinstance(node, ast.Call):
            yield from _calls(node)
        elif isinstance(node, ast.ClassDef):
            yield from _bases(node, reading.imports)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name in REFUSED_METHODS:
                yield Reason.POLICY_VIOLATION, f"defines {node.name}", node.lineno
        elif isinstance(node, ast.Attribute | ast.Name):
            yield from _names(node, reading.imports)


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level:
        return ["." * node.level + (node.module or "")]
    base = node.module or ""
    # `from torch import distributed` brings in a module, too.
    return list(dict.fromkeys([base, *(f"{base}.{alias.name}" for alias in node.names)]))


def _is_refused_import(module: str) -> bool:
    return module.partition(".")[0] not in ALLOWED_IMPORTS or _lies_in(module, REFUSED_IMPORTS)


def _lies_in(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == each or name.startswith(f"{each}.") for each in modules)


def _calls(node: ast.Call) -> Iterator[_Construct]:
    if not isinstance(node.func, ast.Name):
        return
    name = node.func.id
    if name in ("getattr", "setattr", "delattr") and len(node.args) > 1:
        attribute = node.args[1]
        if not (isinstance(attribute, ast.Constant) and isinstance(attribute.value, str)):
            text = f"calls {name}() with a name that is made up at run time"
            yield Reason.POLICY_VIOLATION, text, node.lineno
        elif _is_odd_dunder(attribute.value):
            yield Reason.POLICY_VIOLATION, f"uses {attribute.value}", node.lineno


def _bases(node: ast.ClassDef, imports: ImportTable) -> Iterator[_Construct]:
    """Yield classes of tensors that are none: they may compute when somebody looks at them."""
    for base in node.bases:
        if imports.is_torch(base, "Tensor", "nn.Parameter", "nn.Buffer"):
            text = f"makes a tensor class of its own, {node.name}"
            yield Reason.POLICY_VIOLATION, text, node.lineno


def _names(node: ast.Attribute | ast.Name, imports: ImportTable) -> Iterator[_Construct]:
    if isinstance(node, ast.Name) and node.id in REFUSED_BUILTINS:
        yield Reason.POLICY_VIOLATION, f"uses the builtin {node.id}", node.lineno
    dotted = imports.dotted(node)
    if dotted is not None and (dotted in REFUSED_NAMES or dotted in REFUSED_MODULES):
        yield Reason.POLICY_VIOLATION, f"uses {dotted}", node.lineno
    elif dotted is not None and dotted.partition(".")[2].rpartition(".")[2] in REACHED_MODULES:
        yield Reason.POLICY_VIOLATION, f"reaches another module through {dotted}", node.lineno
    if isinstance(node, ast.Attribute) and (
        node.attr in FRAME_ATTRIBUTES or _is_odd_dunder(node.attr)
    ):
        yield Reason.POLICY_VIOLATION, f"uses {node.attr}", node.lineno


def _is_odd_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in PLAIN_DUNDERS
