"""``forward`` copies a transposed tensor, or hands one to a kernel that gets no strides.

Looks for ``.contiguous()`` behind a transposition or permutation (through names), and for such
views among the arguments of a launch that passes none of their strides. Misses slices with steps,
and guards such as ``x.contiguous()`` on an input, which copy nothing when all is well. Weights are
``repack_in_forward``. Source: PyTorch documentation, tensor views: ``contiguous`` copies.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import TURNS
from xeforge.source.host_flow import HostLaunch
from xeforge.source.host_flow import HostScope
from xeforge.source.weights import is_weight

NAME: Final = "non_contiguous_input"
_COPIES: Final = frozenset({"contiguous", "clone"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report copies and launches."""
    found = []
    for scope in facts.scopes:
        found += list(_copies(facts, scope))
        for launch in scope.launches:
            found += list(_views(facts, scope, launch))
    return tuple(found)


def _copies(facts: FileFacts, scope: HostScope) -> Iterator[Issue]:
    for node in scope.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _COPIES:
                turned = _turned(facts, scope, owner, node.lineno)
                if turned is not None and not is_weight(turned, (), facts.weights):
                    text = f"{ast.unparse(node)} copies a transposed tensor on every call"
                    yield slow(NAME, node.lineno, text, "pass the view and its strides")


def _views(facts: FileFacts, scope: HostScope, launch: HostLaunch) -> Iterator[Issue]:
    texts = [*launch.site.positional, *launch.site.keywords.values()]
    pointers = facts.touched(launch.kernel.name, "load", "store", "atomic")
    for name, value in launch.arguments.items():
        if name not in pointers or not isinstance(value, ast.Name | ast.Call | ast.Attribute):
            continue
        if _turned(facts, scope, value, launch.site.line) is None:
            continue
        if not any(".stride(" in each for each in texts):
            yield Issue(
                type=NAME,
                severity=Severity.WARNING,
                message=f"{launch.kernel.name} gets the transposed view {ast.unparse(value)} as "
                f"{name}, but no strides: it reads the elements in the order of memory",
                line=launch.site.line,
                remedy="pass the strides of the view",
            )
            return


def _turned(facts: FileFacts, scope: HostScope, node: ast.expr, line: int) -> ast.expr | None:
    """Return what a view is a transposition of; None when it is none."""
    node = scope.value(node, line)
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in TURNS:
            if facts.imports.dotted(owner) == "torch":
                return node.args[0] if node.args else None
            return owner
        case ast.Attribute(value=owner, attr="T" | "mT"):
            return owner
        case _:
            return None
