"""Device specific: program order, warps, register modes, cheap functions."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="device_specific",
    goal="Use what this device offers: program order, warps, register modes, cheap functions.",
    cures=frozenset(
        {
            "missing_grf_mode",
            "missing_packed_transpose",
            "no_swizzling",
            "repack_in_forward",
            "serialized_n_tiles",
            "sigmoid_slow_exp",
            "suboptimal_tile_size",
            "suboptimal_warps",
        }
    ),
    after=("fusion", "block_pointers", "persistent_kernel"),
    proposers=("recipe_apply",),
    attempts=12,
)
