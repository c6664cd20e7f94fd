"""Fusion: remove a trip through device memory between two operators."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="fusion",
    goal="Remove a trip through device memory between two operators.",
    cures=frozenset(
        {
            "fusion_noop",
            "fusion_register_pressure",
            "fusion_replaces_vendor",
            "unfused_elementwise",
            "unfused_kernels",
            "unfused_reduction",
        }
    ),
    after=("algorithmic", "discovery", "dtype_fix"),
    proposers=("recipe_apply", "fusion_compiler"),
    attempts=12,
)
