"""Weights are cast, transposed into a copy or cloned on every call of ``forward``.

Looks for copies of parameters and buffers, also in functions they are handed to. Misses copies in
branches and loops, and weights of modules from other files. Source: the copy reads and writes the
weight once more on each call.
"""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import HostFunction
from xeforge.source.imports import ImportTable
from xeforge.source.scopes import FunctionNode
from xeforge.source.weights import is_weight
from xeforge.source.weights import weight_attributes

NAME: Final = "repack_in_forward"
_CASTS: Final = frozenset({"float", "half", "bfloat16", "double"})
_TURNS: Final = frozenset({"t", "transpose", "permute", "T", "mT", "swapaxes", "movedim"})
_PASSED: Final = frozenset({"detach", "view", "reshape", "data", "flatten", "squeeze", "unsqueeze"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Follow weights from ``self`` through helper functions to unconditional copies of them."""
    model = None if facts.contents.model is None else facts.contents.model.name
    constructor = facts.functions.get(f"{model}.__init__")
    if constructor is None:
        return ()
    weights = weight_attributes(constructor, facts.imports)
    functions = facts.hosts
    carried = _carried(functions, weights)
    places: dict[int, tuple[str, str]] = {}
    for function in functions:
        for line, text, note in _places(
            function.node, carried[function.name], weights, facts.imports
        ):
            # Of several copies in one expression the certain one is told.
            if line not in places or not note:
                places[line] = (text, note)
    return tuple(
        Issue(
            type=NAME,
            severity=Severity.SPEED,
            message=f"{text} makes a new copy of a weight on every call{note}",
            line=line,
            remedy="let the kernel read the weight as it is stored: pass its strides, cast tiles",
        )
        for line, (text, note) in sorted(places.items())
    )


def _carried(
    functions: tuple[HostFunction, ...], weights: frozenset[str]
) -> Mapping[str, set[str]]:
    """Return the local names that hold weights, for each function, following calls."""
    carried: dict[str, set[str]] = {each.name: set() for each in functions}
    by_name = {each.name.rpartition(".")[2]: each for each in functions}
    for _ in functions:  # as many rounds as a chain of calls can be long
        for function in functions:
            names = carried[function.name]
            for node in ast.walk(function.node):
                if isinstance(node, ast.Assign) and is_weight(node.value, names, weights):
                    names |= {each.id for each in node.targets if isinstance(each, ast.Name)}
                elif isinstance(node, ast.Call):
                    target = by_name.get(ast.unparse(node.func).rpartition(".")[2])
                    if target is not None:
                        given = _handed_on(node, target, names, weights)
                        carried[target.name] |= set(given)
    return carried


def _handed_on(
    call: ast.Call, target: HostFunction, names: set[str], weights: frozenset[str]
) -> Iterator[str]:
    parameters = [each for each in target.parameters if each != "self"]
    for parameter, value in zip(parameters, call.args, strict=False):
        if is_weight(value, names, weights):
            yield parameter
    for keyword in call.keywords:
        if keyword.arg is not None and is_weight(keyword.value, names, weights):
            yield keyword.arg


def _places(
    function: FunctionNode, names: set[str], weights: frozenset[str], imports: ImportTable
) -> Iterator[tuple[int, str, str]]:
    for statement in _unconditional(function.body):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                root, steps = _chain(node)
                if is_weight(root, names, weights) and steps[-1] == node.func.attr:
                    note = _copies(node, steps, imports)
                    if note is not None:
                        yield node.lineno, ast.unparse(node), note


def _unconditional(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that every call executes; nothing after a possible early return."""
    for statement in body:
        if isinstance(statement, ast.If):
            if any(isinstance(each, ast.Return) for each in ast.walk(statement)):
                return
        elif isinstance(statement, ast.With):
            yield from _unconditional(statement.body)
        elif not isinstance(statement, ast.For | ast.While | ast.Try | ast.FunctionDef):
            yield statement


def _chain(node: ast.expr) -> tuple[ast.expr, list[str]]:
    """Split ``w.t().contiguous()`` into ``w`` and ``["t", "contiguous"]``."""
    steps: list[str] = []
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            steps.insert(0, node.func.attr)
            node = node.func.value
        elif isinstance(node, ast.Attribute) and node.attr in _TURNS | _PASSED:
            steps.insert(0, node.attr)
            node = node.value
        else:
            return node, steps


def _copies(node: ast.Call, steps: list[str], imports: ImportTable) -> str | None:
    """Say under which condition the last step copies (``""``: always); None: it does not."""
    last, before = steps[-1], set(steps[:-1])
    if last == "clone":
        return ""
    if last == "contiguous" and before & _TURNS:
        return ""
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "dtype")]
    if last in _CASTS or (last == "to" and any(_is_dtype(each, imports) for each in given)):
        return " unless it already has that dtype"
    return None


def _is_dtype(node: ast.expr, imports: ImportTable) -> bool:
    return imports.is_torch(node, "float16", "bfloat16", "float32", "float64", "half", "float")
