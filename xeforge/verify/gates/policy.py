"""Refuse constructs that reach around the kernel: files, processes, the harness, the clock."""

import ast
from collections import Counter
from collections.abc import Iterator

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.imports import ImportTable
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "policy"

ALLOWED_IMPORTS = frozenset(
    {"__future__", "torch", "triton", "math", "typing", "functools", "itertools", "dataclasses"}
)
"""Top-level packages a kernel file may import; what the submission imports is allowed, too."""
_REFUSED_MODULES = (
    "torch.utils",
    "torch.multiprocessing",
    "torch.distributed",
    "torch.hub",
    "torch.package",
    "torch.profiler",
    "torch._C",
    "torch._dynamo",
    "torch._inductor",
    "triton.testing",
    "triton.profiler",
    "triton.runtime.driver",
)
"""Parts of allowed packages that build native code, start processes or hold the clock."""
_REFUSED_BUILTINS = frozenset(
    {"exec", "eval", "compile", "__import__", "open", "globals", "breakpoint", "__builtins__"}
)
"""By whatever name they are called later; a method (``model.eval()``) is something else."""
_REACHED_MODULES = frozenset(
    (
        "builtins",
        "ctypes",
        "gc",
        "importlib",
        "inspect",
        "os",
        "signal",
        "socket",
        "subprocess",
        "sys",
        "threading",
    )
)
"""Most libraries hold these as attributes: ``typing.sys`` is ``sys``."""
_REFUSED_NAMES = (
    "sys._getframe",
    "sys.modules",
    "sys.settrace",
    "sys.setprofile",
    "os.environ",
    "os.system",
    "os.popen",
    "os.fork",
    "os.kill",
    "torch.cuda.Stream",
    "torch.cuda.ExternalStream",
    "torch.cuda.stream",
    "torch.cuda.set_stream",
    "torch.cuda.CUDAGraph",
    "torch.cuda.graph",
    "torch.cuda.make_graphed_callables",
    "torch.xpu.Stream",
    "torch.xpu.stream",
    "torch.xpu.set_stream",
    "torch.xpu.XPUGraph",
    "torch.Stream",
    "torch.load",
    "torch.save",
    "torch.from_file",
    "torch.ops.load_library",
    "torch.classes.load_library",
    "torch.manual_seed",
    "torch.set_default_dtype",
    "torch.set_default_device",
    "torch.set_float32_matmul_precision",
    "torch.use_deterministic_algorithms",
    "torch.set_num_threads",
)
"""Attributes whose use is new compared with the submission."""
_PLAIN_DUNDERS = frozenset(
    {
        "__init__",
        "__call__",
        "__name__",
        "__qualname__",
        "__class__",
        "__doc__",
        "__version__",
        "__post_init__",
        "__enter__",
        "__exit__",
        "__len__",
        "__getitem__",
        "__setitem__",
        "__repr__",
    }
)


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Report every forbidden construct that the submitted kernel does not have itself."""
    allowed = Counter(construct for _, construct, _ in _constructs(context.submitted))
    complaints = []
    for reason, construct, line in _constructs(context.candidate):
        if not allowed[construct]:
            complaints.append(failed(NAME, reason, construct, line=line))
    return tuple(complaints) or (passed(NAME),)


def _constructs(reading: Reading) -> Iterator[tuple[Reason, str, int]]:
    """Yield what would need a reason: class, words, line."""
    roots = _imported_roots(reading)
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for module in _modules(node):
                if _is_refused_module(module):
                    yield Reason.POLICY_VIOLATION, f"imports {module}", node.lineno
        elif isinstance(node, ast.Call):
            yield from _calls(node)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            yield from _patches(node, reading.imports, roots)
        if isinstance(node, ast.Attribute | ast.Name):
            yield from _names(node, reading.imports)


def _modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level:
        return ["." * node.level + (node.module or "")]
    base = node.module or ""
    # `from torch import distributed` brings in a module, too.
    return list(dict.fromkeys([base, *(f"{base}.{alias.name}" for alias in node.names)]))


def _is_refused_module(module: str) -> bool:
    root = module.partition(".")[0]
    is_part = any(module == each or module.startswith(f"{each}.") for each in _REFUSED_MODULES)
    return root not in ALLOWED_IMPORTS or is_part


def _calls(node: ast.Call) -> Iterator[tuple[Reason, str, int]]:
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


def _names(
    node: ast.Attribute | ast.Name, imports: ImportTable
) -> Iterator[tuple[Reason, str, int]]:
    if isinstance(node, ast.Name) and node.id in _REFUSED_BUILTINS:
        yield Reason.POLICY_VIOLATION, f"uses the builtin {node.id}", node.lineno
    dotted = imports.dotted(node)
    if dotted is not None and dotted in _REFUSED_NAMES:
        yield Reason.POLICY_VIOLATION, f"uses {dotted}", node.lineno
    elif dotted is not None and dotted.partition(".")[2].rpartition(".")[2] in _REACHED_MODULES:
        yield Reason.POLICY_VIOLATION, f"reaches another module through {dotted}", node.lineno
    if isinstance(node, ast.Attribute) and _is_odd_dunder(node.attr):
        yield Reason.POLICY_VIOLATION, f"uses {node.attr}", node.lineno


def _is_odd_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _PLAIN_DUNDERS


def _imported_roots(reading: Reading) -> set[str]:
    """Return the local names that stand for something imported."""
    return {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(reading.tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _patches(
    node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete,
    imports: ImportTable,
    roots: set[str],
) -> Iterator[tuple[Reason, str, int]]:
    """Yield assignments to attributes of imported modules: that changes them for everyone."""
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
    for target in targets:
        inner = target
        while isinstance(inner, ast.Attribute | ast.Subscript):
            inner = inner.value
        is_imported = isinstance(inner, ast.Name) and inner.id in roots
        if is_imported and inner is not target:
            name = imports.dotted(target) or ast.unparse(target)
            yield Reason.HARNESS_TAMPERING, f"changes {name}", node.lineno
