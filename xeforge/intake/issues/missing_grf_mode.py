"""For an Intel device, a large tile of a matrix product has no register mode.

Looks for products with 64 or more accumulators a lane of a 16-wide sub-group, of which no setting
names ``grf_mode``, in files for Intel devices: the target says so, or the file names ``"xpu"`` and
not ``"cuda"``. Misses launches that pass the mode in a mapping. Source: Intel GPU optimization
guide, register file modes: 128 registers of 64 bytes a thread, 256 on request with half the
threads.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.accumulators import accumulated
from xeforge.source.facts import FileFacts

NAME: Final = "missing_grf_mode"
_LANES: Final = 16
_MANY: Final = 64


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report each kernel once, at its autotuner or launch."""
    if not _is_for_intel(facts):
        return ()
    found = []
    for name, settings in facts.settings.items():
        kernel = facts.contents.jit_function(name)
        if kernel is None or any("grf_mode" in each.options for each in settings):
            continue
        if any(each.name == "grf_mode" for each in kernel.params):
            continue
        shares = [
            size / (_LANES * each.num_warps)
            for each in settings
            if each.num_warps and (size := accumulated(facts.bodies[name], each.values))
        ]
        if max(shares, default=0) >= _MANY:
            line = kernel.autotune.line if kernel.autotune else settings[0].line
            found.append(
                slow(
                    NAME,
                    line,
                    f"{name} holds {max(shares):g} accumulators a lane, and no setting asks for "
                    "the large register file",
                    'try grf_mode="256" for the large tiles',
                )
            )
    return tuple(found)


def _is_for_intel(facts: FileFacts) -> bool:
    if facts.vendor:
        return facts.vendor == "intel"
    named = {
        each.value.partition(":")[0]
        for each in ast.walk(facts.tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }
    return "xpu" in named and "cuda" not in named
