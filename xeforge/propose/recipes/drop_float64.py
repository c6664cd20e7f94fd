"""Compute in float32 what the problem does not ask in float64.

Before:  total += tl.load(p).to(tl.float64)
After:   total += tl.load(p).to(tl.float32)

Only where no input, weight or result of any workload is float64.
"""

from collections.abc import Iterator

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_tensors import Value
from xeforge.propose.host_values import follow_forward
from xeforge.propose.rewrite import Rewrite
from xeforge.propose.rewrite import counted
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk

NAME = "drop_float64"
STAGE = "dtype_fix"
CURES = frozenset({"dtype_float64"})
CARRIES_OUT: tuple[str, ...] = ("precision.no_float64",)

_KERNEL_NAMES = frozenset({"tl.float64", "triton.language.float64"})
_HOST_NAMES = frozenset({"torch.float64", "torch.double"})
_OUTSIDE_FORWARD = frozenset({"__init__", "get_inputs", "get_init_inputs"})


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Replace float64 by float32 in kernels, and on the host where no result changes format."""
    del device
    tree = parse_tree(source)
    if any(_asks_for_float64(problem, tree)):
        return ()
    in_kernels = dict(_kernel_changes(tree))
    changes = dict(in_kernels)
    host = dict(_host_changes(tree))
    if host:
        changed = parse_tree(replace(tree.module, {**changes, **host}).code)
        if _results(tree, problem) == _results(changed, problem):
            changes.update(host)
    if not changes:
        return ()
    new = replace(tree.module, changes).code
    what = counted(len(changes), "use")
    because = f"float32 instead of float64 ({what}): no input, weight or result has it"
    line = min(tree.line(node) for node in changes)
    # What only the host computes in float64 is not what the advice is about.
    return (Rewrite(new, because, line, CARRIES_OUT if in_kernels else ()),)


def _asks_for_float64(problem: Problem, tree: KernelTree) -> Iterator[bool]:
    for workload in problem.workloads:
        yield workload.dtype == "float64"
        yield any(each.dtype == "float64" for each in workload.inputs)
        facts = follow_forward(tree, workload)
        yield any(
            isinstance(each, HostTensor) and each.is_parameter and each.dtype == "float64"
            for each in facts.values.values()
        )
        yield "float64" in _formats(facts.returned)


def _results(tree: KernelTree, problem: Problem) -> list[tuple[str, ...]]:
    return [_formats(follow_forward(tree, each).returned) for each in problem.workloads]


def _formats(value: Value) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return tuple(name for each in value for name in _formats(each))
    return (value.dtype or "?",) if isinstance(value, HostTensor) else ("?",)


def _kernel_changes(tree: KernelTree) -> Iterator[tuple[cst.CSTNode, Replacement]]:
    for jit in tree.jits.values():
        for node in walk(jit.node):
            if isinstance(node, cst.Attribute) and text(node) in _KERNEL_NAMES:
                yield node, _single


def _host_changes(tree: KernelTree) -> Iterator[tuple[cst.CSTNode, Replacement]]:
    for place in tree.places:
        if place.node.name.value in _OUTSIDE_FORWARD:
            continue
        for node in walk(place.node.body):
            if isinstance(node, cst.Attribute) and text(node) in _HOST_NAMES:
                yield node, _single
            if isinstance(node, cst.Call) and not node.args and text(node.func).endswith(".double"):
                yield node.func, _plain


def _single(node: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(attr=cst.Name("float32"))


def _plain(node: cst.CSTNode) -> cst.CSTNode:
    return node.with_changes(attr=cst.Name("float"))
