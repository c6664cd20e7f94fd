"""An autotuner has nothing to choose, or offers a tile that no thread can hold.

Looks for a single configuration, for lists in which no meta-parameter varies, and for
configurations whose accumulators take more than 256 elements a lane. Misses lists that are good
for other shapes than the timed ones, and lists that are computed. Source: as for
``high_register_pressure``; a tuner over one tile measures warps and stages only.
"""

from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues import high_register_pressure
from xeforge.intake.issues.detector import slow
from xeforge.source.accumulators import accumulated
from xeforge.source.facts import FileFacts

NAME: Final = "suboptimal_autotune_configs"


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report autotuners, and single configurations."""
    found = []
    for kernel in facts.contents.jit_functions:
        tuner = kernel.autotune
        if tuner is None or tuner.is_dynamic or not tuner.configs:
            continue
        why = ""
        if len(tuner.configs) == 1:
            why = "has one configuration"
        elif not tuner.varied and tuner.configs[0].values:
            why = f"offers the same tiles in all {len(tuner.configs)} configurations"
        if why:
            advice = "offer tiles of several sizes"
            found.append(slow(NAME, tuner.line, f"the autotuner of {kernel.name} {why}", advice))
        for each in facts.settings.get(kernel.name, ()):
            size = accumulated(facts.bodies[kernel.name], each.values)
            lanes = high_register_pressure.LANES * (each.num_warps or 1)
            if size is not None and size / lanes > high_register_pressure.MOST_ELEMENTS:
                found.append(
                    slow(
                        NAME,
                        each.line,
                        f"this configuration of {kernel.name} accumulates {size / lanes:g} "
                        "elements a lane: no thread can hold them",
                        "take it out, or give it more warps",
                    )
                )
    return tuple(found)
