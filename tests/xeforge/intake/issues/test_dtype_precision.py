import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import dtype_precision

FRAME = """
@triton.jit
def k(a_ptr, b_ptr, desc, c_ptr, K):
    acc = tl.zeros((16, 16), dtype=tl.float32)
    for start in range(0, K, 16):
        %s
    tl.store(c_ptr, acc.to(tl.float32))
"""


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (
            "a = tl.load(a_ptr).to(tl.float32); b = tl.load(b_ptr); acc += tl.dot(a, b)",
            "a widened",
        ),
        (
            (
                "a = tl.load(a_ptr); b = tl.load(b_ptr)\n"
                "        a = a.to(tl.float32); b = b.to(tl.float32)\n"
                "        acc = tl.dot(a, b, acc)"
            ),
            "a and b widened",
        ),
        (
            "a = tl.load(a_ptr); b = desc.load([0, 0]); acc += tl.dot(a, b.to(tl.float32).T)",
            "b.to(tl.float32).T widened",
        ),
        (
            "acc += tl.dot(tl.load(a_ptr).to(tl.float32), tl.trans(tl.load(b_ptr)))",
            "tl.load(a_ptr).to(tl.float32) widened",
        ),
    ],
)
def test_widened_tiles(detect, blamed, body, named):
    source = FRAME % body
    (issue,) = detect(dtype_precision, source)
    assert issue.severity is Severity.SPEED
    assert issue.message.startswith(named)
    assert "tl.dot" in blamed(source, issue)


@pytest.mark.parametrize(
    "body",
    [
        "acc += tl.dot(tl.load(a_ptr), tl.load(b_ptr))",
        "acc += tl.dot(tl.load(a_ptr), tl.load(b_ptr)).to(tl.float32)",
        "a = tl.load(a_ptr); p = tl.exp(a.to(tl.float32)); acc += tl.dot(p, tl.load(b_ptr))",
        "a = tl.load(a_ptr).to(tl.float16); acc += tl.dot(a, tl.load(b_ptr))",
        "a = tl.load(a_ptr).to(tl.float32); a = a.to(tl.float16); acc = tl.dot(a, a, acc)",
        "a = tl.load(a_ptr).to(tl.float32); acc += tl.sum(a)",
        "p = tl.exp(acc).to(tl.float32); acc = tl.dot(p, tl.load(b_ptr))",
    ],
)
def test_look_alikes(detect, body):
    assert detect(dtype_precision, FRAME % body) == ()
