"""Comparison with the oracle: what leaves the range of a format is judged as the reference does."""

import pytest

RUN = """
import compare
inf, nan = float("inf"), float("nan")
wide = torch.tensor({wide}, dtype=torch.float64)
own = torch.tensor({own}, dtype=torch.float16)
got = torch.tensor({got}, dtype=torch.float16)
answer = compare.compare(0, got, None, {{}}, own=own, wide=wide, rtol=0.01, atol=0.01)[0]
"""


@pytest.mark.parametrize(
    ("own", "got", "wrong"),
    [
        ("[inf, 2.0]", "[inf, 2.0]", 0),
        ("[inf, 2.0]", "[-inf, 2.0]", 1),
        ("[inf, 2.0]", "[nan, 2.0]", 1),
        ("[nan, 2.0]", "[nan, 2.0]", 0),
        ("[nan, 2.0]", "[nan, nan]", 1),
        ("[inf, 2.0]", "[inf, 3.0]", 1),
    ],
)
def test_overflow_is_right_where_the_reference_overflows_too(interpreter, own, got, wrong):
    answer = interpreter(RUN.format(wide="[1e9, 2.0]", own=own, got=got))
    assert answer["wrong_count"] == wrong
