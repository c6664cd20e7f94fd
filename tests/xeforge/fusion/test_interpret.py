"""The interpreter: what programs mean, and that nothing undefined becomes a number."""

from dataclasses import replace

import numpy as np
import pytest

from tests.xeforge.fusion.samples import BENT
from tests.xeforge.fusion.samples import COL
from tests.xeforge.fusion.samples import COLUMNS
from tests.xeforge.fusion.samples import DEPTH
from tests.xeforge.fusion.samples import PRODUCT
from tests.xeforge.fusion.samples import PROGRAM
from tests.xeforge.fusion.samples import ROW
from tests.xeforge.fusion.samples import ROWS
from tests.xeforge.fusion.samples import TOTAL
from tests.xeforge.fusion.samples import read
from tests.xeforge.fusion.samples import with_stmt
from xeforge.errors import BadRequest
from xeforge.fusion.affine import at_least
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import below
from xeforge.fusion.formats import Formats
from xeforge.fusion.interpret import Undefined
from xeforge.fusion.interpret import interpret
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Select

RANDOM = np.random.default_rng(3)
GIVEN = {
    "a": RANDOM.standard_normal((ROWS, DEPTH)),
    "b": RANDOM.standard_normal((DEPTH, COLUMNS)),
}


def test_a_product_with_its_epilogue_and_row_sums():
    found = interpret(PROGRAM, GIVEN)
    product = GIVEN["a"] @ GIVEN["b"]
    linear = interpret(with_stmt("bent", body=read("p", ROW, COL)), GIVEN)
    np.testing.assert_allclose(linear["y"], product, rtol=1e-13)
    np.testing.assert_allclose(found["s"], found["y"].sum(axis=1), rtol=1e-13)


def test_rounded_mode_keeps_the_dtypes_of_the_program():
    exact, rounded = interpret(PROGRAM, GIVEN), interpret(PROGRAM, GIVEN, exact=False)
    assert (exact["y"].dtype, rounded["y"].dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(rounded["y"], exact["y"], rtol=1e-4, atol=1e-6)
    assert np.abs(rounded["y"] - exact["y"]).max() > 0


def test_conditions_on_a_reduced_axis_leave_out_terms_and_an_empty_fold_is_the_identity():
    t = axis("t")
    for monoid, empty in (("sum", 0.0), ("max", -np.inf), ("min", np.inf), ("prod", 1.0)):
        before = with_stmt(
            "total",
            axes=(Axis("i", ROWS), Axis("t", ROWS)),
            body=read("y", t, t),
            reduce=Reduce(("t",), monoid, "float32"),
            constraints=(below(t, ROW),),
        )
        found = interpret(before, GIVEN)
        assert found["s"][0] == empty
        fold = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod}[monoid]
        for row in range(1, ROWS):
            assert found["s"][row] == pytest.approx(fold(np.diag(found["y"])[:row]))


def test_padding_and_selection():
    shifted = with_stmt(
        "bent", body=read("p", ROW - 1, COL, guard=(at_least(ROW, 1),), otherwise=7.0)
    )
    found = interpret(shifted, GIVEN)["y"]
    assert (found[0] == 7.0).all()
    np.testing.assert_allclose(found[1:], (GIVEN["a"] @ GIVEN["b"])[:-1])
    chosen = Select((at_least(ROW, 1),), read("p", ROW - 1, COL), Const(7.0, "float32"))
    np.testing.assert_array_equal(interpret(with_stmt("bent", body=chosen), GIVEN)["y"], found)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        # numpy would take index -1 for the last row.
        (with_stmt("bent", body=read("p", ROW - 1, COL)), "leaves the array"),
        (with_stmt("bent", body=read("p", ROW + 1, COL)), "leaves the array"),
        (replace(PROGRAM, statements=(BENT, PRODUCT, TOTAL)), "before it is written"),
        (with_stmt("total", output=Access("s", (ROW // 2,))), "written twice"),
        (replace(PROGRAM, statements=(PRODUCT, BENT, TOTAL, TOTAL)), "written twice"),
        (with_stmt("total", constraints=(at_least(ROW, 1),)), "not written whole"),
        (with_stmt("product", constraints=(at_least(ROW, 1),)), "before it is written"),
        (with_stmt("total", axes=(Axis("i", ROWS), Axis("j", 2**25))), "points"),
    ],
)
def test_what_is_undefined_is_no_number(program, words):
    with pytest.raises(Undefined, match=words):
        interpret(program, GIVEN)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"a": GIVEN["a"]}, "not given"),
        ({**GIVEN, "p": GIVEN["a"]}, "computed"),
        ({**GIVEN, "q": GIVEN["a"]}, "no array"),
        ({**GIVEN, "a": GIVEN["a"].T}, "shape"),
    ],
)
def test_what_is_given_must_fit(given, words):
    with pytest.raises(Undefined, match=words):
        interpret(PROGRAM, given)


def test_bfloat16_rounds_to_nearest_even_as_torch_does():
    import torch

    values = np.concatenate(
        [
            RANDOM.standard_normal(4000) * 10.0 ** RANDOM.integers(-30, 30, 4000),
            [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1 + 2**-8, 1 + 3 * 2**-8, 1e-40],
        ]
    )
    wanted = torch.from_numpy(values.astype(np.float32)).to(torch.bfloat16).float().numpy()
    np.testing.assert_array_equal(Formats(is_exact=False).rounded(values, "bfloat16"), wanted)


def test_formats_that_are_not_interpreted_are_refused():
    with pytest.raises(BadRequest, match="float8"):
        Formats(is_exact=False).storage("float8_e5m2")
