"""Recognizes kernels that work element by element over one flat index space.

``offs = pid * BLOCK + tl.arange(0, BLOCK)``, ``mask = offs < n``, loads and stores at ``offs``,
arithmetic that never looks across elements.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.kernel_tree import bindings
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import integer
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import names_in
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import additive_leaves
from xeforge.source.tile_pointers import pointer_behind

_ELEMENT_WISE = frozenset(
    {
        "abs",
        "arange",
        "cast",
        "cdiv",
        "ceil",
        "clamp",
        "constexpr",
        "cos",
        "div_rn",
        "erf",
        "exp",
        "exp2",
        "fdiv",
        "floor",
        "fma",
        "full",
        "full_like",
        "load",
        "log",
        "log2",
        "max_contiguous",
        "maximum",
        "minimum",
        "mul",
        "mulhi",
        "multiple_of",
        "program_id",
        "rsqrt",
        "sigmoid",
        "sin",
        "sqrt",
        "sqrt_rn",
        "static_assert",
        "store",
        "umulhi",
        "where",
        "zeros",
        "zeros_like",
    }
)
_BUILTINS = frozenset({"min", "max", "float", "int", "bool"})
_ELEMENT_MODULES = ("math.", "extra.")
_MOST_HOPS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One load or store of a kernel.

    Attributes:
        call: The call.
        pointer: Pointer parameter; empty when not known.
        is_flat: Whether it touches element ``offs`` under the kernel's bound, at top level, so
            that exactly the elements below the bound are touched, each by its own program.
        is_bounded: Whether its mask is just the kernel's bound.
        statement: Statement around it.
    """

    call: cst.Call
    pointer: str
    is_flat: bool
    is_bounded: bool
    statement: cst.CSTNode


@dataclass(frozen=True, slots=True, eq=False)
class FlatKernel:
    """One element-wise kernel.

    Attributes:
        jit: The kernel.
        offsets: Name of the flat element numbers.
        mask: Name of ``offsets < extent``; empty when the bound is written out at each access.
        extent: Parameter that bounds the elements.
        block: Parameter that holds the elements of one program.
        index_lines: Statements that only set up offsets and mask.
        loads, stores: All accesses.
    """

    jit: Jit
    offsets: str
    mask: str
    extent: str
    block: str
    index_lines: tuple[cst.CSTNode, ...]
    loads: tuple[Access, ...]
    stores: tuple[Access, ...]


def flat_kernel(tree: KernelTree, jit: Jit) -> FlatKernel | None:
    """Return how a kernel works element by element; None when it does not."""
    if not _is_element_wise(tree, jit, memory=True):
        return None
    for name, block in _offset_names(jit):
        bounds = {
            text(right)
            for node in walk(jit.node.body)
            if isinstance(node, cst.Comparison) and text(node.left) == name
            for right in [node.comparisons[0].comparator]
            if isinstance(node.comparisons[0].operator, cst.LessThan)
        } & set(jit.parameters)
        if len(bounds) != 1:
            continue
        extent = bounds.pop()
        mask = _mask_name(jit, name, extent)
        found = _with_accesses(jit, name, mask, extent, block)
        return found if found is not None and found.stores else None
    return None


def _is_element_wise(tree: KernelTree, jit: Jit, *, memory: bool) -> bool:
    for node in walk(jit.node.body):
        if isinstance(node, cst.Call) and not _is_harmless(tree, node, memory=memory):
            return False
        if isinstance(node, cst.While | cst.Subscript | cst.Return) and memory:
            return False
    return True


def _is_harmless(tree: KernelTree, node: cst.Call, *, memory: bool) -> bool:
    name = language_call(node)
    if name in {"load", "store", "program_id"}:
        is_first_axis = name != "program_id" or integer(argument(node, 0, "axis")) == 0
        return memory and is_first_axis
    if name:
        return name in _ELEMENT_WISE or name.startswith(_ELEMENT_MODULES)
    if isinstance(node.func, cst.Attribute):
        return node.func.attr.value == "to" or text(node.func.value).endswith("libdevice")
    helper = tree.jits.get(last_name(node.func))
    if helper is not None:
        return _is_element_wise(tree, helper, memory=False)
    return last_name(node.func) in _BUILTINS


def _offset_names(jit: Jit) -> Iterator[tuple[str, str]]:
    for line in jit.node.body.body:
        for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            for name, value in bindings(part):
                block = None if value is None else _flat_block(jit, value)
                if block is not None and len(assignments(jit.node, name)) == 1:
                    yield name, block


def _flat_block(jit: Jit, value: cst.BaseExpression) -> str | None:
    """Return ``B`` of ``tl.program_id(0) * B + tl.arange(0, B)``, through local names."""
    leaves = [expanded(jit, each) for each in additive_leaves(value)]
    ranges = [each for each in leaves if language_call(each) == "arange"]
    starts = [each for each in leaves if isinstance(each, cst.BinaryOperation)]
    if len(leaves) != len(ranges) + len(starts) or len(ranges) != 1 or len(starts) != 1:
        return None
    arange, start = ranges[0], starts[0]
    if not isinstance(arange, cst.Call) or not isinstance(start, cst.BinaryOperation):
        return None
    block = argument(arange, 1, "end")
    if block is None or text(block) not in jit.constexprs:
        return None
    if not isinstance(start.operator, cst.Multiply):
        return None
    sides = [expanded(jit, each) for each in (start.left, start.right)]
    has_block = any(text(each) == text(block) for each in sides)
    has_pid = any(_is_program_id(each) for each in sides)
    return text(block) if has_block and has_pid else None


def _is_program_id(node: cst.BaseExpression) -> bool:
    if not isinstance(node, cst.Call):
        return False
    if isinstance(node.func, cst.Attribute) and last_name(node.func) == "to":
        return _is_program_id(node.func.value)
    return language_call(node) == "program_id" and integer(argument(node, 0, "axis")) == 0


def expanded(jit: Jit, node: cst.BaseExpression, hops: int = _MOST_HOPS) -> cst.BaseExpression:
    """Return what a local name stands for when it is bound once; other expressions as they are."""
    while isinstance(node, cst.Name) and hops:
        values = assignments(jit.node, node.value)
        if len(values) != 1 or values[0] is None or node.value in jit.parameters:
            break
        node, hops = values[0], hops - 1
    return node


def _mask_name(jit: Jit, offsets: str, extent: str) -> str:
    for line in jit.node.body.body:
        for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            for name, value in bindings(part):
                is_bound = value is not None and text(value).strip("()") == f"{offsets}<{extent}"
                if is_bound and len(assignments(jit.node, name)) == 1:
                    return name
    return ""


def _with_accesses(jit: Jit, offsets: str, mask: str, extent: str, block: str) -> FlatKernel | None:
    loads: list[Access] = []
    stores: list[Access] = []
    for line in jit.node.body.body:
        is_top = isinstance(line, cst.SimpleStatementLine)
        for node in walk(line):
            name = language_call(node)
            if name not in {"load", "store"} or not isinstance(node, cst.Call):
                continue
            address = argument(node, 0, "pointer")
            pointer = "" if address is None else pointer_behind(jit, address) or ""
            if address is None or not pointer or _looks_up(jit, address):
                return None
            bounded = _is_bounded(node, name, {mask, f"{offsets}<{extent}"})
            flat = is_top and bounded and _is_at(jit, address, pointer, offsets)
            found = Access(node, pointer, flat, bounded, line)
            (loads if name == "load" else stores).append(found)
    lines = _index_lines(jit, offsets, mask)
    return FlatKernel(jit, offsets, mask, extent, block, lines, tuple(loads), tuple(stores))


def _looks_up(jit: Jit, address: cst.BaseExpression) -> bool:
    """Say whether an address depends on loaded values (a gather)."""
    seen: set[str] = set()
    waiting = [address]
    while waiting:
        node = waiting.pop()
        if any(language_call(each) == "load" for each in walk(node)):
            return True
        for name in names_in(node) - seen:
            seen.add(name)
            waiting.extend(each for each in assignments(jit.node, name) if each is not None)
    return False


def _is_at(jit: Jit, address: cst.BaseExpression, pointer: str, offsets: str) -> bool:
    node = address
    for _ in range(_MOST_HOPS):
        leaves = [text(each) for each in additive_leaves(node)]
        if sorted(leaves) == sorted([pointer, offsets]):
            return True
        if not isinstance(node, cst.Name):
            return False
        node = expanded(jit, node, hops=1)
    return False


def _is_bounded(call: cst.Call, name: str, bounds: set[str]) -> bool:
    given = argument(call, 1 if name == "load" else 2, "mask")
    return given is not None and text(given).strip("()") in bounds


def _index_lines(jit: Jit, offsets: str, mask: str) -> tuple[cst.CSTNode, ...]:
    """Return the statements that nothing but offsets and mask depend on."""
    lines = [each for each in jit.node.body.body if isinstance(each, cst.SimpleStatementLine)]
    found: list[cst.CSTNode] = []
    wanted = {offsets, mask} - {""}
    for line in reversed(lines):
        names = {name for part in line.body for name, _ in bindings(part)}
        others = [each for each in jit.node.body.body if each is not line and each not in found]
        used = {name.value for other in others for name in loaded_names(other)}
        is_index = bool(names & {offsets, mask}) or (bool(names & wanted) and not names & used)
        if is_index and len(line.body) == 1:
            found.append(line)
            wanted |= names_in(line)
    return tuple(found)
