"""The key of an autotuner does not say when to tune again.

Looks for keys that name no parameter, that have no size although the kernel takes one, or that
lack a size bounding a loop of the kernel. Misses formats of tensors, and sizes that decide the
grid only. Source: ``triton.autotune``: the best configuration is kept for each value of the key,
and used for all other arguments.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.declarations import JitFunction
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import KernelBody

NAME: Final = "autotune_key_missing"
_MOST_DEPTH: Final = 6


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each autotuner once."""
    found = []
    for kernel in facts.contents.jit_functions:
        why = "" if kernel.autotune is None else _why(facts, kernel)
        if kernel.autotune is not None and why:
            found.append(
                slow(
                    NAME,
                    kernel.autotune.line,
                    f"the key of {kernel.name} {why}",
                    "name every size that decides which configuration is best",
                )
            )
    return tuple(found)


def _why(facts: FileFacts, kernel: JitFunction) -> str:
    tuner = kernel.autotune
    assert tuner is not None  # noqa: S101 - the caller has looked
    names = {each.name for each in kernel.params}
    strangers = [each for each in tuner.key if each not in names]
    if strangers:
        return f"names {strangers[0]}, which is no parameter"
    chosen = {name for config in tuner.configs for name in config.values} | set(kernel.heuristics)
    if tuner.is_dynamic:
        chosen |= {each.name for each in kernel.params if each.is_constexpr}
    loops, sizes = _sizes(facts, kernel, names - chosen)
    missing = sorted(loops - set(tuner.key))
    if missing:
        return f"lacks {', '.join(missing)}, which bounds a loop"
    if sizes and not (sizes | loops) & set(tuner.key):
        return f"has no size, though the kernel takes {', '.join(sorted(sizes))}"
    return ""


def _sizes(facts: FileFacts, kernel: JitFunction, names: set[str]) -> tuple[set[str], set[str]]:
    """Return the parameters that bound loops, and those that masks compare with."""
    body = facts.bodies[kernel.name]
    fixed = {name for each in facts.settings.get(kernel.name, ()) for name in each.values}
    pointers = facts.touched(kernel.name, "load", "store", "atomic")
    extents = {
        each.id
        for call in body.named("arange", "zeros", "full", "make_block_ptr")
        for each in ast.walk(call.node)
        if isinstance(each, ast.Name)
    }
    constants = {each.name for each in kernel.params if each.is_constexpr}
    wanted = names - fixed - pointers - (extents & constants)
    loops: set[str] = set()
    for loop, place in body.loops:
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call):
            for bound in loop.iter.args[:2]:
                loops |= _named(body, bound, place.index) & wanted
    compared: set[str] = set()
    for node in ast.walk(body.node):
        if isinstance(node, ast.Compare):
            for side in node.comparators:
                compared |= {e.id for e in ast.walk(side) if isinstance(e, ast.Name)} & wanted
    return loops, compared


def _named(body: KernelBody, node: ast.expr, index: int, depth: int = 0) -> set[str]:
    """Return the parameters in an expression, through names; what was loaded is no parameter."""
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting and depth < _MOST_DEPTH:
        each = waiting.pop()
        if isinstance(each, ast.Call) and body.name_of(each) in {"load", "program_id"}:
            continue
        if isinstance(each, ast.Name):
            bound = body.before(each.id, index)
            if bound is None:
                found.add(each.id)
            elif bound.value is not None:
                found |= _named(body, bound.value, bound.place.index, depth + 1)
        waiting += ast.iter_child_nodes(each)
    return found
