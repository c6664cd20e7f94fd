"""The closed list of things that can be wrong or slow in a kernel."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Severity(StrEnum):
    """How bad an issue is."""

    ERROR = "error"
    """The kernel is wrong: reported before any optimisation, stops the job."""
    WARNING = "warning"
    """Right here and now, but fragile or portable only by luck."""
    SPEED = "speed"
    """Right, but slower than it could be."""


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing found in a kernel.

    Attributes:
        type: Name from the closed list (file name of its detector, or an audit check).
        severity: How bad it is.
        message: What is wrong, with numbers.
        line: One-based line in the kernel file; None when no single line is to blame.
        remedy: What to do about it.
    """

    type: str
    severity: Severity
    message: str
    line: int | None = None
    remedy: str = ""


ISSUE_TYPES: Final[Mapping[str, str]] = {
    # algorithmic
    "redundant_computation": "The same work on whole tensors is done more than once: a launch or a "
    "host operation is repeated with equal arguments, or every program reduces over the same data. "
    "Blames the repetition, or the loop of that reduction.",
    "suboptimal_algorithm": "A better known way exists: three or more loops of one kernel walk the "
    "same data, or a matrix product is spelled as multiply, broadcast and sum. Blames the third "
    "loop, or the sum.",
    "associativity_reorder": "Products in a row are multiplied in the dear order: a matrix product "
    "is multiplied by a vector, or an input goes through two weights one after the other. Blames "
    "the outer product.",
    "common_subexpression": "A kernel loads or computes (exponential, root, quotient of tiles) the "
    "same expression twice, with nothing changed between. Blames the second.",
    "algebraic_simplification": "Arithmetic in a kernel that mathematics removes: times one, plus "
    "zero, logarithm of an exponential, root of a square, quotient of exponentials. Blames it.",
    "cacheable_intermediate": "`forward` recomputes what depends on weights, constructor arguments "
    "or sizes alone: products of weights, position tables, triangular masks. Blames the call.",
    "loop_invariant_code": "A loop of a kernel loads or computes (exponential, root, reduction, "
    "product, transposition) something that no turn of the loop changes. Blames that call.",
    "unnecessary_materialization": "The host writes out a larger tensor that a kernel could index: "
    "repeat, expand with a copy, concatenation, padding, one-hot, unfolding. Blames that call.",
    "gemm_simplification": "A matrix product is only needed in part: summed over rows or columns "
    "right away, or one operand is a diagonal or an identity. Blames the sum or the product.",
    "reduction_tree_suboptimal": "A loop of a kernel reduces each tile to a number that it only "
    "accumulates, instead of accumulating tiles and reducing once. Blames that reduction.",
    # dtype_fix
    "dtype_float64": "A kernel computes in float64, or `forward` makes float64 tensors for it. "
    "Blames the first mention in each kernel, and the cast on the host.",
    "dtype_precision": "Loaded operands of a matrix product are widened to float32 first, or "
    "products are accumulated in 16 bits. Blames the product or the accumulator.",
    "dtype_input_conversion": "`forward` casts an input tensor to another format before a kernel "
    "reads it. Blames the cast.",
    # fusion
    "unfused_kernels": "A kernel reads what another kernel with a matrix product has just written "
    "for it, and multiplies matrices itself. Blames the second launch.",
    "unfused_elementwise": "An element-wise step is a kernel or host operation of its own beside "
    "the kernel that makes its operand or reads its result (not: casts of inputs, what can be "
    "cached, what a reduction reads). Blames the element-wise step.",
    "unfused_reduction": "A reduction is a kernel or host operation of its own behind the kernel "
    "that makes its operand. Blames the reduction.",
    "fusion_register_pressure": "A kernel that does several operators at once spills registers. "
    "Seen in compiler output. Blames the kernel.",
    "fusion_replaces_vendor": "A fused kernel took the place of a faster library call.",
    "fusion_noop": "A fusion that saved nothing.",
    # memory_access
    "missing_boundary_check": "A load or store may pass the end: its offsets are compared with a "
    "size elsewhere in the kernel, or come from a grid that is rounded up, and it has no mask. "
    "Blames the access.",
    "transpose_in_loop": "A loop of a kernel transposes a tile that it loads. Blames the "
    "transposition.",
    "missing_tma": "Tiles of a matrix product are loaded in a loop without tensor descriptors. "
    "Blames the first such load.",
    "uncoalesced_access": "Neighbouring lanes touch memory that is no neighbour: no axis of the "
    "offsets has stride one, or the axis that has is shorter than 32 elements (kernels without "
    "products). Blames the access.",
    "device_host_sync": "What `forward` runs waits for the device or copies from it. Blames it.",
    "non_contiguous_input": "`forward` copies a transposed or permuted tensor to make it "
    "contiguous, or hands such a view to a kernel that gets no strides. Blames copy or launch.",
    "cache_eviction_risk": "A tile that is read again soon is loaded as if it were not "
    "(`evict_first`, `.cg`, `.cv`), or two loops walk the same data and the first asks the cache "
    "to keep nothing. Blames the first load.",
    "long_liveness": "A tile is loaded before a loop that does not use it and is needed after it "
    "only. Blames the load.",
    "high_register_pressure": "Accumulators of a kernel need more registers than a thread has (256 "
    "elements a lane), or the compiler spills. Blames the configuration, the launch or the kernel.",
    # block_pointers
    "manual_pointer_arithmetic": "Tiles of pointers are moved on by hand in a loop. Blames the "
    "statement that moves the first.",
    "block_ptr_boundary_wrong": "A block pointer over run-time sizes is read or written without "
    "boundary check on one of its axes, or with an axis it does not have. Blames the access.",
    "block_ptr_multiple_of_misuse": "`multiple_of` or `max_contiguous` is applied to a block "
    "pointer or descriptor, which they do not describe. Blames the call.",
    "missing_block_pointers": "Two-dimensional tiles of a matrix product are addressed with raw "
    "pointers in a loop. Blames the first such load.",
    # persistent_kernel
    "missing_persistent": "A matrix product starts one program for each tile of the result. Blames "
    "the launch.",
    "persistent_num_progs_hardcoded": "The number of resident programs is a number in the source "
    "instead of the device's. Blames the launch.",
    # device_specific
    "suboptimal_tile_size": "Fixed tiles are too small: a matrix product of at most 32 by 32, or "
    "fewer elements than the 128 lanes of four warps. Blames launch or autotuner.",
    "suboptimal_warps": "Warps do not suit the tile: more than four warps with more lanes than "
    "elements, or more than 128 accumulators (64 elements without products) a lane on fewer than "
    "eight. Blames launch or configuration.",
    "missing_grf_mode": "For an Intel device, a large tile of a matrix product (64 or more "
    "accumulators a lane of 16) has no register mode. Blames autotuner or launch.",
    "no_swizzling": "Tiles of a matrix product are visited row by row. Blames the first tile "
    "number.",
    "repack_in_forward": "`forward` casts, transposes or clones a weight on each call. Blames it.",
    "missing_packed_transpose": "A transposed operand is read so that the hardware's packing load "
    "cannot be used.",
    "serialized_n_tiles": "One program computes and stores the column tiles of its row of a matrix "
    "product one after the other. Blames the loop over column tiles.",
    "sigmoid_slow_exp": "A sigmoid is spelled with a natural exponential and a division. Blames "
    "that expression.",
    # autotuning
    "missing_autotune": "Block sizes are fixed numbers that nobody searched. Blames the launch.",
    "suboptimal_autotune_configs": "An autotuner has nothing to choose: one configuration, or the "
    "same tiles in all; or a tile is there that no thread can hold. Blames autotuner or "
    "configuration.",
    "autotune_key_missing": "The key of an autotuner lacks a size that bounds the kernel's loops, "
    "has no size at all, or names no parameter. Blames the autotuner.",
    "autotune_duplicate_params": "Two configurations are equal, or a launch passes a parameter "
    "that the autotuner sets. Blames the second configuration or the launch.",
    # discovery
    "open_ended": "An idea outside this list.",
}
"""The issue types that stages cure: what each means and which line it blames.

A matrix product of a kernel is ``tl.dot``; a host operation is one of torch.
"""
