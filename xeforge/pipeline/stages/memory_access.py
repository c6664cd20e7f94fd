"""Memory access: move every byte once, in wide contiguous accesses, and none for nothing."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="memory_access",
    goal="Move every byte once, in wide contiguous accesses, and none for nothing.",
    cures=frozenset(
        {
            "cache_eviction_risk",
            "device_host_sync",
            "high_register_pressure",
            "long_liveness",
            "missing_boundary_check",
            "missing_tma",
            "non_contiguous_input",
            "transpose_in_loop",
            "uncoalesced_access",
        }
    ),
    after=(),
    proposers=("recipe_apply",),
    attempts=12,
)
