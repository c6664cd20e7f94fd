"""The number of resident programs is a number in the source instead of the device's.

Looks for launches of kernels that stride over programs with a grid of literal numbers (also the
literal inside ``min``). Misses numbers that arrive as constructor arguments. Source: the number of
multiprocessors differs from model to model; ``torch.cuda.get_device_properties`` tells it.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import integer
from xeforge.source.settings import Values
from xeforge.source.settings import values_at

NAME: Final = "persistent_num_progs_hardcoded"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each launch."""
    found = []
    for launch in facts.launches:
        if not launch.site.resolved_grid or not facts.is_persistent(launch.kernel.name):
            continue
        values = values_at(launch.site, facts.contents, facts.functions)
        number = _literal(ast.parse(launch.site.resolved_grid, mode="eval").body, values)
        if number is not None and number > 1:
            found.append(
                slow(
                    NAME,
                    launch.site.line,
                    f"{launch.kernel.name} is launched with {number} programs, whatever the device",
                    "ask the device how many multiprocessors it has",
                )
            )
    return tuple(found)


def _literal(grid: ast.expr, values: Values) -> int | None:
    """Return the number of programs along the only axis that has more than one."""
    if isinstance(grid, ast.Lambda):
        grid = grid.body
    sizes = []
    for each in grid.elts if isinstance(grid, ast.Tuple | ast.List) else [grid]:
        is_bounded = isinstance(each, ast.Call) and ast.unparse(each.func) == "min"
        parts = each.args if is_bounded and isinstance(each, ast.Call) else [each]
        known = [size for part in parts if (size := integer(part, values)) is not None]
        if not known:
            return None
        sizes.append(min(known))
    return max(sizes, default=None)
