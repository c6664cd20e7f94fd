"""Finds comparisons in masks that hold by themselves once an extent is a multiple of a block.

``offs < N`` holds for all lanes when ``offs`` starts at a multiple of a block, is one block long,
no program or turn starts at or beyond ``N``, and the block divides ``N``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field

import libcst as cst

from xeforge.propose.grids import ceil_division
from xeforge.propose.grids import grid_tuple
from xeforge.propose.grids import is_value_of
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import unparenthesized
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import additive_leaves

_MOST_HOPS = 6
_RANGES = frozenset({"range", "static_range"})


@dataclass(slots=True, eq=False)
class MaskTerm:
    """One kind of comparison: positions cut into blocks against an extent.

    Attributes:
        flag: Name for a compile-time constant that says whether the size is even.
        extent: Parameter compared with.
        block: Parameter that is the length of a block.
        calls: Loads and stores whose mask has it.
        texts: How it is written there.
        conjuncts: All terms of the mask of each call, as text.
    """

    flag: str
    extent: str
    block: str
    calls: set[cst.Call] = field(default_factory=set)
    texts: set[str] = field(default_factory=set)
    conjuncts: dict[cst.Call, tuple[str, ...]] = field(default_factory=dict)


def redundant_terms(tree: KernelTree, jit: Jit) -> tuple[MaskTerm, ...]:
    """Return the comparisons of a kernel's masks that an even size makes redundant."""
    found: dict[tuple[str, str], MaskTerm] = {}
    for node in walk(jit.node.body):
        if language_call(node) not in {"load", "store"} or not isinstance(node, cst.Call):
            continue
        mask = argument(node, 1 if language_call(node) == "load" else 2, "mask")
        if mask is None:
            continue
        parts = list(conjuncts(once(jit, mask)))
        for term in parts:
            pair = block_and_extent(tree, jit, term, node)
            if pair is None:
                continue
            entry = found.setdefault(pair, MaskTerm(f"EVEN_{pair[0].upper()}", *pair))
            entry.calls.add(node)
            entry.texts.add(_plain(term))
            entry.conjuncts[node] = tuple(_plain(each) for each in parts)
    extents = [extent for extent, _ in found]
    for (extent, block), each in found.items():
        if extents.count(extent) > 1:
            each.flag = f"EVEN_{extent}_{block}".upper()
    return tuple(found.values())


def _plain(node: cst.BaseExpression) -> str:
    inner = code(node)
    return f"({inner})" if not node.lpar else inner


def once(jit: Jit, node: cst.BaseExpression) -> cst.BaseExpression:
    """Return what a local name stands for when it always stands for the same text."""
    for _ in range(_MOST_HOPS):
        values = assignments(jit.node, node.value) if isinstance(node, cst.Name) else ()
        if not values or any(each is None for each in values) or len(set(map(_text, values))) != 1:
            break
        first = values[0]
        if first is None:
            break
        node = first
    return node


def _text(node: cst.BaseExpression | None) -> str:
    return "" if node is None else text(node)


def conjuncts(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the terms of ``a & b & c``."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd):
        yield from conjuncts(node.left)
        yield from conjuncts(node.right)
    else:
        yield node


def block_and_extent(
    tree: KernelTree, jit: Jit, term: cst.BaseExpression, access: cst.Call
) -> tuple[str, str] | None:
    """Return extent and block of a comparison that an even size makes true.

    Args:
        tree: The file.
        jit: The kernel.
        term: The comparison.
        access: Load or store that it guards.
    """
    if not isinstance(term, cst.Comparison) or len(term.comparisons) != 1:
        return None
    limit = term.comparisons[0].comparator
    first, *others = additive_leaves(limit)
    extent = text(first)
    is_less = isinstance(term.comparisons[0].operator, cst.LessThan)
    if not is_less or extent not in jit.parameters or (others and not _is_difference(limit)):
        return None
    # ``offs < K - k * B`` says the same as ``k * B + offs < K``.
    moved = [*terms(jit, term.left), *others]
    ranges = [each for each in moved if language_call(each) == "arange"]
    starts = [each for each in moved if language_call(each) != "arange"]
    if len(ranges) != 1 or len(starts) != 1 or not isinstance(ranges[0], cst.Call):
        return None
    end = argument(ranges[0], 1, "end")
    block = "" if end is None else text(end)
    if block not in jit.constexprs:
        return None
    start = starts[0]
    loops = [each for each in walk(jit.node.body) if isinstance(each, cst.For)]
    around = [each for each in loops if access in walk(each.body)]
    is_covered = any(_is_loop_start(jit, each, start, extent, block) for each in around)
    is_covered = is_covered or is_program_start(tree, jit, start, extent, block)
    return (extent, block) if is_covered else None


def _is_difference(node: cst.BaseExpression) -> bool:
    """Say whether an expression is one thing minus one other thing."""
    return (
        isinstance(node, cst.BinaryOperation)
        and isinstance(node.operator, cst.Subtract)
        and all(len(list(additive_leaves(each))) == 1 for each in (node.left, node.right))
    )


def terms(jit: Jit, node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """Return the summands of a position, local names and ``[:, None]`` followed."""
    found: list[cst.BaseExpression] = []
    for leaf in additive_leaves(node):
        inner = leaf
        for _ in range(_MOST_HOPS):
            if isinstance(inner, cst.Subscript):
                inner = inner.value
                continue
            followed = once(jit, inner)
            if followed is inner:
                break
            inner = followed
        is_sum = inner is not leaf and isinstance(inner, cst.BinaryOperation)
        found.extend(terms(jit, inner) if is_sum else [inner])
    return found


def _is_loop_start(
    jit: Jit, loop: cst.For, start: cst.BaseExpression, extent: str, block: str
) -> bool:
    """Say whether a start runs over multiples of a block below an extent, in this loop."""
    is_range = isinstance(loop.iter, cst.Call) and last_name(loop.iter.func) in _RANGES
    calls = loop.iter.args if isinstance(loop.iter, cst.Call) and is_range else ()
    args = [each.value for each in calls if each.keyword is None]
    if not args or (len(args) > 1 and text(args[0]) != "0"):
        return False
    target, stop, steps = text(loop.target), args[min(1, len(args) - 1)], args[2:]
    if steps:
        is_start = text(start) == target and text(steps[0]) == block
        return is_start and _is_at_most(jit, stop, extent, block)
    parts = ceil_division(once(jit, stop))
    is_counted = parts is not None and [text(each) for each in parts] == [extent, block]
    return is_counted and text(start) in {f"{target}*{block}", f"{block}*{target}"}


def _is_at_most(jit: Jit, stop: cst.BaseExpression, extent: str, block: str) -> bool:
    """Say whether a loop's end is the extent or the smaller of it and something else.

    One block is as good: it is no more than an extent that blocks divide.
    """
    if text(stop) in {extent, block}:
        return True
    if isinstance(stop, cst.IfExp):
        return all(_is_at_most(jit, each, extent, block) for each in (stop.body, stop.orelse))
    if isinstance(stop, cst.Name) and stop.value not in jit.parameters:
        values = assignments(jit.node, stop.value)
        return bool(values) and all(
            each is not None and _is_at_most(jit, each, extent, block) for each in values
        )
    is_smaller = isinstance(stop, cst.Call) and last_name(stop.func) in {"min", "minimum"}
    args = stop.args if isinstance(stop, cst.Call) else ()
    return is_smaller and any(text(each.value) == extent for each in args)


def is_program_start(
    tree: KernelTree, jit: Jit, start: cst.BaseExpression, extent: str, block: str
) -> bool:
    """Say whether a start is a tile number times the block, and the grid stops at the extent."""
    if not isinstance(start, cst.BinaryOperation) or not isinstance(start.operator, cst.Multiply):
        return False
    sides = {text(start.left): start.right, text(start.right): start.left}
    number = sides.get(block)
    launches = tree.launches_of(jit.name)
    if number is None or not _comes_from_programs(jit, number):
        return False
    return bool(launches) and all(
        _covers(tree, launch, launch.arguments.get(extent), block) for launch in launches
    )


def _covers(
    tree: KernelTree, launch: Launch, wanted: cst.BaseExpression | None, block: str
) -> bool:
    """Say whether the grid has just as many programs along an extent as there are blocks."""
    grid = grid_tuple(tree, launch)
    if grid is None or wanted is None:
        return False
    for element in grid.elements:
        for factor in _factors(launch, element.value):
            parts = ceil_division(factor)
            if parts is None or unparenthesized(parts[0]) != unparenthesized(wanted):
                continue
            if is_value_of(tree, launch, parts[1], block):
                return True
    return False


def _factors(launch: Launch, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
        yield from _factors(launch, node.left)
        yield from _factors(launch, node.right)
    elif isinstance(node, cst.Name) and launch.function is not None:
        for value in assignments(launch.function, node.value):
            if value is not None:
                yield from _factors(launch, value)
    else:
        yield node


def _comes_from_programs(jit: Jit, node: cst.BaseExpression) -> bool:
    seen: set[str] = set()
    waiting: list[cst.CSTNode] = [node]
    while waiting:
        for each in walk(waiting.pop()):
            if language_call(each) == "program_id":
                return True
            if isinstance(each, cst.Name) and each.value not in seen:
                seen.add(each.value)
                waiting.extend(v for v in assignments(jit.node, each.value) if v is not None)
    return False
