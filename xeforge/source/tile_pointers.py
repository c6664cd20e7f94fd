"""Tells which parameters of a jit function are pointers, from how they are used."""

from collections.abc import Iterator
from functools import lru_cache

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import bindings
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import walk

_MEMORY_CALLS = ("load", "store", "prefetch", "make_block_ptr", "make_tensor_descriptor")
_MOST_HOPS = 8
_MOST_DEPTH = 4


@lru_cache(maxsize=512)
def pointer_parameters(tree: KernelTree, jit: Jit, depth: int = 0) -> frozenset[str]:
    """Return the parameters that loads, stores and atomics address memory through."""
    return frozenset(
        name
        for address in _addresses(tree, jit, depth)
        if (name := pointer_behind(jit, address)) is not None
    )


def pointer_behind(jit: Jit, address: cst.BaseExpression, hops: int = _MOST_HOPS) -> str | None:
    """Return the parameter that an address expression starts from, through local names."""
    if hops == 0:
        return None
    for leaf in additive_leaves(address):
        if isinstance(leaf, cst.Call):
            inner = argument(leaf, 0, "base")
            if inner is not None and (name := pointer_behind(jit, inner, hops - 1)):
                return name
        if not isinstance(leaf, cst.Name):
            continue
        if leaf.value in jit.parameters:
            return leaf.value
        for value in _values(jit, leaf.value):
            if (name := pointer_behind(jit, value, hops - 1)) is not None:
                return name
    return None


def additive_leaves(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the terms of a sum, left to right."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add | cst.Subtract):
        yield from additive_leaves(node.left)
        yield from additive_leaves(node.right)
    else:
        yield node


def _values(jit: Jit, name: str) -> Iterator[cst.BaseExpression]:
    for node in walk(jit.node.body):
        for bound, value in bindings(node):
            if bound == name and value is not None:
                yield value


def _addresses(tree: KernelTree, jit: Jit, depth: int) -> Iterator[cst.BaseExpression]:
    for node in walk(jit.node.body):
        if not isinstance(node, cst.Call):
            continue
        name = language_call(node)
        if name in _MEMORY_CALLS or name.startswith("atomic_"):
            first = argument(node, 0, "base" if name.startswith("make_") else "pointer")
            if first is not None:
                yield first
        elif (
            isinstance(node.func, cst.Name) and node.func.value in tree.jits and depth < _MOST_DEPTH
        ):
            helper = tree.jits[node.func.value]
            for pointer in pointer_parameters(tree, helper, depth + 1):
                given = argument(node, helper.parameters.index(pointer), pointer)
                if given is not None:
                    yield given
