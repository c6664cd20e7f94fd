"""Autotuning: search block sizes, warps, pipeline stages and program order."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="autotuning",
    goal="Search block sizes, warps, pipeline stages and program order.",
    cures=frozenset(
        {
            "autotune_duplicate_params",
            "autotune_key_missing",
            "missing_autotune",
            "suboptimal_autotune_configs",
        }
    ),
    after=("device_specific",),
    proposers=("config_search",),
    attempts=60,
)
