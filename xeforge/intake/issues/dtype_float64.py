"""A kernel computes in float64."""

import ast
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
    return tuple(found)
