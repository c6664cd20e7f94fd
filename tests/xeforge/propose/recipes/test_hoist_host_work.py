import pytest

from tests.xeforge.propose.conftest import make_workload
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_all import HOSTS
from tests.xeforge.propose.samples_all import SQUARE
from tests.xeforge.propose.samples_all import SUMMED
from tests.xeforge.propose.samples_all import TOTAL
from tests.xeforge.propose.samples_all import TURNED
from xeforge.propose.recipes import hoist_host_work

TURNED_SHAPES = ((64, 48), (32, 48))


def summed(*pairs, kernel=TOTAL):
    return HEADER + kernel + model(replaced(SUMMED, *pairs))


def test_transposed_copy_becomes_a_view(rewrites):
    (found,) = rewrites(hoist_host_work, HOSTS["transposed copy"])
    assert "right = w.t()\n" in found.source
    assert found.because == "no transposed copy in every call: the kernel gets the strides"
    assert found.recipes == ("memory.strides_instead_of_contiguous",)


def test_advice_about_weights_is_named_for_what_hangs_on_the_module(rewrites):
    pairs = ("right = w.t().contiguous()", "right = self.w.t().contiguous()")
    source = HEADER + PRODUCT + model(replaced(TURNED, pairs))
    (found,) = rewrites(hoist_host_work, source, shapes=TURNED_SHAPES)
    assert found.recipes == ("tiles.weight_as_it_lies",)


@pytest.mark.parametrize(
    "pairs",
    [
        (("right.stride(0), right.stride(1)", "N, 1"),),
        (("right.stride(0), right.stride(1)", "right.stride(0), 1"),),
        (("return c", "return c + right"),),
        (("right = w.t().contiguous()", "right = w.contiguous()"),),
        (("right = w.t().contiguous()", "right = w.t().contiguous().view(-1, 32)"),),
    ],
)
def test_copies_that_somebody_needs_stay(rewrites, pairs):
    source = HEADER + PRODUCT + model(replaced(TURNED, *pairs))
    assert rewrites(hoist_host_work, source, shapes=TURNED_SHAPES) == ()


def test_zeros_casts_and_synchronisations_go(rewrites):
    (found,) = rewrites(hoist_host_work, HOSTS["zeros, cast and synchronisation"])
    assert "torch.empty(cols, device=x.device, dtype=x.dtype)" in found.source
    assert "x, w = x, w\n" in found.source
    assert "w.to(" not in found.source
    assert "synchronize" not in found.source
    assert "return y\n" in found.source
    assert found.recipes == ()


def test_a_cast_that_some_workload_needs_stays(rewrites):
    source = summed(
        ("rows, cols = x.shape", "x = x.half()\nrows, cols = x.shape"), ("zeros", "ones")
    )
    (found,) = rewrites(hoist_host_work, source, shapes=SQUARE)
    assert "half" not in found.source
    assert "x = x\n" not in found.source
    wide = make_workload(*SQUARE, dtype="float32", name="ci[0]", is_timed=False)
    assert rewrites(hoist_host_work, source, shapes=SQUARE, more=[wide]) == ()


def test_moves_between_devices_are_no_casts(rewrites):
    source = summed(
        ("rows, cols = x.shape", "x = x.to('cuda')\nrows, cols = x.shape"), ("zeros", "ones")
    )
    assert rewrites(hoist_host_work, source, shapes=SQUARE) == ()
    moved = summed(
        ("rows, cols = x.shape", "x = x.to(w.device)\nrows, cols = x.shape"), ("zeros", "ones")
    )
    assert rewrites(hoist_host_work, moved, shapes=SQUARE) == ()


def test_inputs_may_arrive_in_any_layout(rewrites):
    source = summed(
        ("rows, cols = x.shape", "x = x.contiguous()\nrows, cols = x.shape"), ("zeros", "ones")
    )
    assert rewrites(hoist_host_work, source, shapes=SQUARE) == ()


@pytest.mark.parametrize(
    ("kernel", "pairs"),
    [
        (replaced(TOTAL, ("tl.store(y_ptr + c, acc,", "tl.atomic_add(y_ptr + c, acc,")), ()),
        (replaced(TOTAL, ("    acc = ", "    old = tl.load(y_ptr + c)\n    acc = ")), ()),
        (replaced(TOTAL, ("mask=c < cols)", "mask=c < cols - 1)")), ()),
        (replaced(TOTAL, ("tl.store(y_ptr + c,", "tl.store(y_ptr + 2 * c,")), ()),
        (replaced(TOTAL, ("    tl.store", "    if rows > 4:\n        tl.store")), ()),
        (replaced(TOTAL, ("    acc = ", "    if rows > 4:\n        return\n    acc = ")), ()),
        (TOTAL, (("zeros(cols", "zeros(cols + 1"),)),
        (TOTAL, (("(triton.cdiv(cols, 16),)", "(triton.cdiv(cols, 32),)"),)),
        (TOTAL, (("total_kernel[", "if rows > 3:\n    total_kernel["),)),
        (TOTAL, (("return y", "total_kernel[(1,)](y, w, y, rows, cols, BR=8, BC=16)\nreturn y"),)),
    ],
)
def test_zeros_that_somebody_may_see_stay(rewrites, kernel, pairs):
    source = summed(*pairs, kernel=kernel)
    assert "y = torch.zeros" in source
    assert rewrites(hoist_host_work, source, shapes=SQUARE) == ()


def test_constructor_and_input_helpers_are_left_alone(rewrites):
    helper = (
        "\n"
        "\n"
        "def get_inputs():\n"
        "    torch.cuda.synchronize()\n"
        "    return [torch.randn(2, 2).half()]\n"
    )
    source = summed(("zeros", "ones")) + helper
    assert rewrites(hoist_host_work, source, shapes=SQUARE) == ()
