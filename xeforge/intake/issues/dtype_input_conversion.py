"""``forward`` casts an input tensor to another format before a kernel reads it.

Looks for ``x.float()``, ``x.to(torch.float16)`` and the like on inputs of ``forward``, also in
functions that it calls, whose result a kernel reads. Misses casts of computed tensors; weights are
``repack_in_forward``. Source: the cast reads and writes the whole tensor once more; a kernel casts
what it has loaded for nothing.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_flow import is_cast

NAME: Final = "dtype_input_conversion"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each cast."""
    found: dict[int, Issue] = {}
    for scope in facts.scopes:
        inputs = facts.inputs[scope.function.name]
        for node in scope.nodes:
            if not (is_cast(node, facts.imports) and isinstance(node, ast.Call)):
                continue
            owner = node.func.value if isinstance(node.func, ast.Attribute) else node
            root = scope.root(owner, node.lineno)
            if root in inputs and scope.reaches_launch(node):
                found[node.lineno] = slow(
                    NAME,
                    node.lineno,
                    f"{ast.unparse(node)} rewrites an input before a kernel reads it",
                    "pass the input as it is and cast tiles in the kernel",
                )
    return tuple(found[line] for line in sorted(found))
