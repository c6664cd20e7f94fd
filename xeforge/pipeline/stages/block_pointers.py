"""Block pointers: tensor descriptors instead of pointer arithmetic."""

from xeforge.domain.stage import Stage

STAGE = Stage(
    name="block_pointers",
    goal="Let the hardware compute addresses: tensor descriptors instead of pointer arithmetic.",
    cures=frozenset(
        {
            "block_ptr_boundary_wrong",
            "block_ptr_multiple_of_misuse",
            "manual_pointer_arithmetic",
            "missing_block_pointers",
        }
    ),
    after=("memory_access",),
    proposers=(),
    attempts=8,
)
