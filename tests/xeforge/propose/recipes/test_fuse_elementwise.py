import pytest

from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_flat import ADD
from tests.xeforge.propose.samples_flat import CHAINS
from tests.xeforge.propose.samples_flat import DOUBLE
from tests.xeforge.propose.samples_flat import SHAPES
from tests.xeforge.propose.samples_flat import SHIFT
from tests.xeforge.propose.samples_flat import chain
from tests.xeforge.propose.samples_flat import flat
from xeforge.propose.recipes import fuse_elementwise
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.knobs import find_knobs

PAIR = """
n = x.numel()
t = torch.empty_like(x)
double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
y = torch.empty_like(x)
shift_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
return y
"""
FUSED = """@triton.jit
def double_shift_kernel(x_ptr, y_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    t = (x * 2.0).to(x_ptr.dtype.element_ty)
    y = t.to(tl.float32) + 0.3
    tl.store(y_ptr + offs, y, mask=mask)
"""


def test_two_launches_become_one(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["two kernels"])
    assert FUSED in found.source
    assert "double_shift_kernel[(triton.cdiv(n, 64),)](x, y, n, B=64)" in found.source
    assert "torch.empty_like(x)" in found.source
    assert found.source.count("torch.empty_like") == 1
    assert list(parse_tree(found.source).jits) == ["double_shift_kernel"]
    assert found.because == (
        "2 element-wise launches become one: 1 intermediate kept in registers instead of going "
        "through device memory"
    )


def test_four_launches_become_one_with_all_their_inputs(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["four kernels with vectors and second inputs"])
    assert len(parse_tree(found.source).launches) == 1
    assert "def double_add_mix_shift_kernel(x_ptr, b_ptr, w_ptr, y_ptr, n, width, B" in found.source
    assert "b = tl.load(b_ptr + offs % width, mask=mask)" in found.source
    assert "4 element-wise launches become one: 3 intermediates" in found.because
    assert "(x, self.bias, w, c, n, width, B=block)" in found.source


def test_fixed_format_of_an_intermediate_is_kept(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["narrow intermediate"], dtype="float32")
    assert "t = (x * 2.0).to(tl.float16)" in found.source


def test_an_intermediate_that_is_returned_is_still_stored(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["intermediate returned too"])
    assert "tl.store(y_ptr + offs, t, mask=mask)" in found.source
    assert "return y, t" in found.source


def test_options_and_lambda_grids_of_the_first_launch_stay(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["in place"])
    assert "double_shift_kernel[grid](x, y, x.numel(), B=64, num_warps=2)" in found.source
    assert "    tl.store(y_ptr + offs, y_2, mask=mask)\n" in found.source
    assert found.source.count("tl.store") == 1


def test_kernels_that_others_launch_stay_in_the_file(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["kernel used twice"])
    assert len(parse_tree(found.source).launches) == 1
    extra = replaced(
        CHAINS["two kernels"].source,
        (
            "return y",
            "if x.shape[0] > 99:\n            double_kernel[(1,)](x, y, n, B=64)\n        return y",
        ),
    )
    (kept,) = rewrites(fuse_elementwise, extra, shapes=SHAPES)
    assert set(parse_tree(kept.source).jits) == {"double_kernel", "double_shift_kernel"}


def test_block_stays_a_knob(rewrites):
    (found,) = rewrites(fuse_elementwise, CHAINS["two kernels"])
    assert {each.name for each in find_knobs(found.source)} == {"B", "num_warps", "num_stages"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("double_kernel[(triton.cdiv(n, 64),)]", "double_kernel[(triton.cdiv(n, 32),)]"),
        (
            "shift_kernel[(triton.cdiv(n, 64),)](t, y, n",
            "shift_kernel[(triton.cdiv(n, 64),)](t, y, n - 1",
        ),
        ("t = torch.empty_like(x)\n", "t = w\n"),
        ("y = torch.empty_like(x)\n", "y = t + 1\n"),
        ("y = torch.empty_like(x)\n", "y = torch.empty_like(x)\nprint(n)\n"),
        ("y = torch.empty_like(x)\n", "y = torch.empty_like(x)\nif n > 4:\n    n = 4\n"),
        ("y = torch.empty_like(x)\n", "y = torch.empty_like(x)\nn = n - 1\n"),
        ("(t, y, n, B=64)", "(w, y, n, B=64)"),
        ("(t, y, n, B=64)", "(t, x, n, B=64)"),
    ],
)
def test_launches_that_do_not_fit_stay_apart(rewrites, old, new):
    assert rewrites(fuse_elementwise, chain(DOUBLE + SHIFT, replaced(PAIR, (old, new)))) == ()


@pytest.mark.parametrize(
    "second",
    [
        flat("shift", "tl.store(y_ptr + offs, x - tl.max(x, 0), mask=mask)"),
        flat("shift", "tl.store(y_ptr + offs, tl.load(x_ptr + offs + 1, mask=mask), mask=mask)"),
        flat("shift", "tl.store(y_ptr + offs, tl.load(x_ptr + offs % 8), mask=mask)"),
        flat("shift", "i = x.to(tl.int32)\ntl.store(y_ptr + i, x, mask=mask)"),
        flat("shift", "tl.atomic_add(y_ptr + offs, x, mask=mask)"),
        flat("shift", "tl.store(y_ptr + offs, tl.cumsum(x, 0), mask=mask)"),
        flat("shift", "tl.store(y_ptr + offs, x * tl.num_programs(0), mask=mask)"),
        flat("shift", "tl.store(y_ptr + offs, x * tl.program_id(1), mask=mask)"),
        flat("shift", "tl.store(y_ptr + offs, mystery(x), mask=mask)"),
        SHIFT.replace("tl.arange(0, B)", "2 * tl.arange(0, B)"),
        SHIFT.replace("offs < n", "offs <= n"),
        SHIFT.replace("@triton.jit", '@triton.heuristics({"B": lambda args: 64})\n@triton.jit'),
    ],
)
def test_kernels_that_look_across_elements_stay_apart(rewrites, second):
    assert rewrites(fuse_elementwise, chain(DOUBLE + second, PAIR)) == ()


def test_a_vector_written_by_the_first_kernel_cannot_be_read_shifted(rewrites):
    forward = """
    n, width = x.numel(), x.shape[1]
    t, y = torch.empty_like(x), torch.empty_like(x)
    double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
    add_kernel[(triton.cdiv(n, 64),)](x, t, width, y, n, B=64)
    return y
    """
    assert rewrites(fuse_elementwise, chain(DOUBLE + ADD, forward)) == ()


def test_launches_without_a_common_intermediate_stay_apart(rewrites):
    forward = replaced(PAIR, ("(t, y, n, B=64)", "(x, y, n, B=64)"), ("return y", "return y, t"))
    assert rewrites(fuse_elementwise, chain(DOUBLE + SHIFT, forward)) == ()
