"""Keep intermediates of element-wise chains in registers: several launches become one.

Before:  scale[grid](x, t, n, BLOCK)      t[i] = f(x[i])
         shift[grid](t, y, n, BLOCK)      y[i] = g(t[i])
After:   scale_shift[grid](x, y, n, BLOCK)

Each intermediate is rounded to its own format as before, so that results stay the same.
"""

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.flat_kernels import Access
from xeforge.propose.flat_kernels import FlatKernel
from xeforge.propose.flat_kernels import flat_kernel
from xeforge.propose.fusion_hosts import Pair
from xeforge.propose.fusion_hosts import is_fresh
from xeforge.propose.fusion_hosts import launch_pairs
from xeforge.propose.fusion_hosts import root
from xeforge.propose.fusion_merge import fused_source
from xeforge.propose.fusion_plan import Fusion
from xeforge.propose.fusion_plan import HandOver
from xeforge.propose.grids import flat_extent
from xeforge.propose.rewrite import Rewrite
from xeforge.propose.rewrite import counted
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import argument

NAME = "fuse_elementwise"
STAGE = "fusion"
CURES = frozenset({"unfused_elementwise", "unfused_kernels"})
CARRIES_OUT: tuple[str, ...] = (
    "fusion.one_kernel_for_a_chain",
    "fusion.small_tensors_are_launches",
)

_MOST_FUSIONS = 32


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Fuse neighbouring element-wise launches until none is left."""
    del problem, device
    now, count, line = source, 0, 0
    while count < _MOST_FUSIONS:
        found = _fused_once(now)
        if found is None:
            break
        now, where = found
        count, line = count + 1, line or where
    if not count:
        return ()
    because = (
        f"{count + 1} element-wise launches become one: {counted(count, 'intermediate')} kept in "
        "registers instead of going through device memory"
    )
    return (Rewrite(now, because, line, CARRIES_OUT),)


def _fused_once(source: str) -> tuple[str, int] | None:
    tree = parse_tree(source)
    for pair in launch_pairs(tree):
        fusion = _fusion(tree, pair)
        new = None if fusion is None else fused_source(fusion)
        if new is not None:
            return new, tree.line(pair.first_line)
    return None


def _fusion(tree: KernelTree, pair: Pair) -> Fusion | None:
    first = flat_kernel(tree, tree.jits[pair.first.kernel])
    second = flat_kernel(tree, tree.jits[pair.second.kernel])
    if first is None or second is None or first.jit is second.jit:
        return None
    if second.jit.heuristics or not _have_equal_extents(tree, pair, first, second):
        return None
    if not _is_free_of_conflicts(pair, first, second):
        return None
    given = _handed_over(pair, first, second)
    if not given:
        return None
    same = {second.extent: first.extent, second.block: first.block}
    for name, node in pair.second.arguments.items():
        for other, known in pair.first.arguments.items():
            is_alike = (name in second.jit.constexprs) == (other in first.jit.constexprs)
            is_both = name in second.jit.parameters and other in first.jit.parameters
            if is_alike and is_both and root(pair.function, node) == root(pair.function, known):
                same.setdefault(name, other)
    return Fusion(tree, pair, first.jit, second, given, same)


def _have_equal_extents(
    tree: KernelTree, pair: Pair, first: FlatKernel, second: FlatKernel
) -> bool:
    extents = []
    for launch, kernel in ((pair.first, first), (pair.second, second)):
        covered = flat_extent(tree, launch, kernel.block)
        given = launch.arguments.get(kernel.extent)
        if covered is None or given is None:
            return False
        extents += [root(pair.function, covered), root(pair.function, given)]
    return len(set(extents)) == 1


def tensors(pair: Pair, launch: Launch, accesses: tuple[Access, ...]) -> dict[str, list[Access]]:
    """Group the accesses of a kernel by the host tensor they go to; ``""``: not known."""
    found: dict[str, list[Access]] = {}
    for each in accesses:
        given = launch.arguments.get(each.pointer)
        name = "" if given is None else root(pair.function, given)
        found.setdefault(name, []).append(each)
    return found


def _is_free_of_conflicts(pair: Pair, first: FlatKernel, second: FlatKernel) -> bool:
    """Say whether no program needs what another program of the other kernel writes."""
    kernels = ((pair.first, first), (pair.second, second))
    written = [tensors(pair, launch, kernel.stores) for launch, kernel in kernels]
    read = [tensors(pair, launch, kernel.loads) for launch, kernel in kernels]
    for name in set(written[0]) | set(written[1]):
        if not is_fresh(pair, name):
            return False
        both = [*written, *read]
        touched = [access for table in both for access in table.get(name, ())]
        is_shared = sum(name in {*written[turn], *read[turn]} for turn in (0, 1)) == len(kernels)
        if is_shared and not all(access.is_flat for access in touched):
            return False
    return True


def _handed_over(pair: Pair, first: FlatKernel, second: FlatKernel) -> dict[str, HandOver]:
    stored = tensors(pair, pair.first, first.stores)
    loaded = tensors(pair, pair.second, second.loads)
    found: dict[str, HandOver] = {}
    for name in stored.keys() & loaded.keys():
        accesses = stored[name]
        statement = accesses[0].statement
        value = argument(accesses[0].call, 1, "value")
        is_single = len(accesses) == 1 and isinstance(statement, cst.SimpleStatementLine)
        if not is_single or value is None or not isinstance(statement, cst.SimpleStatementLine):
            return {}
        mask = first.mask or f"{first.offsets} < {first.extent}"
        found[name] = HandOver(name, statement, accesses[0].pointer, value, first.offsets, mask)
    return found
