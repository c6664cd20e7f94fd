"""Block sizes are fixed numbers that nobody searched.

Looks for untuned kernels whose compile-time parameters are powers of two from eight up, written at
the launch, as a constant or as a default. Misses sizes that are computed from shapes. Source:
``triton.autotune``; the best block differs between devices.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import integer
from xeforge.source.host_code import local_values

NAME: Final = "missing_autotune"
_SMALLEST_BLOCK: Final = 8


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report launches of untuned kernels with fixed powers of two for compile-time parameters."""
    functions = facts.functions
    found: dict[str, Issue] = {}
    for launch in facts.contents.launches:
        kernel = facts.contents.jit_function(launch.kernel)
        if kernel is None or kernel.autotune is not None or launch.kernel in found:
            continue
        values = dict[str, object](facts.contents.constants)
        if launch.function in functions:
            values = dict(local_values(functions[launch.function], facts.contents.constants))
        names = [each.name for each in kernel.params]
        given = {**dict(zip(names, launch.positional, strict=False)), **launch.keywords}
        fixed = []
        for each in kernel.params:
            text = given.get(each.name, each.default) if each.is_constexpr else None
            size = integer(ast.parse(text.lstrip("*"), mode="eval").body, values) if text else None
            if size is not None and size >= _SMALLEST_BLOCK and size.bit_count() == 1:
                fixed.append(f"{each.name}={size}")
        if fixed:
            found[launch.kernel] = Issue(
                type=NAME,
                severity=Severity.SPEED,
                message=f"{launch.kernel} is launched with fixed {', '.join(fixed)}",
                line=launch.line,
                remedy="search block sizes, warps and stages for the shapes that matter",
            )
    return tuple(found.values())
