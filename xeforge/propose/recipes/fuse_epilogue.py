"""Apply bias, activation and the like to a tile before it is stored, not in a launch of its own.

Before:  product[grid](a, b, t, ...)       t = a @ b
         activate[flat](t, bias, y, n)     y[i] = f(t[i], bias[i % columns])
After:   product_activate[grid](a, b, bias, y, ...)

The second kernel must be element-wise over the flat index space of ``t``; the first must store
``t`` once, as tiles of rows and columns of a contiguous matrix. The tile is rounded to the format
of ``t`` first, so that results stay the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.flat_kernels import FlatKernel
from xeforge.propose.flat_kernels import flat_kernel
from xeforge.propose.full_stores import address_terms
from xeforge.propose.full_stores import writes_everything
from xeforge.propose.fusion_hosts import Pair
from xeforge.propose.fusion_hosts import allocation_line
from xeforge.propose.fusion_hosts import data_uses
from xeforge.propose.fusion_hosts import is_fresh
from xeforge.propose.fusion_hosts import launch_pairs
from xeforge.propose.fusion_hosts import metadata_uses
from xeforge.propose.fusion_hosts import root
from xeforge.propose.fusion_hosts import template_of
from xeforge.propose.fusion_merge import fused_source
from xeforge.propose.fusion_plan import Fusion
from xeforge.propose.fusion_plan import HandOver
from xeforge.propose.grids import flat_extent
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_tensors import Value
from xeforge.propose.host_values import follow_forward
from xeforge.propose.kernel_edits import fresh_name
from xeforge.propose.mask_terms import conjuncts
from xeforge.propose.mask_terms import once
from xeforge.propose.rewrite import Rewrite
from xeforge.propose.rewrite import counted
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import bindings
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.kernel_tree import uses
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import removal
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import additive_leaves
from xeforge.source.tile_pointers import pointer_behind
from xeforge.source.tile_values import follow

NAME = "fuse_epilogue"
STAGE = "fusion"
CURES = frozenset({"unfused_elementwise", "unfused_kernels"})
CARRIES_OUT: tuple[str, ...] = ("fusion.light_epilogue",)

_SET_AND_USED = 2
"""Mentions of a name that is bound once and read once."""


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Fuse element-wise launches into the product kernel in front of them, one after the other."""
    del device
    now, count, line = source, 0, 0
    while (found := _fused_once(now, problem)) is not None:
        now, where = found
        count, line = count + 1, line or where
    if not count:
        return ()
    because = (
        f"{counted(count, 'element-wise launch', 'es')} moved to the end of the product kernel: "
        "the result goes to device memory once instead of out, in and out again"
    )
    return (Rewrite(now, because, line, CARRIES_OUT),)


def _fused_once(source: str, problem: Problem) -> tuple[str, int] | None:
    tree = parse_tree(source)
    for pair in launch_pairs(tree):
        fusion = _Epilogue(tree, pair, problem).fusion()
        if fusion is None:
            continue
        line = tree.line(pair.first_line)
        shared = _written_in_place(fusion)
        if shared is not None:
            found = _fused_once(shared, problem)
            return None if found is None else (found[0], line)
        new = fused_source(fusion)
        if new is not None:
            return new, line
    return None


def _written_in_place(fusion: Fusion) -> str | None:
    """Let the result take the place of the intermediate, when it was allocated like it.

    The intermediate's sizes and strides are still asked for; this saves its memory.
    """
    pair, (tensor,) = fusion.pair, fusion.given
    if data_uses(pair, tensor) or not metadata_uses(pair, tensor):
        return None
    for access in fusion.second.stores:
        given = pair.second.arguments[access.pointer]
        name = root(pair.function, given)
        allocated = allocation_line(pair, name)
        if name == tensor or template_of(pair, name) != tensor or allocated is None:
            continue
        changes: dict[cst.CSTNode, Replacement] = {
            each: lambda _: cst.Name(tensor)
            for each in loaded_names(pair.function.body)
            if each.value == name
        }
        changes[allocated] = removal(pair.function, allocated)
        return replace(fusion.tree.module, changes).code
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Tile:
    """The one store of a product kernel.

    Attributes:
        call: The store.
        line: Its statement.
        pointer: Parameter it goes through.
        value, mask: What is stored and where.
        rows, columns: Terms of its address along both axes.
    """

    call: cst.Call
    line: cst.SimpleStatementLine
    pointer: str
    value: cst.BaseExpression
    mask: cst.BaseExpression
    rows: cst.BaseExpression
    columns: cst.BaseExpression


@dataclass(frozen=True, slots=True, eq=False)
class _Epilogue:
    tree: KernelTree
    pair: Pair
    problem: Problem

    def fusion(self) -> Fusion | None:
        """Return what to fuse; None when it is not seen to be right."""
        tree, pair = self.tree, self.pair
        first = tree.jits[pair.first.kernel]
        second = flat_kernel(tree, tree.jits[pair.second.kernel])
        tile = _stored_tile(first)
        if second is None or tile is None or not follow(tree, first).dots:
            return None
        tensor = root(pair.function, pair.first.arguments[tile.pointer])
        is_plain = not second.jit.heuristics and not _makes_tiles(second)
        if not is_plain or not self.is_safe(second, tile, tensor):
            return None
        if not self.covers_matrix(second, tile):
            return None
        hand = self.hand_over(first, second, tile, tensor)
        return Fusion(tree, pair, first, second, {tensor: hand}, self.same(first, second.jit))

    def root(self, parameter: str) -> str:
        """Return the tensor behind a parameter of the second kernel."""
        given = self.pair.second.arguments.get(parameter)
        return "" if given is None else root(self.pair.function, given)

    def is_safe(self, second: FlatKernel, tile: _Tile, tensor: str) -> bool:
        """Say whether no program of one kernel needs what another program writes."""
        pair = self.pair
        loads = [each for each in second.loads if self.root(each.pointer) == tensor]
        stores = {self.root(each.pointer) for each in second.stores}
        others = {
            root(pair.function, node)
            for name, node in pair.first.arguments.items()
            if name != tile.pointer
        }
        return (
            bool(loads)
            and all(each.is_flat for each in (*loads, *second.stores))
            and all(each.is_bounded for each in second.loads)
            and all(is_fresh(pair, name) for name in (tensor, *stores))
            and not stores & others
        )

    def same(self, first: Jit, second: Jit) -> dict[str, str]:
        """Return parameters of the second kernel that repeat one of the first."""
        pair = self.pair
        return {
            name: other
            for name, node in pair.second.arguments.items()
            for other, known in pair.first.arguments.items()
            if name in second.parameters
            and other in first.parameters
            and (name in second.constexprs) == (other in first.constexprs)
            and root(pair.function, node) == root(pair.function, known)
        }

    def covers_matrix(self, second: FlatKernel, tile: _Tile) -> bool:
        """Say whether both kernels work on just the elements of one contiguous matrix."""
        pair, workloads = self.pair, self.problem.workloads
        if not writes_everything(self.tree, pair.first, tile.pointer, workloads):
            return False
        covered = flat_extent(self.tree, pair.second, second.block)
        given = pair.second.arguments.get(second.extent)
        if covered is None or given is None:
            return False
        if root(pair.function, covered) != root(pair.function, given):
            return False
        return all(
            shape is not None and size == prod(shape)
            for shape, size in zip(self.shapes(tile), self.sizes(given), strict=True)
        )

    def shapes(self, tile: _Tile) -> list[tuple[int, ...] | None]:
        """Return the intermediate's shape in each workload."""
        given = self.pair.first.arguments[tile.pointer]
        found = [follow_forward(self.tree, each).value(given) for each in self.problem.workloads]
        return [each.shape if isinstance(each, HostTensor) else None for each in found]

    def sizes(self, node: cst.BaseExpression | None) -> list[Value]:
        """Return the value of a host expression in each workload."""
        return [follow_forward(self.tree, each).value(node) for each in self.problem.workloads]

    def hand_over(self, first: Jit, second: FlatKernel, tile: _Tile, tensor: str) -> HandOver:
        """Describe how the second kernel sees its flat index space inside a tile."""
        offsets = fresh_name("flat", first.node)
        prelude = [f"{offsets} = {code(tile.rows)} + {code(tile.columns)}"]
        mask = code(tile.mask)
        if not isinstance(tile.mask, cst.Name):
            mask = fresh_name("inside", first.node)
            prelude.append(f"{mask} = {code(tile.mask)}")
        dropped: tuple[cst.CSTNode, ...] = ()
        address = argument(tile.call, 0, "pointer")
        if isinstance(address, cst.Name) and uses(first.node.body, address.value) == _SET_AND_USED:
            dropped = tuple(
                line
                for line in first.node.body.body
                if isinstance(line, cst.SimpleStatementLine)
                and [name for part in line.body for name, _ in bindings(part)] == [address.value]
            )
        return HandOver(
            tensor,
            tile.line,
            tile.pointer,
            tile.value,
            offsets,
            mask,
            tuple(prelude),
            dropped,
            dict(self.column_loads(first, second, tile)),
        )

    def column_loads(
        self, first: Jit, second: FlatKernel, tile: _Tile
    ) -> Iterator[tuple[cst.Call, tuple[str, str, str]]]:
        """Yield loads at ``offs % columns`` with pointer, index and bound of one row."""
        bounds = [
            code(each.with_changes(lpar=[], rpar=[]))
            for each in conjuncts(once(first, tile.mask))
            if _is_spread(first, each, "None,:") and not _is_spread(first, each, ":,None")
        ]
        for access in second.loads:
            address = argument(access.call, 0, "pointer")
            leaves = [] if address is None else list(additive_leaves(address))
            rest = [each for each in leaves if text(each) != access.pointer]
            leaf = rest[0] if len(rest) == 1 and len(leaves) > 1 else None
            if not isinstance(leaf, cst.BinaryOperation) or len(bounds) != 1:
                continue
            is_modulo = isinstance(leaf.operator, cst.Modulo) and text(leaf.left) == second.offsets
            widths = self.sizes(self.pair.second.arguments.get(text(leaf.right)))
            shapes = self.shapes(tile)
            is_width = all(
                shape is not None and width == shape[-1]
                for width, shape in zip(widths, shapes, strict=True)
            )
            if is_modulo and is_width:
                yield access.call, (access.pointer, code(tile.columns), bounds[0])


def _makes_tiles(kernel: FlatKernel) -> bool:
    """Say whether a kernel makes one-dimensional tiles of its own besides its offsets."""
    return any(
        language_call(node) in {"arange", "zeros", "full"}
        for line in kernel.jit.node.body.body
        if line not in kernel.index_lines
        for node in walk(line)
    )


def _stored_tile(jit: Jit) -> _Tile | None:
    stores = [
        (line, node)
        for line in jit.node.body.body
        for node in walk(line)
        if isinstance(node, cst.Call)
        and (language_call(node) == "store" or language_call(node).startswith("atomic"))
    ]
    if len(stores) != 1 or any(isinstance(each, cst.Return) for each in walk(jit.node.body)):
        return None
    line, call = stores[0]
    address, value = argument(call, 0, "pointer"), argument(call, 1, "value")
    mask = argument(call, 2, "mask")
    if not isinstance(line, cst.SimpleStatementLine) or language_call(call) != "store":
        return None
    if address is None or value is None or mask is None:
        return None
    pointer = pointer_behind(jit, address) or ""
    leaves = [each for each in address_terms(jit, address) if text(each) != pointer]
    rows = [each for each in leaves if _is_spread(jit, each, ":,None")]
    columns = [each for each in leaves if _is_spread(jit, each, "None,:")]
    is_matrix = len(rows) == len(columns) == 1 and len(leaves) == len(rows) + len(columns)
    if not is_matrix or uses(jit.node.body, pointer) != _pointer_uses(jit, pointer):
        return None
    return _Tile(call, line, pointer, value, mask, rows[0], columns[0])


def _pointer_uses(jit: Jit, pointer: str) -> int:
    """Count the uses of a pointer that a hand-over can do without: its address and its format."""
    formats = sum(
        1
        for node in walk(jit.node.body)
        if isinstance(node, cst.Attribute) and text(node) == f"{pointer}.dtype.element_ty"
    )
    return formats + 1


def _is_spread(jit: Jit, node: cst.BaseExpression, index: str) -> bool:
    """Say whether a term of an address runs along one axis, ``offs[:, None]`` for rows."""
    inner = once(jit, node)
    return any(
        isinstance(each, cst.Subscript) and text(each).endswith(f"[{index}]")
        for each in walk(inner)
    )
