import pytest

from tests.xeforge.propose.samples import EVEN
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import Sample
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_flat import BIAS
from tests.xeforge.propose.samples_flat import BIASED
from tests.xeforge.propose.samples_flat import EPILOGUES
from tests.xeforge.propose.samples_flat import SLOPED
from xeforge.propose.recipes import fuse_epilogue
from xeforge.source.kernel_tree import parse_tree

SAMPLE = EPILOGUES["bias and leaky activation"]
END = """    flat = rm[:, None] * stride_cm + rn[None, :] * stride_cn
    c = acc.to(c_ptr.dtype.element_ty)
    y = c.to(tl.float32)
    y += tl.load(bias_ptr + rn[None, :] * stride_cn, mask=rn[None, :] < N, other=0.0)
    y = tl.where(y > 0, y, y * slope)
    tl.store(c_ptr + flat, y, mask=inside)
"""


def variant(kernel=PRODUCT, second=BIAS, forward=BIASED):
    return Sample(HEADER + kernel + second + model(forward, init=SLOPED), EVEN, (EVEN,), (32, 0.25))


def test_activation_moves_in_front_of_the_store(rewrites):
    (found,) = rewrites(fuse_epilogue, SAMPLE)
    assert END in found.source
    assert list(parse_tree(found.source).jits) == ["product_bias_kernel"]
    assert found.source.count("torch.empty") == 1
    assert "return c" in found.source
    assert found.because.startswith("1 element-wise launch moved to the end of the product kernel")


def test_two_epilogues_follow_each_other(rewrites):
    (found,) = rewrites(fuse_epilogue, EPILOGUES["two of them"])
    assert len(parse_tree(found.source).launches) == 1
    assert "y_2 = c_2.to(tl.float32) + 0.3" in found.source
    assert found.because.startswith("2 element-wise launches")


def test_an_intermediate_that_is_returned_is_still_stored(rewrites):
    sample = variant(forward=replaced(BIASED, ("return out", "return out, c")))
    (found,) = rewrites(fuse_epilogue, sample)
    assert "tl.store(c_ptrs, c, mask=inside)" in found.source
    assert "tl.store(out_ptr + flat, y, mask=inside)" in found.source


@pytest.mark.parametrize(
    "changed",
    [
        variant(kernel=replaced(PRODUCT, ("tl.store(c_ptrs", "tl.atomic_add(c_ptrs"))),
        variant(
            kernel=replaced(
                PRODUCT,
                ("    inside = (rm[:, None] < M) &", "    inside = (rm[:, None] < M - 1) &"),
            )
        ),
        variant(kernel=replaced(PRODUCT, ("acc.to(c_ptr.dtype.element_ty), mask=inside)", "acc)"))),
        variant(
            kernel=replaced(
                PRODUCT,
                (
                    "    acc = tl.zeros((TM, TN), dtype=tl.float32)",
                    "    acc = tl.load(c_ptr + rm[:, None] + rn[None, :]).to(tl.float32)",
                ),
            )
        ),
        variant(
            second=replaced(
                BIAS,
                (
                    "mask=offs < n, other=0.0)\n    y =",
                    "mask=offs < n, other=0.0)\n    y += tl.full((B,), 1.0, tl.float32)\n    y =",
                ),
            )
        ),
        variant(
            second=replaced(
                BIAS,
                ("bias_ptr + offs % width, mask=offs < n, other=0.0)", "bias_ptr + offs % width)"),
            )
        ),
        variant(forward=replaced(BIASED, ("torch.empty((M, N)", "torch.empty((M, 2 * N)"))),
        variant(
            forward=replaced(BIASED, ("(c, self.bias, out, c.numel()", "(c, self.bias, out, M"))
        ),
        variant(forward=replaced(BIASED, ("(c, self.bias, out", "(c, self.bias, x"))),
        variant(
            forward=replaced(BIASED, ("grid = (triton.cdiv(M, 32)", "grid = (triton.cdiv(M, 64)"))
        ),
    ],
)
def test_kernels_that_do_not_fit_stay_apart(rewrites, changed):
    assert rewrites(fuse_epilogue, changed) == ()


def test_other_widths_are_read_element_by_element(rewrites):
    half = replaced(BIASED, ("c.numel(), N, self.slope", "c.numel(), N // 2, self.slope"))
    (found,) = rewrites(fuse_epilogue, variant(forward=half))
    assert "tl.load(bias_ptr + flat % width, mask=inside, other=0.0)" in found.source
