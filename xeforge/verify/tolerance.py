"""How wrong is too wrong, against the reference in float64."""

from math import isfinite
from math import sqrt

from xeforge.domain.case import Case
from xeforge.domain.dtype import DTYPES
from xeforge.domain.dtype import find_dtype
from xeforge.domain.evidence import OutputEvidence

UNKNOWN_LENGTH = 4096
"""Reduction length assumed where the inputs come from the kernel file and no size is known."""

_BASELINE_SLACK = 1.25
"""Two draws of inputs give errors of one kernel that differ by this factor at most."""
_NOTHING = 1e-12
"""Answers no larger than this are zero up to the rounding of float64 arithmetic."""


def reduction_length(case: Case | None) -> int:
    """Return the longest sum a case can ask for: its largest size."""
    if case is None or not case.inputs:
        return UNKNOWN_LENGTH
    sizes = [size for spec in case.inputs for size in spec.shape]
    sizes += [
        value
        for value in case.init_args or ()
        if isinstance(value, int) and not isinstance(value, bool)
    ]
    return max(sizes, default=1)


def accumulation_eps(case: Case | None) -> float:
    """Return the unit of the format that sums must be kept in: float32, wider for float64."""
    names = [spec.dtype for spec in case.inputs] if case else []
    if case and case.dtype:
        names.append(case.dtype)
    formats = {found.name for name in names if (found := find_dtype(name)) is not None}
    return DTYPES["float64" if "float64" in formats else "float32"].eps


def error_bound(
    output: OutputEvidence, case: Case | None, baseline: OutputEvidence | None
) -> float | None:
    """Return the largest relative error (root mean square) that is not a loss of precision.

    The largest of four: twice the reference's own error; the probabilistic bound
    ``eps * sqrt(K)`` on a sum of K terms in the accumulation format (N. J. Higham and T. Mary,
    "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41, 2019);
    half a unit of the output format, which storing the answer alone may cost; and what the
    submitted kernel itself loses.

    Args:
        output: Of the candidate.
        case: Its inputs; None when unknown.
        baseline: The submitted kernel's output on the same case, if known.

    Returns:
        The bound, or None where no error against float64 is known.
    """
    if output.reference_error is None or output.scale <= _NOTHING:
        return None
    stored = find_dtype(output.expected_dtype)
    bounds = [
        2 * output.reference_error,
        accumulation_eps(case) * sqrt(reduction_length(case)),
        stored.eps / 2 if stored else 0.0,
    ]
    if baseline is not None:
        bounds.append(_BASELINE_SLACK * baseline.error)
    return max(each for each in bounds if isfinite(each))
