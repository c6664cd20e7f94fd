"""What can be seen to be wrong or slow in a source without running it: one file per issue type."""

from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.issue import Issue
from xeforge.domain.submission import SourceFile
from xeforge.intake.issues import algebraic_simplification
from xeforge.intake.issues import associativity_reorder
from xeforge.intake.issues import autotune_duplicate_params
from xeforge.intake.issues import autotune_key_missing
from xeforge.intake.issues import block_ptr_boundary_wrong
from xeforge.intake.issues import block_ptr_multiple_of_misuse
from xeforge.intake.issues import cache_eviction_risk
from xeforge.intake.issues import cacheable_intermediate
from xeforge.intake.issues import common_subexpression
from xeforge.intake.issues import constant_instead_of_argument
from xeforge.intake.issues import constructor_argument_order
from xeforge.intake.issues import device_host_sync
from xeforge.intake.issues import dtype_float64
from xeforge.intake.issues import dtype_input_conversion
from xeforge.intake.issues import dtype_precision
from xeforge.intake.issues import fusion_register_pressure
from xeforge.intake.issues import gemm_simplification
from xeforge.intake.issues import grid_block_mismatch
from xeforge.intake.issues import hard_coded_device
from xeforge.intake.issues import high_register_pressure
from xeforge.intake.issues import long_liveness
from xeforge.intake.issues import loop_invariant_code
from xeforge.intake.issues import manual_pointer_arithmetic
from xeforge.intake.issues import missing_autotune
from xeforge.intake.issues import missing_block_pointers
from xeforge.intake.issues import missing_boundary_check
from xeforge.intake.issues import missing_grf_mode
from xeforge.intake.issues import missing_persistent
from xeforge.intake.issues import missing_tma
from xeforge.intake.issues import no_swizzling
from xeforge.intake.issues import non_contiguous_input
from xeforge.intake.issues import persistent_num_progs_hardcoded
from xeforge.intake.issues import reduction_tree_suboptimal
from xeforge.intake.issues import redundant_computation
from xeforge.intake.issues import repack_in_forward
from xeforge.intake.issues import serialized_n_tiles
from xeforge.intake.issues import sigmoid_slow_exp
from xeforge.intake.issues import suboptimal_algorithm
from xeforge.intake.issues import suboptimal_autotune_configs
from xeforge.intake.issues import suboptimal_tile_size
from xeforge.intake.issues import suboptimal_warps
from xeforge.intake.issues import transpose_in_loop
from xeforge.intake.issues import uncoalesced_access
from xeforge.intake.issues import unfused_elementwise
from xeforge.intake.issues import unfused_kernels
from xeforge.intake.issues import unfused_reduction
from xeforge.intake.issues import unnecessary_materialization
from xeforge.intake.issues import unused_constructor_argument
from xeforge.intake.issues.detector import Detector
from xeforge.intake.issues.model_only import MODEL_ONLY
from xeforge.source.contents import read_contents
from xeforge.source.facts import read_facts

__all__ = ["DETECTORS", "MODEL_ONLY", "find_issues"]

DETECTORS: tuple[Detector, ...] = (
    grid_block_mismatch,
    missing_boundary_check,
    constructor_argument_order,
    unused_constructor_argument,
    constant_instead_of_argument,
    hard_coded_device,
    redundant_computation,
    suboptimal_algorithm,
    associativity_reorder,
    gemm_simplification,
    cacheable_intermediate,
    unnecessary_materialization,
    common_subexpression,
    algebraic_simplification,
    loop_invariant_code,
    reduction_tree_suboptimal,
    device_host_sync,
    repack_in_forward,
    dtype_precision,
    dtype_float64,
    dtype_input_conversion,
    unfused_kernels,
    unfused_elementwise,
    unfused_reduction,
    fusion_register_pressure,
    non_contiguous_input,
    uncoalesced_access,
    transpose_in_loop,
    missing_tma,
    cache_eviction_risk,
    long_liveness,
    high_register_pressure,
    manual_pointer_arithmetic,
    missing_block_pointers,
    block_ptr_boundary_wrong,
    block_ptr_multiple_of_misuse,
    missing_persistent,
    persistent_num_progs_hardcoded,
    suboptimal_tile_size,
    suboptimal_warps,
    missing_grf_mode,
    no_swizzling,
    serialized_n_tiles,
    sigmoid_slow_exp,
    missing_autotune,
    suboptimal_autotune_configs,
    autotune_key_missing,
    autotune_duplicate_params,
)
"""In the order of a report: what is wrong first. Adding one: a new file and a line here."""


def find_issues(
    kernel: SourceFile,
    reference: SourceFile | None,
    *,
    build: BuildEvidence | None = None,
    vendor: str = "",
) -> tuple[Issue, ...]:
    """Return everything the detectors see in a kernel file, in the order of `DETECTORS`.

    Args:
        kernel: The file.
        reference: What it must compute, if that is known.
        build: What the compiler said of the kernel; without it nothing is said about spills.
        vendor: Maker of the device the kernel is for, as in `Device.vendor`; some types matter on
            one vendor's devices only.

    Raises:
        BadKernel: A file cannot be read as Python.
    """
    other = None
    if reference is not None:
        other = read_contents(reference.text, reference.path, require_kernel=False)
    facts = read_facts(kernel.text, kernel.path, reference=other, build=build, vendor=vendor)
    return tuple(issue for detector in DETECTORS for issue in detector.detect(facts))
