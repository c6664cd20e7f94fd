"""Operands are widened to float32 before a matrix product, or products accumulate in 16 bits.

Looks for casts to float32 of tiles as they were loaded, on their way into ``tl.dot``, and for
accumulators and ``out_dtype`` of 16 bits. Misses tiles that helper functions load or cast, and
values that were computed in float32 and must stay so. Source: published rates of the matrix units
by operand format (vendors' data sheets); sums in 16 bits lose all terms below 2**-11 of the sum.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts
from xeforge.source.imports import ImportTable
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_code import assignments
from xeforge.source.kernel_code import is_call
from xeforge.source.scopes import FunctionNode

NAME: Final = "dtype_precision"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report products of loaded tiles that were widened; computed float32 values are left alone."""
    places = sorted(
        {place for node in facts.nodes.values() for place in _places(node, facts.imports)}
    )
    widened = tuple(
        Issue(
            type=NAME,
            severity=Severity.SPEED,
            message=f"{' and '.join(names)} widened to float32 before the product: the matrix "
            "units run at their float32 rate, a fraction of the 16-bit rate",
            line=line,
            remedy="multiply the tiles as loaded and accumulate in float32",
        )
        for line, names in places
    )
    return (*widened, *(each for body in facts.bodies.values() for each in _short(body)))


def _rounded(body: KernelBody) -> Iterator[Issue]:
    """Yield sums that are rounded to 16 bits in every turn of a loop."""
    for each in body.bindings:
        value = each.value
        if value is None or not each.place.loops or not isinstance(value, ast.BinOp | ast.Call):
            continue
        inside = tuple(ast.walk(value))
        if not any(isinstance(e, ast.Name) and e.id == each.name for e in inside):
            continue
        for node in inside:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            target = node.args[0] if node.args else None
            is_short = target is not None and body.imports.is_triton(target, "float16", "bfloat16")
            if node.func.attr != "to" or target is None or not is_short:
                continue
            if any(is_call(e, body.imports, "dot") for e in ast.walk(node.func)):
                yield Issue(
                    type=NAME,
                    severity=Severity.SPEED,
                    message=f"{each.name} is rounded to {ast.unparse(target)} in every turn",
                    line=each.line,
                    remedy="accumulate in float32 and cast the result once",
                )
                break


def _short(body: KernelBody) -> Iterator[Issue]:
    """Yield accumulators of 16 bits, and products that are asked for in 16 bits."""
    yield from _rounded(body)
    dots = body.named("dot", "dot_scaled")
    added = {b.name for b in body.bindings for dot in dots if b.place.index == dot.place.index}
    for call in (*body.named("zeros", "full"), *dots):
        is_dot = call in dots
        node = call.argument(6 if is_dot else 1 + (call.name == "full"), "dtype")
        node = call.argument(6, "out_dtype") if is_dot else node
        names = {each.name for each in body.bindings if each.place.index == call.place.index}
        is_short = node is not None and body.imports.is_triton(node, "float16", "bfloat16")
        if is_short and node is not None and (is_dot or names & added):
            yield Issue(
                type=NAME,
                severity=Severity.SPEED,
                message=f"{ast.unparse(call.node)} accumulates in {ast.unparse(node)}",
                line=call.line,
                remedy="accumulate in float32 and cast the result once",
            )


def _places(kernel: FunctionNode, imports: ImportTable) -> Iterator[tuple[int, tuple[str, ...]]]:
    bound = tuple(assignments(kernel))
    for node in ast.walk(kernel):
        if isinstance(node, ast.Call) and is_call(node, imports, "dot"):
            named = [each.value for each in node.keywords if each.arg in {"input", "other"}]
            # Values that the operands can have are those bound before the product.
            before = [(name, value) for name, value, _ in bound if _place(value) < _place(node)]
            tiles = _Tiles(before, imports)
            names = tuple(
                ast.unparse(each) for each in (*node.args[:2], *named) if tiles.is_widened(each)
            )
            if names:
                yield node.lineno, names


def _place(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


class _Tiles:
    """What names stand for at one product."""

    def __init__(self, bound: list[tuple[str, ast.expr]], imports: ImportTable) -> None:
        self._bound = bound
        self._imports = imports

    def is_widened(self, node: ast.expr) -> bool:
        """Say whether an operand is a loaded tile after a cast to float32."""
        node = self._plain(node)
        if isinstance(node, ast.Name):
            values = self._values(node.id)
            return bool(values) and self._is_cast(self._plain(values[-1]))
        return self._is_cast(node)

    def _is_cast(self, node: ast.expr) -> bool:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return False
        is_wide = bool(node.args) and self._imports.is_triton(node.args[0], "float32")
        return node.func.attr == "to" and is_wide and self._is_loaded(node.func.value)

    def _is_loaded(self, node: ast.expr) -> bool:
        """Say whether an expression is a tile as it came from memory."""
        node = self._plain(node)
        if isinstance(node, ast.Name):
            # ``a = a.to(...)`` hides the load behind its own name: look at every binding.
            return any(_is_load(self._plain(each)) for each in self._values(node.id))
        return _is_load(node)

    def _values(self, name: str) -> list[ast.expr]:
        return [value for each, value in self._bound if each == name]

    def _plain(self, node: ast.expr) -> ast.expr:
        """Return what is transposed, for a transposed tile."""
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return node.value
        is_turned = is_call(node, self._imports, "trans", "permute")
        return node.args[0] if is_turned and isinstance(node, ast.Call) and node.args else node


def _is_load(node: ast.expr) -> bool:
    """Say whether this is ``tl.load(...)`` or the method of a descriptor."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    return node.func.attr == "load"
