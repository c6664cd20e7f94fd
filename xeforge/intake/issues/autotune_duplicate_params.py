"""An autotuner and something else set the same parameter, or two configurations are equal.

Looks for launches that pass a parameter which every configuration sets, and for configurations
with equal values, warps, stages and options. Misses configurations that differ in a hook only.
Source: ``triton.autotune`` refuses conflicting meta-parameters when the kernel is launched; equal
configurations are compiled and timed twice.
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.declarations import JitFunction
from xeforge.source.facts import FileFacts
from xeforge.source.settings import DEFAULT_WARPS

NAME: Final = "autotune_duplicate_params"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the second of two equal configurations, and each launch."""
    found = [each for kernel in facts.contents.jit_functions for each in _equal(kernel)]
    for launch in facts.launches:
        tuner = launch.kernel.autotune
        if tuner is None or not tuner.configs:
            continue
        tuned = {name for each in tuner.configs for name in each.values}
        twice = sorted(tuned & launch.arguments.keys())
        if twice:
            found.append(
                slow(
                    NAME,
                    launch.site.line,
                    f"the launch sets {', '.join(twice)}, and so does the autotuner",
                    "leave it to one of them",
                )
            )
    return tuple(found)


def _equal(kernel: JitFunction) -> list[Issue]:
    seen: dict[str, int] = {}
    found = []
    for each in kernel.autotune.configs if kernel.autotune is not None else ():
        warps = each.num_warps or DEFAULT_WARPS
        options = sorted((name, repr(value)) for name, value in each.options.items())
        key = repr((sorted(each.values.items()), warps, each.num_stages, options))
        if key in seen and seen[key] != each.line:
            found.append(
                slow(
                    NAME,
                    each.line,
                    f"this configuration of {kernel.name} equals that of line {seen[key]}",
                    "take one of them out",
                )
            )
        seen.setdefault(key, each.line)
    return found
