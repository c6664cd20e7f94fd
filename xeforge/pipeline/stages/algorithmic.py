"""Algorithmic: do less arithmetic or move fewer bytes for the same answer."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="algorithmic",
    goal="Do less arithmetic or move fewer bytes for the same answer.",
    cures=frozenset(
        {
            "algebraic_simplification",
            "associativity_reorder",
            "cacheable_intermediate",
            "common_subexpression",
            "gemm_simplification",
            "loop_invariant_code",
            "reduction_tree_suboptimal",
            "redundant_computation",
            "suboptimal_algorithm",
            "unnecessary_materialization",
        }
    ),
    after=(),
    proposers=("fusion_compiler",),
    attempts=16,
)
