"""What can be seen to be wrong or slow in a source without running it: one file per issue type."""

from xeforge.domain.issue import Issue
from xeforge.domain.submission import SourceFile
from xeforge.intake.issues.detector import Detector
from xeforge.source.contents import parse
from xeforge.source.contents import read_contents

DETECTORS: tuple[Detector, ...] = ()
"""In the order of a report: what is wrong first. Adding one: a new file and a line here."""


def find_issues(kernel: SourceFile, reference: SourceFile | None) -> tuple[Issue, ...]:
    """Return everything the detectors see in a kernel file, in the order of `DETECTORS`.

    Raises:
        BadKernel: A file cannot be read as Python.
    """
    contents = read_contents(kernel.text, kernel.path)
    tree = parse(kernel.text, kernel.path)
    other = None
    if reference is not None:
        other = read_contents(reference.text, reference.path, require_kernel=False)
    return tuple(
        issue for detector in DETECTORS for issue in detector.detect(contents, tree, other)
    )
