"""A kernel computes in float64, or the host makes float64 tensors for it.

Looks for ``tl.float64`` in kernels and for casts and allocations in float64 on the host whose
result a kernel gets. Misses inputs that arrive in float64. Source: published rates of float64 are
1/2 to 1/64 of those of float32 (vendors' data sheets); several devices have none at all.
"""

import ast
from collections.abc import Iterator
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts

NAME: Final = "dtype_float64"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each kernel that names ``tl.float64``, once."""
    found = []
    for name, node in facts.nodes.items():
        lines = sorted(
            {
                each.lineno
                for each in ast.walk(node)
                if isinstance(each, ast.Attribute) and facts.imports.is_triton(each, "float64")
            }
        )
        if lines:
            more = f" (and on {len(lines) - 1} more lines)" if len(lines) > 1 else ""
            found.append(
                Issue(
                    type=NAME,
                    severity=Severity.SPEED,
                    message=f"{name} computes in float64{more}: many times slower than float32, "
                    "where the device has it at all",
                    line=lines[0],
                    remedy="compute in float32 and centre sums before squaring",
                )
            )
    return (*found, *_of_host(facts))


def _of_host(facts: FileFacts) -> Iterator[Issue]:
    for scope in facts.scopes:
        lines = {
            node.lineno: ast.unparse(node)
            for node in scope.nodes
            if isinstance(node, ast.Call)
            and _makes_double(facts, node)
            and scope.reaches_launch(node)
        }
        for line, text in sorted(lines.items()):
            yield Issue(
                type=NAME,
                severity=Severity.SPEED,
                message=f"{text} makes a float64 tensor: twice the bytes of float32 to move",
                line=line,
                remedy="keep float32, and centre sums before squaring",
            )


def _makes_double(facts: FileFacts, node: ast.Call) -> bool:
    is_method = isinstance(node.func, ast.Attribute) and node.func.attr == "double"
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "dtype")]
    return is_method or any(facts.imports.is_torch(e, "float64", "double") for e in given)
