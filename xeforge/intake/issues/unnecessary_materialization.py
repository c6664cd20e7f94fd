"""The host writes out a larger tensor that a kernel could index.

Looks for repetition, expansion with a copy, concatenation, padding, one-hot and unfolding whose
result a kernel reads. Misses copies that library code makes inside. Source: the copy is written
and read once more; index arithmetic in the kernel reads the original.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import torch_call

NAME: Final = "unnecessary_materialization"
_METHODS: Final = frozenset({"repeat", "repeat_interleave"})
_FUNCTIONS: Final = frozenset(
    {
        *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "tile", "pad", "unfold"),
        *("one_hot", "repeat_interleave", "broadcast_tensors"),
    }
)
_COPIES: Final = frozenset({"contiguous", "clone"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each call whose result reaches a launch."""
    found: dict[int, Issue] = {}
    for scope in facts.scopes:
        for node in scope.nodes:
            if (
                _writes_out(facts, node)
                and isinstance(node, ast.expr)
                and scope.reaches_launch(node)
            ):
                found[node.lineno] = slow(
                    NAME,
                    node.lineno,
                    f"{ast.unparse(node)} is written to memory for a kernel to read",
                    "let the kernel compute the index into the original",
                )
    return tuple(found[line] for line in sorted(found))


def _writes_out(facts: FileFacts, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if torch_call(node, facts.imports) in _FUNCTIONS:
        return True
    match node.func:
        case ast.Attribute(attr=name) if name in _METHODS:
            return True
        case ast.Attribute(
            value=ast.Call(func=ast.Attribute(attr="expand" | "expand_as")), attr=name
        ):
            return name in _COPIES
        case _:
            return False
