"""The same work on whole tensors is done more than once.

Looks for launches and products, reductions or normalizations of the library that are repeated with
equal arguments, nothing of them bound or written between, and for loops in which every program
reduces over the same data. Misses equal work under different names. Source: each repetition reads
its operands from device memory again.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import HostScope
from xeforge.source.host_flow import product_operands
from xeforge.source.host_flow import torch_call
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Loop

NAME: Final = "redundant_computation"
_DEAR: Final = frozenset(
    {
        "sum",
        "mean",
        "var",
        "std",
        "norm",
        "softmax",
        "log_softmax",
        "layer_norm",
        "conv2d",
        "einsum",
    }
)


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report repetitions on the host, then loops in kernels."""
    found = [each for scope in facts.scopes for each in _of_host(facts, scope)]
    for kernel in facts.contents.entry_kernels:
        found += _of_kernel(kernel.name, facts.bodies[kernel.name])
    return tuple(found)


def _of_host(facts: FileFacts, scope: HostScope) -> Iterator[Issue]:
    seen: dict[str, int] = {}
    for line, text, names in (*_launches(facts, scope), *_products(facts, scope)):
        first = seen.get(text)
        if first is not None and not _changed(facts, scope, names, first, line):
            remedy = "keep the first result"
            yield slow(NAME, line, f"{text} repeats line {first} with equal arguments", remedy)
        else:
            seen[text] = line


def _launches(facts: FileFacts, scope: HostScope) -> Iterator[tuple[int, str, set[str]]]:
    for each in scope.launches:
        written = facts.touched(each.kernel.name, "store", "atomic")
        read = facts.touched(each.kernel.name, "load", "atomic")
        roots = {
            name: scope.root(each.arguments[name], each.site.line)
            for name in written | read
            if name in each.arguments
        }
        changes = {roots.get(name) for name in written} & {roots.get(name) for name in read}
        if changes:
            continue  # in place: a second launch does something else
        # Where the same result goes makes no difference.
        given = [f"{k}={ast.unparse(v)}" for k, v in each.arguments.items() if k not in written]
        if any(text.startswith("*") for text in each.site.positional):
            given = [*each.site.positional, *each.site.keywords.values()]
        text = f"{each.kernel.name}[{each.site.grid}]({', '.join(given)})"
        yield each.site.line, text, {roots[name] or "" for name in read if name in roots}


def _products(facts: FileFacts, scope: HostScope) -> Iterator[tuple[int, str, set[str]]]:
    found = []
    for node in scope.nodes:
        is_dear = torch_call(node, facts.imports) in _DEAR
        if isinstance(node, ast.expr) and (is_dear or product_operands(node, facts.imports)):
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            found.append((node.lineno, ast.unparse(node), names))
    yield from sorted(found, key=lambda each: each[0])


def _changed(facts: FileFacts, scope: HostScope, names: set[str], first: int, line: int) -> bool:
    """Say whether one of the names is bound anew or written between two lines."""
    rebound = any(first <= at < line for name in names for _, at in scope.bindings.get(name, ()))
    if rebound:
        return True
    for each in scope.launches:
        if first < each.site.line < line:
            written = facts.touched(each.kernel.name, "store", "atomic")
            roots = {scope.root(v, line) for k, v in each.arguments.items() if k in written}
            if roots & names:
                return True
    return False


def _of_kernel(name: str, body: KernelBody) -> Iterator[Issue]:
    """Yield loops that only read what does not depend on the program number."""
    if not body.named("program_id"):
        return
    for loop, place in body.loops:
        if place.loops or not isinstance(loop, ast.For) or not _accumulates(body, loop):
            continue
        loads = [each for each in body.named("load") if loop in each.place.loops]
        depends = any(
            "program_id()" in body.sources(each, place.index + 1)
            for each in (loop.iter, *_expressions(loop))
        )
        if loads and not depends:
            yield slow(
                NAME,
                loop.lineno,
                f"every program of {name} walks the same data here",
                "reduce once in a kernel of its own, or share the work between programs",
            )


def _accumulates(body: KernelBody, loop: Loop) -> bool:
    stores = any(loop in each.place.loops for each in body.named("store"))
    return not stores and any(each.is_step and loop in each.place.loops for each in body.bindings)


def _expressions(loop: ast.For) -> Iterator[ast.expr]:
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign | ast.AugAssign):
                yield node.value
