"""Issue types that no detector looks for, and why: a language model may still name them."""

from collections.abc import Mapping
from typing import Final

MODEL_ONLY: Final[Mapping[str, str]] = {
    "fusion_noop": "speaks of a change, not of a source: it takes the kernel before and after, and "
    "both their times, to see that a fusion saved nothing; the judge measures that",
    "fusion_replaces_vendor": "takes the time of the library's call on the same shapes: a source "
    "that multiplies matrices by itself is no fault where it is faster",
    "missing_packed_transpose": "whether a transposed operand is loaded packed is decided by "
    "triton-xpu from dtype, shape and release; a source looks the same either way, and build "
    "reports do not tell load instructions of the operands apart",
    "open_ended": "is by definition outside the closed list",
}
"""Type to reason."""
