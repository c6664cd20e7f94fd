"""Feed matrix units 16-bit operands: no widening to float32 in front of ``tl.dot``.

Before:  acc += tl.dot(a.to(tl.float32), b.to(tl.float32))
After:   acc += tl.dot(a, b)                                  (the accumulator stays float32)

Products of 16-bit floats are exact in float32, so nothing is lost by this. An operand that was
computed in float32 (softmax probabilities) is rounded to the other operand's format instead.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.pointers import is_always_16_bit
from xeforge.propose.rewrite import Rewrite
from xeforge.propose.rewrite import counted
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import bindings
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import removal
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_types import Dot
from xeforge.source.tile_types import TileFacts
from xeforge.source.tile_values import follow

NAME = "drop_fp32_upcast"
STAGE = "dtype_fix"
CURES = frozenset({"dtype_precision"})
CARRIES_OUT: tuple[str, ...] = ("precision.operands_as_stored",)

_WIDE = frozenset({"tl.float32", "triton.language.float32"})


@dataclass(frozen=True, slots=True, eq=False)
class _Operand:
    """What can be done about one operand.

    Attributes:
        changes: Edits that remove the widening; None when it was computed in float32.
        pointer: Pointer parameter the 16-bit values come from.
        narrow: Text of the operand afterwards.
    """

    changes: dict[cst.CSTNode, Replacement] | None
    pointer: str | None
    narrow: str


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Remove every widening whose operands are 16-bit in all timed workloads."""
    del device
    tree = parse_tree(source)
    changes: dict[cst.CSTNode, Replacement] = {}
    exact: dict[cst.CSTNode, Replacement] = {}
    count = 0
    for kernel in dict.fromkeys(each.kernel for each in tree.launches):
        facts = follow(tree, tree.jits[kernel])
        for dot in facts.dots:
            found = _Widening(tree, problem, kernel, facts).of(dot)
            if found is None:
                continue
            edits, is_exact = found
            count += 1
            changes.update(edits)
            if is_exact:
                exact.update(edits)
    if not changes:
        return ()
    what = counted(count, "product") + (" get" if count > 1 else " gets")
    why = "accumulating in float32: the matrix units run at their 16-bit rate"
    rounded = "" if len(exact) == len(changes) else ", computed operands rounded to match"
    because = f"{what} 16-bit operands instead of float32 copies{rounded}, {why}"
    line = min(tree.line(node) for node in changes)
    rewrites = [Rewrite(replace(tree.module, changes).code, because, line, CARRIES_OUT)]
    if exact and rounded:
        because = f"16-bit operands where the float32 copy was a loaded value, {why}"
        rewrites.append(Rewrite(replace(tree.module, exact).code, because, line, CARRIES_OUT))
    return tuple(rewrites)


@dataclass(frozen=True, slots=True, eq=False)
class _Widening:
    tree: KernelTree
    problem: Problem
    kernel: str
    facts: TileFacts

    def of(self, dot: Dot) -> tuple[dict[cst.CSTNode, Replacement], bool] | None:
        home = next((j for j in self.tree.jits.values() if dot.call in walk(j.node)), None)
        if home is None:
            return None
        left, right = self.operand(home, dot.left), self.operand(home, dot.right)
        if left is None or right is None:
            return None
        sides = ((dot.left, left, right), (dot.right, right, left))
        if not any(own.changes for _, own, _ in sides):
            return None
        changes: dict[cst.CSTNode, Replacement] = {}
        is_exact = True
        for node, own, other in sides:
            if own.changes is not None:
                changes.update(own.changes)
            elif other.changes is None:
                return None
            else:
                is_exact = False
                changes[node] = _casting(code(node), other, home)
        return changes, is_exact

    def operand(self, home: Jit, node: cst.BaseExpression) -> _Operand | None:
        """Return None when nothing is known about the operand's format."""
        tile = self.facts.values.get(node)
        if tile is None or tile.dtype is None:
            return None
        if tile.dtype.startswith("*"):
            pointer = tile.dtype.removeprefix("*")
            return _Operand({}, pointer, code(node)) if self.is_narrow(pointer) else None
        if tile.dtype != "float32":
            return None
        return self.widened(home, node) or _Operand(None, None, code(node))

    def is_narrow(self, pointer: str) -> bool:
        return is_always_16_bit(self.tree, self.kernel, pointer, self.problem.timed)

    def widened(self, home: Jit, node: cst.BaseExpression) -> _Operand | None:
        inner = _inside(node)
        if inner is not None:
            tile = self.facts.values.get(inner)
            pointer = "" if tile is None else (tile.dtype or "")
            if not pointer.startswith("*") or not self.is_narrow(pointer.removeprefix("*")):
                return None
            return _Operand({node: lambda _: inner}, pointer.removeprefix("*"), code(inner))
        if language_call(node) == "trans" and isinstance(node, cst.Call):
            below = self.widened(home, node.args[0].value)
            return None if below is None else _Operand(below.changes, below.pointer, "")
        if isinstance(node, cst.Name):
            return self.widened_name(home, node)
        return None

    def widened_name(self, home: Jit, node: cst.Name) -> _Operand | None:
        casts = list(_casts_to(home, node.value))
        if len(casts) != 1:
            return None
        statement, value = casts[0]
        below = self.widened(home, value)
        if below is None or below.changes is None or below.pointer is None:
            return None
        inner = _inside(value)
        own = {each for each in walk(statement) if isinstance(each, cst.Name)}
        elsewhere = [
            each
            for each in walk(home.node.body)
            if isinstance(each, cst.Name)
            and each.value == node.value
            and each not in own
            and each is not node
            and not _is_target(home, each)
        ]
        if elsewhere:
            # Other code needs the wide copy: narrow the operand alone, which is exact.
            wanted = f"{node.value}.to({below.pointer}.dtype.element_ty)"
            if below.pointer not in home.parameters:
                return None
            return _Operand({node: _expression(wanted)}, below.pointer, wanted)
        changes = dict(below.changes)
        if isinstance(inner, cst.Name) and inner.value == node.value:
            changes = {statement: removal(home.node, statement)}
        return _Operand(changes, below.pointer, node.value)


def _casts_to(home: Jit, name: str) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
    for line in walk(home.node.body):
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
            for bound, value in bindings(line.body[0]):
                if bound == name and value is not None and _inside(value) is not None:
                    yield line, value


def _is_target(home: Jit, name: cst.Name) -> bool:
    """Say whether a name is the target of another assignment, such as the load before a cast."""
    return any(
        isinstance(each, cst.AssignTarget) and each.target is name for each in walk(home.node.body)
    )


def _inside(node: cst.CSTNode) -> cst.BaseExpression | None:
    """Return ``x`` of ``x.to(tl.float32)`` and of ``tl.cast(x, tl.float32)``."""
    if not isinstance(node, cst.Call):
        return None
    if language_call(node) == "cast":
        target = argument(node, 1, "dtype")
        return node.args[0].value if target is not None and text(target) in _WIDE else None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "to":
        target = argument(node, 0, "dtype")
        return node.func.value if target is not None and text(target) in _WIDE else None
    return None


def _casting(operand: str, other: _Operand, home: Jit) -> Replacement:
    is_name = other.narrow.isidentifier()
    if other.pointer in home.parameters and not is_name:
        wanted = f"{other.pointer}.dtype.element_ty"
    else:
        wanted = f"{other.narrow}.dtype" if is_name else f"({other.narrow}).dtype"
    is_plain = operand.isidentifier()
    return _expression(f"{operand}.to({wanted})" if is_plain else f"({operand}).to({wanted})")


def _expression(wanted: str) -> Replacement:
    return lambda _: cst.parse_expression(wanted)
