"""Proves that a kernel writes every element of a tensor, so that nobody needs to clear it first."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from xeforge.domain.problem import Workload
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_values import follow_forward
from xeforge.propose.mask_terms import block_and_extent
from xeforge.propose.mask_terms import conjuncts
from xeforge.propose.mask_terms import once
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import names_in
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import additive_leaves
from xeforge.source.tile_pointers import pointer_behind


def writes_everything(
    tree: KernelTree, launch: Launch, pointer: str, workloads: Sequence[Workload]
) -> bool:
    """Say whether a launch is seen to store each element of what a pointer parameter points at.

    One store at the top level of the kernel, positions along every axis cut into blocks that the
    grid covers, masks that only keep the sizes of the tensor, and no other access through it.
    """
    jit = tree.jits[launch.kernel]
    store = _only_store(jit, pointer)
    if store is None:
        return False
    mask = argument(store, 2, "mask")
    parts = [] if mask is None else list(conjuncts(once(jit, mask)))
    pairs = [block_and_extent(tree, jit, each, store) for each in parts]
    blocks = {block: extent for pair in pairs if pair is not None for extent, block in [pair]}
    if not blocks or None in pairs or len(blocks) != len(pairs):
        return False
    found = _Stores(tree, launch, jit, store, pointer, blocks)
    return bool(workloads) and all(_matches(found, each) for each in workloads)


def _only_store(jit: Jit, pointer: str) -> cst.Call | None:
    accesses = [
        node
        for node in walk(jit.node.body)
        if isinstance(node, cst.Call)
        and node.args
        and (language_call(node) in {"load", "store"} or language_call(node).startswith("atomic"))
        and pointer_behind(jit, node.args[0].value) in {pointer, None}
    ]
    if any(isinstance(node, cst.Return) for node in walk(jit.node.body)):
        return None
    top = {
        node
        for line in jit.node.body.body
        if isinstance(line, cst.SimpleStatementLine)
        for node in walk(line)
    }
    is_single = len(accesses) == 1 and accesses[0] in top
    return accesses[0] if is_single and language_call(accesses[0]) == "store" else None


@dataclass(frozen=True, slots=True, eq=False)
class _Stores:
    tree: KernelTree
    launch: Launch
    jit: Jit
    store: cst.Call
    pointer: str
    blocks: Mapping[str, str]


def _matches(stores: _Stores, workload: Workload) -> bool:
    """Compare axis by axis: the extent that a stride goes with is the size of that axis."""
    launch, jit, blocks = stores.launch, stores.jit, stores.blocks
    facts = follow_forward(stores.tree, workload)
    tensor = facts.value(launch.arguments.get(stores.pointer))
    if not isinstance(tensor, HostTensor) or not tensor.is_contiguous or tensor.shape is None:
        return False
    found: dict[int, int] = {}
    for leaf in _axis_leaves(jit, argument(stores.store, 0, "pointer"), stores.pointer):
        block = _block_of(jit, leaf, blocks)
        stride: object = 1
        if isinstance(leaf, cst.BinaryOperation) and isinstance(leaf.operator, cst.Multiply):
            names = [name for name in names_in(leaf) if name in jit.parameters]
            stride = facts.value(launch.arguments.get(names[0])) if len(names) == 1 else None
        size = facts.value(launch.arguments.get(blocks.get(block, "")))
        if not isinstance(stride, int) or not isinstance(size, int):
            return False
        found[stride] = size
    strides = tensor.strides or ()
    return found == dict(zip(strides, tensor.shape, strict=True)) and len(found) == len(strides)


def _axis_leaves(
    jit: Jit, address: cst.BaseExpression | None, pointer: str
) -> list[cst.BaseExpression]:
    if address is None:
        return []
    return [leaf for leaf in address_terms(jit, address) if text(leaf) != pointer]


def address_terms(jit: Jit, address: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the terms of an address, one for each axis; names of whole addresses followed."""
    for leaf in additive_leaves(once(jit, address)):
        inner = once(jit, leaf)
        # Positions along one axis are sums too; only sums over axes have ``[:, None]`` in them.
        is_plane = any(isinstance(each, cst.Subscript) for each in walk(inner))
        if inner is not leaf and is_plane and isinstance(inner, cst.BinaryOperation):
            yield from address_terms(jit, inner)
        else:
            yield leaf


def _block_of(jit: Jit, leaf: cst.BaseExpression, blocks: Mapping[str, str]) -> str:
    """Return the one block whose positions a term of an address is made of."""
    seen: set[str] = set()
    waiting = [leaf]
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        for each in walk(node):
            end = argument(each, 1, "end") if isinstance(each, cst.Call) else None
            if language_call(each) == "arange" and end is not None:
                found.add(text(end))
        for name in names_in(node) - seen:
            seen.add(name)
            inner = once(jit, cst.Name(name))
            if not isinstance(inner, cst.Name):
                waiting.append(inner)
    return found.pop() if len(found) == 1 and found <= set(blocks) else ""
