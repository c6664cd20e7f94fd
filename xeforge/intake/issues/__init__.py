"""What can be seen to be wrong or slow in a source without running it: one file per issue type."""

from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.issue import Issue
from xeforge.domain.submission import SourceFile
from xeforge.intake.issues import constant_instead_of_argument
from xeforge.intake.issues import constructor_argument_order
from xeforge.intake.issues import device_host_sync
from xeforge.intake.issues import dtype_float64
from xeforge.intake.issues import dtype_precision
from xeforge.intake.issues import grid_block_mismatch
from xeforge.intake.issues import hard_coded_device
from xeforge.intake.issues import missing_autotune
from xeforge.intake.issues import missing_boundary_check
from xeforge.intake.issues import no_swizzling
from xeforge.intake.issues import repack_in_forward
from xeforge.intake.issues import unused_constructor_argument
from xeforge.intake.issues.detector import Detector
from xeforge.source.contents import read_contents
from xeforge.source.facts import read_facts

DETECTORS: tuple[Detector, ...] = (
    grid_block_mismatch,
    missing_boundary_check,
    constructor_argument_order,
    unused_constructor_argument,
    constant_instead_of_argument,
    hard_coded_device,
    device_host_sync,
    repack_in_forward,
    dtype_precision,
    dtype_float64,
    no_swizzling,
    missing_autotune,
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
