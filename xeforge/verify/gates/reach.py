"""Refuse ways by which libraries and hidden code are reached under no name of their own."""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.imports import read_imports
from xeforge.source.scopes import functions_in
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.forbidden import INNARDS
from xeforge.verify.forbidden import LOOKING_UP
from xeforge.verify.forbidden import MODULE_WORDS
from xeforge.verify.forbidden import OPEN_PRIVATES
from xeforge.verify.forbidden import PLAIN_DUNDERS
from xeforge.verify.forbidden import PLAIN_NAMES
from xeforge.verify.forbidden import REACHED_ANYWHERE
from xeforge.verify.forbidden import REFUSED_NAMES
from xeforge.verify.forbidden import SHARED_WORDS
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "reach"

_LIBRARIES: Final = ("torch", "triton")
_ROOTS: Final = (*_LIBRARIES, "math", "typing", "functools", "itertools", "dataclasses")
_ASKING: Final = ("hasattr", "getattr", "isinstance", "callable")
"""Builtins that look at a module and keep nothing of it; getattr is judged by the name."""

_Found = Iterator[tuple[str, int]]


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Report every such way that the submitted kernel does not have itself.

    The other rules go by names. They hold only while a module stays under names that reading can
    follow, and while what looks like a decorator or a library is one.
    """
    allowed = Counter(words for words, _ in _ways(context.submitted))
    complaints = tuple(
        failed(NAME, Reason.POLICY_VIOLATION, words, line=line)
        for words, line in dict.fromkeys(_ways(context.candidate))
        if not allowed[words]
    )
    return complaints or (passed(NAME),)


def _ways(reading: Reading) -> _Found:
    fronts = _fronts(reading.tree)
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.Name):
            yield from _names(node)
        elif isinstance(node, ast.Attribute):
            yield from _attributes(node, reading)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imports(node)
        elif isinstance(node, ast.ClassDef):
            yield from _made_bases(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "type" and len(node.args) > 1:
            yield "makes a class from parts", node.lineno
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in fronts:
            yield from _handed_on(node, reading)
    yield from _imported_as_two(reading.tree)
    yield from _loose_builtins(reading.tree)
    yield from _bound_anew(reading)
    yield from _between_kernel_and_jit(reading)


def _names(node: ast.Name) -> _Found:
    is_dunder = node.id.startswith("__") and node.id.endswith("__")
    if is_dunder and node.id not in PLAIN_DUNDERS | PLAIN_NAMES:
        yield f"uses {node.id}", node.lineno


def _attributes(node: ast.Attribute, reading: Reading) -> _Found:
    """Yield members that lead on whatever they are taken from, and private ones of libraries."""
    is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    is_named = (reading.imports.dotted(node) or "") in REFUSED_NAMES  # the policy's affair
    if not (is_own or is_named) and (node.attr in INNARDS or node.attr.startswith("co_")):
        yield f"uses .{node.attr}", node.lineno
    if not is_own and node.attr in REACHED_ANYWHERE:
        yield f"reaches a module through .{node.attr}", node.lineno
    dotted = reading.imports.dotted(node) or ""
    root, _, rest = dotted.partition(".")
    if root in _ROOTS and _is_hidden(root, dotted, rest):
        yield f"reaches behind {root} through {dotted}", node.lineno


def _is_hidden(root: str, dotted: str, rest: str) -> bool:
    """Say whether a member of a library is private, or another library's module."""
    parts = rest.split(".")
    is_private = any(each.startswith("_") and not each.endswith("__") for each in parts)
    shared = SHARED_WORDS if root in _LIBRARIES else frozenset(_ROOTS)
    foreign = any(each in sys.stdlib_module_names and each not in shared for each in parts)
    return foreign or (is_private and not dotted.startswith(OPEN_PRIVATES))


def _made_bases(node: ast.ClassDef) -> _Found:
    for base in (*node.bases, *(each.value for each in node.keywords)):
        if isinstance(base, ast.Call):
            yield f"makes the class {node.name} of {ast.unparse(base)}", node.lineno


def _imports(node: ast.Import | ast.ImportFrom) -> _Found:
    for alias in node.names:
        base = node.module if isinstance(node, ast.ImportFrom) else None
        dotted = alias.name if base is None else f"{base}.{alias.name}"
        root, _, rest = dotted.partition(".")
        if alias.name == "*" and not (base or "").startswith("triton.language"):
            yield f"imports everything from {base}", node.lineno
        elif rest and (
            alias.name in INNARDS or (root in _ROOTS and _is_hidden(root, dotted, rest))
        ):
            yield f"imports {dotted}", node.lineno


def _imported_as_two(tree: ast.Module) -> _Found:
    """Yield names that mean one thing in one place and another elsewhere; parts of Triton aside."""
    meanings = {"torch": "torch", "triton": "triton", "tl": "triton.language"}
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    for node in imports:
        for alias in node.names:
            base = node.module if isinstance(node, ast.ImportFrom) else None
            whole = alias.name if base is None else f"{base}.{alias.name}"
            is_root = base is None and alias.asname is None
            dotted = alias.name.partition(".")[0] if is_root else whole
            name = alias.asname or (dotted if is_root else alias.name)
            before = meanings.setdefault(name, dotted)
            are_fallbacks = before.startswith("triton.") and dotted.startswith("triton.")
            if before != dotted and not are_fallbacks:
                yield f"imports both {before} and {dotted} as {name}", node.lineno


def _fronts(tree: ast.Module) -> set[int]:
    """Return what is the front of a longer name, is given one plain name, or is only asked."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) or (
            isinstance(node, ast.Assign)
            and all(isinstance(each, ast.Name) for each in node.targets)
        ):
            found.add(id(node.value))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _ASKING and node.args:
            found.add(id(node.args[0]))
    return found - _lost(tree)


def _lost(tree: ast.Module) -> set[int]:
    """Return what is given to a name that cannot be followed: one of a class, or bound twice."""
    members = {
        id(inner.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, ast.Assign)
    }
    given = [
        (target.id, id(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    times = Counter(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return members | {value for name, value in given if times[name] > 1}


def _handed_on(node: ast.Name | ast.Attribute, reading: Reading) -> _Found:
    """Yield a module that is used as a value, so that nobody sees what is taken from it."""
    dotted = reading.imports.dotted(node) or ""
    if not isinstance(node.ctx, ast.Load) or dotted.partition(".")[0] not in _ROOTS:
        return
    is_root = dotted in _ROOTS and isinstance(node, ast.Name) and node.id in reading.imports.names
    if is_root or ("." in dotted and dotted.rpartition(".")[2] in MODULE_WORDS):
        yield f"hands the module {dotted} on as a value", node.lineno


def _loose_builtins(tree: ast.Module) -> _Found:
    """Yield builtins that look a name up and are not called at once with plain arguments."""
    bound = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    called = {
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.args
        and not any(isinstance(each, ast.Starred) for each in node.args)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in LOOKING_UP and isinstance(node.ctx, ast.Load):
            is_plain = id(node) in called and node.id != "locals"
            if not is_plain and node.id not in bound:
                yield f"looks names up through {node.id}", node.lineno


def _bound_anew(reading: Reading) -> _Found:
    """Yield names of Triton and torch that the file gives to something of its own."""
    names = read_imports(reading.tree).names
    # `jit = triton.jit` and `triton = None` where it is missing are no disguise.
    plain = {
        id(target)
        for node in ast.walk(reading.tree)
        if isinstance(node, ast.Assign)
        and (
            (isinstance(node.value, ast.Constant) and node.value.value is None)
            or (reading.imports.dotted(node.value) or "").startswith(("triton.", "torch."))
        )
        for target in node.targets
    }
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = "" if id(node) in plain else node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        else:
            continue
        if names.get(name, "").partition(".")[0] == "triton" or names.get(name) == "torch":
            yield f"gives the name {name} to something else", node.lineno


def _between_kernel_and_jit(reading: Reading) -> _Found:
    """Yield decorators that get a kernel's function before Triton has it."""
    for _, node in functions_in(reading.tree):
        jits = [
            index
            for index, each in enumerate(node.decorator_list)
            if reading.imports.is_triton(
                each.func if isinstance(each, ast.Call) else each, "jit", "constexpr_function"
            )
        ]
        if jits and jits[0] + 1 < len(node.decorator_list):
            inner = ast.unparse(node.decorator_list[jits[0] + 1])
            yield f"hands the kernel {node.name} to {inner} before Triton", node.lineno
