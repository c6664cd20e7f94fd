"""Read a row once: a block that holds all of it, so that later passes find it in registers.

Before:  for start in range(0, n, BLOCK): ...        (BLOCK=128; two or more such loops)
After:   @triton.heuristics({"WHOLE_ROW": lambda args: args["n"] <= args["BLOCK"]})
         for start in range(0, BLOCK if WHOLE_ROW else n, BLOCK): ...        (BLOCK=4096)

With constant bounds the compiler unrolls each loop to one turn and loads the row only once. Rows
longer than the block are still walked in steps.
"""

from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.host_values import follow_forward
from xeforge.propose.kernel_edits import adding_flags
from xeforge.propose.kernel_edits import fresh_name
from xeforge.propose.kernel_edits import heuristics
from xeforge.propose.kernel_edits import is_called_by_kernels
from xeforge.propose.rewrite import Rewrite
from xeforge.propose.search_limits import Limits
from xeforge.propose.search_limits import limits_of
from xeforge.propose.search_limits import power_at_least
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.knobs import Knob
from xeforge.source.knobs import find_knobs
from xeforge.source.knobs import set_knobs
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk

NAME = "whole_rows"
STAGE = "memory_access"
CURES = frozenset({"cache_eviction_risk"})
CARRIES_OUT: tuple[str, ...] = ("algorithm.whole_row_in_registers",)

_LONGEST_ROW = 1 << 15
_ELEMENTS_PER_THREAD = 16
"""A row of 32-bit values that a thread can keep beside its other registers."""

Loop = tuple[str, str]
"""Extent and block of ``range(0, extent, block)``."""


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Make every kernel that walks its row more than once hold the row."""
    tree = parse_tree(source)
    changes: dict[cst.CSTNode, Replacement] = {}
    wanted: dict[str, dict[str, int]] = {}
    for kernel in dict.fromkeys(each.kernel for each in tree.launches):
        jit = tree.jits[kernel]
        loop = _repeated_loop(jit)
        longest = None if loop is None else _longest(tree, jit, loop[0], problem)
        if loop is None or longest is None or is_called_by_kernels(tree, jit):
            continue
        knobs = {each.name: each for each in find_knobs(source) if each.kernel == kernel}
        values = _values(knobs, loop[1], longest, limits_of(problem, device))
        if values is not None:
            changes.update(_constant_bounds(jit, loop))
            wanted[kernel] = values
    if not changes:
        return ()
    new = replace(tree.module, changes).code
    for kernel, values in wanted.items():
        new = set_knobs(new, kernel, values)
    sizes = ", ".join(f"{each}={n}" for values in wanted.values() for each, n in values.items())
    because = (
        f"{', '.join(wanted)}: one block holds a whole row ({sizes}), so that the row is read once"
    )
    line = min(tree.line(tree.jits[kernel].node) for kernel in wanted)
    return (Rewrite(new, because, line, CARRIES_OUT),)


def _repeated_loop(jit: Jit) -> Loop | None:
    """Return the extent and block that more than one loop of loads walks over."""
    found = Counter(
        loop
        for node in walk(jit.node.body)
        if isinstance(node, cst.For)
        and any(language_call(each) == "load" for each in walk(node.body))
        and (loop := _bounds(node)) is not None
        and loop[0] in jit.parameters
        and loop[0] not in jit.constexprs
        and loop[1] in jit.constexprs
    )
    loop, count = next(iter(found.most_common(1)), (None, 0))
    return loop if count > 1 else None


def _bounds(node: cst.For) -> Loop | None:
    if not isinstance(node.iter, cst.Call) or last_name(node.iter.func) != "range":
        return None
    args = [text(each.value) for each in node.iter.args if each.keyword is None]
    is_walk = len(args) == len(node.iter.args) and args[:1] == ["0"] and len(args[1:]) == len("EB")
    return (args[1], args[2]) if is_walk else None


def _longest(tree: KernelTree, jit: Jit, extent: str, problem: Problem) -> int | None:
    """Return the longest row of the timed workloads; None when some row is not known."""
    sizes = []
    for workload in problem.timed:
        facts = follow_forward(tree, workload)
        for launch in tree.launches_of(jit.name):
            size = facts.value(launch.arguments.get(extent))
            sizes.append(size if isinstance(size, int) else 0)
    return max(sizes) if sizes and min(sizes) > 0 else None


def _values(
    knobs: Mapping[str, Knob], block: str, longest: int, limits: Limits
) -> dict[str, int] | None:
    """Return block and warps for a row; None when it does not fit or is no knob."""
    size, device = power_at_least(longest), limits.device
    is_step = block in knobs and knobs[block].is_step
    if not is_step or size > _LONGEST_ROW or not device.num_warps:
        return None
    most = (device.threads_per_group or limits.lanes * max(device.num_warps)) // limits.lanes
    legal = [each for each in device.num_warps if each <= most]
    enough = [each for each in legal if size <= each * limits.lanes * _ELEMENTS_PER_THREAD]
    values = {block: size}
    if "num_warps" in knobs:
        values["num_warps"] = min(enough, default=max(legal))
    return values


def _constant_bounds(jit: Jit, loop: Loop) -> Iterator[tuple[cst.CSTNode, Replacement]]:
    extent, block = loop
    flag = fresh_name("WHOLE_ROW", jit.node)
    decorator = heuristics({flag: f'args["{extent}"] <= args["{block}"]'})
    yield jit.node.params, adding_flags([flag])
    yield jit.node.decorators[-1], lambda node: cst.FlattenSentinel([decorator, node])
    for node in walk(jit.node.body):
        if isinstance(node, cst.For) and _bounds(node) == loop and isinstance(node.iter, cst.Call):
            bound = cst.parse_expression(f"{block} if {flag} else {extent}")
            yield node.iter.args[1].value, _same(bound)


def _same(node: cst.BaseExpression) -> Replacement:
    return lambda _: node
