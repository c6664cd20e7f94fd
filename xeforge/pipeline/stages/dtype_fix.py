"""Dtype fix: feed the matrix and vector units the narrowest format the tolerance allows."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="dtype_fix",
    goal="Feed the matrix and vector units the narrowest format the tolerance allows.",
    cures=frozenset(
        {
            "dtype_float64",
            "dtype_input_conversion",
            "dtype_precision",
        }
    ),
    after=("algorithmic", "discovery"),
    proposers=("recipe_apply",),
    attempts=12,
)
