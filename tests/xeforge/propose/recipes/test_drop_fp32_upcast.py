from tests.xeforge.propose.conftest import make_workload
from tests.xeforge.propose.samples import DOT
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import MULTIPLY
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import UPCASTS
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import product
from tests.xeforge.propose.samples import replaced
from xeforge.propose.recipes import drop_fp32_upcast

AT_PRODUCT = UPCASTS["at the product"]


def test_operands_go_in_as_loaded_and_the_accumulator_stays(rewrites):
    (found,) = rewrites(drop_fp32_upcast, AT_PRODUCT)
    assert "        acc += tl.dot(a, b)\n" in found.source
    assert "acc = tl.zeros((TM, TN), dtype=tl.float32)" in found.source
    assert found.because == (
        "1 product gets 16-bit operands instead of float32 copies, accumulating in float32: "
        "the matrix units run at their 16-bit rate"
    )
    assert AT_PRODUCT.source.splitlines()[found.line - 1].strip().startswith("acc += tl.dot(")


def test_accumulator_argument_and_precision_are_kept(rewrites):
    dot = "acc = tl.dot(a.to(tl.float32), b.to(tl.float32), acc, out_dtype=tl.float32)"
    (found,) = rewrites(drop_fp32_upcast, product(replaced(PRODUCT, (DOT, dot))))
    assert "acc = tl.dot(a, b, acc, out_dtype=tl.float32)" in found.source


def test_lines_that_only_widen_go_and_others_stay(rewrites):
    (found,) = rewrites(drop_fp32_upcast, UPCASTS["in lines of their own"])
    assert "a = a.to" not in found.source
    assert "wide = b\n        acc += tl.dot(a, wide)" in found.source


def test_only_statement_of_a_branch_becomes_pass(rewrites):
    body = (
        "if TK > 1:\n            a = a.to(tl.float32)\n        acc += tl.dot(a, b.to(tl.float32))"
    )
    (found,) = rewrites(drop_fp32_upcast, product(replaced(PRODUCT, (DOT, body))))
    assert "if TK > 1:\n            pass\n        acc += tl.dot(a, b)" in found.source


def test_a_wide_copy_that_others_read_is_narrowed_at_the_product_only(rewrites):
    (found,) = rewrites(drop_fp32_upcast, UPCASTS["copy needed elsewhere"])
    assert "a = a.to(tl.float32)" in found.source
    assert "tl.dot(a.to(a_ptr.dtype.element_ty), b) + tl.sum(a, 1)" in found.source


def test_computed_operand_is_rounded_to_the_other_format(rewrites):
    (found,) = rewrites(drop_fp32_upcast, UPCASTS["computed operand"])
    assert "acc += tl.dot(p.to(b.dtype), b)" in found.source
    assert "computed operands rounded to match" in found.because


def test_wide_inputs_of_any_timed_workload_forbid_it(rewrites):
    assert rewrites(drop_fp32_upcast, AT_PRODUCT, dtype="float32") == ()
    wide = make_workload(*AT_PRODUCT.timed, dtype="float32", name="bench[1]")
    assert rewrites(drop_fp32_upcast, AT_PRODUCT, more=[wide]) == ()
    checked_only = make_workload(*AT_PRODUCT.timed, dtype="float32", name="ci[0]", is_timed=False)
    assert rewrites(drop_fp32_upcast, AT_PRODUCT, more=[checked_only])


def test_look_alikes_are_left_alone(rewrites):
    both_computed = "acc += tl.dot(tl.exp(a.to(tl.float32)), tl.exp(b.to(tl.float32)))"
    not_operands = "s = tl.sum(a.to(tl.float32), 1)\n        acc += s[:, None] + tl.dot(a, b)"
    unknown = "acc += tl.dot(mystery(a), b.to(tl.float32))"
    for body in (both_computed, not_operands, unknown):
        sample = product(replaced(PRODUCT, (DOT, body)))
        assert rewrites(drop_fp32_upcast, sample) == ()
    assert rewrites(drop_fp32_upcast, product()) == ()


def test_formats_that_the_host_changes_are_followed(rewrites):
    cast = replaced(MULTIPLY, ("M, K = x.shape", "x, w = x.float(), w.float()\nM, K = x.shape"))
    source = HEADER + AT_PRODUCT.source.removeprefix(HEADER).split("class Model")[0]
    assert rewrites(drop_fp32_upcast, source + model(cast), shapes=AT_PRODUCT.timed) == ()
    narrow = replaced(MULTIPLY, ("M, K = x.shape", "x, w = x.half(), w.half()\nM, K = x.shape"))
    found = rewrites(
        drop_fp32_upcast, source + model(narrow), shapes=AT_PRODUCT.timed, dtype="float32"
    )
    assert len(found) == 1
