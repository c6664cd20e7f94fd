import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import missing_boundary_check

FRAME = """
@triton.jit
def k(x, y, bias, n, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wrapped = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) %% n
    all_columns = tl.arange(0, BLOCK)
    mask = offs < n
    %s
    tl.store(y + offs, 1.0, mask=mask)
"""


@pytest.mark.parametrize(
    "access",
    ["a = tl.load(x + offs)", "tl.store(x + offs, 0.0)", "b = tl.load(bias + offs * 2)"],
)
def test_unmasked_access_by_bounded_offsets(detect, blamed, access):
    source = FRAME % access
    (issue,) = detect(missing_boundary_check, source)
    assert issue.severity is Severity.WARNING
    assert "mask=offs < n" in issue.remedy
    assert blamed(source, issue) == access


@pytest.mark.parametrize(
    "access",
    [
        "a = tl.load(x + offs, mask=mask)",
        "a = tl.load(x + offs, mask)",
        "a = tl.load(x + wrapped)",
        "a = tl.load(x + all_columns)",
        "a = tl.load(x)",
        "if EVEN:\n        a = tl.load(x + offs)",
        "a = tl.load(x + tl.where(all_columns < n, all_columns, 0), mask=all_columns < n)",
        "c = all_columns < BLOCK; a = tl.load(x + all_columns)",
    ],
)
def test_look_alikes(detect, access):
    assert detect(missing_boundary_check, FRAME % access) == ()
