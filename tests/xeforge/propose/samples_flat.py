"""Element-wise kernels, alone and behind a product."""

import textwrap

from tests.xeforge.propose.samples import EVEN
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import MULTIPLY
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import RAGGED
from tests.xeforge.propose.samples import Sample
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import replaced

FLAT = """@triton.jit
def {name}_kernel(x_ptr, {more}y_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
{body}


"""


def flat(name, body, more=""):
    """Return an element-wise kernel with this body."""
    return FLAT.format(
        name=name, more=more, body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    )


DOUBLE = flat("double", "tl.store(y_ptr + offs, x * 2.0, mask=mask)")
SHIFT = flat("shift", "y = x.to(tl.float32) + 0.3\ntl.store(y_ptr + offs, y, mask=mask)")
ADD = flat(
    "add",
    "b = tl.load(b_ptr + offs % width, mask=mask)\ntl.store(y_ptr + offs, x + b, mask=mask)",
    "b_ptr, width, ",
)
MIX = flat(
    "mix",
    "w = tl.load(w_ptr + offs, mask=mask, other=1.0)\ntl.store(y_ptr + offs, x * w, mask=mask)",
    "w_ptr, ",
)
SHAPES = ((8, 64), (8, 64))
ODD = ((5, 33), (5, 33))


def chain(kernels, forward, **parts):
    """Return element-wise launches as a sample."""
    return Sample(HEADER + kernels + model(forward, **parts), SHAPES, (SHAPES, ODD))


CHAINS = {
    "two kernels": chain(
        DOUBLE + SHIFT,
        """
        n = x.numel()
        t = torch.empty_like(x)
        double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
        y = torch.empty_like(x)
        shift_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
        return y
        """,
    ),
    "narrow intermediate": chain(
        DOUBLE + SHIFT,
        """
        n = x.numel()
        t = torch.empty(x.shape, dtype=torch.float16)
        double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
        y = torch.empty(x.shape, dtype=torch.float32)
        shift_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
        return y
        """,
    ),
    "in place": chain(
        DOUBLE + SHIFT,
        """
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(x.numel(), meta["B"]),)
        double_kernel[grid](x, y, x.numel(), B=64, num_warps=2)
        shift_kernel[grid](y, y, y.numel(), B=64)
        return y
        """,
    ),
    "intermediate returned too": chain(
        DOUBLE + SHIFT,
        """
        n = x.numel()
        t, y = torch.empty_like(x), torch.empty_like(x)
        double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
        shift_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
        return y, t
        """,
    ),
    "four kernels with vectors and second inputs": chain(
        DOUBLE + ADD + MIX + SHIFT,
        """
        n, width = x.numel(), x.shape[1]
        block = 128
        grid = ((n + block - 1) // block,)
        a = torch.empty_like(x)
        double_kernel[grid](x, a, n, B=block)
        b = torch.empty_like(a)
        add_kernel[grid](a, self.bias, width, b, n, B=block)
        c = torch.empty_like(b)
        mix_kernel[grid](b, w, c, n, B=block)
        shift_kernel[(triton.cdiv(c.numel(), 64),)](c, c, c.numel(), 64)
        return c
        """,
        init="""
        def __init__(self):
            super().__init__()
            self.bias = torch.nn.Parameter(torch.randn(64))
        """,
    ),
    "kernel used twice": chain(
        DOUBLE + SHIFT,
        """
        n = x.numel()
        t, y, z = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x)
        double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
        shift_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
        double_kernel[(triton.cdiv(n, 64),)](y, z, n, B=64)
        return z
        """,
    ),
    "store that depends on values": chain(
        DOUBLE + flat("keep", "tl.store(y_ptr + offs, x + 1, mask=mask & (x > 0))"),
        """
        n = x.numel()
        t, y = torch.empty_like(x), torch.zeros_like(x)
        double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
        keep_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
        return y
        """,
    ),
    "helper function and constant": chain(
        """@triton.jit
def bend(v):
    return v * tl.sigmoid(v)


"""
        + DOUBLE
        + flat(
            "act",
            "if KIND == 1:\n    x = bend(x.to(tl.float32))\ntl.store(y_ptr + offs, x, mask=mask)",
        ).replace("B: tl.constexpr", "B: tl.constexpr, KIND: tl.constexpr = 1"),
        """
        n = x.numel()
        t, y = torch.empty_like(x), torch.empty_like(x)
        double_kernel[(triton.cdiv(n, 64),)](x, t, n, B=64)
        act_kernel[(triton.cdiv(n, 64),)](t, y, n, B=64)
        return y
        """,
    ),
}

BIAS = """@triton.jit
def bias_kernel(y_ptr, bias_ptr, out_ptr, n, width, slope, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    y = tl.load(y_ptr + offs, mask=offs < n, other=0.0).to(tl.float32)
    y += tl.load(bias_ptr + offs % width, mask=offs < n, other=0.0)
    y = tl.where(y > 0, y, y * slope)
    tl.store(out_ptr + offs, y, mask=offs < n)


"""
BIASED = replaced(
    MULTIPLY,
    (
        "return c",
        """out = torch.empty_like(c)
bias_kernel[(triton.cdiv(c.numel(), 64),)](c, self.bias, out, c.numel(), N, self.slope, B=64)
return out""",
    ),
)
SLOPED = """
def __init__(self, width, slope):
    super().__init__()
    self.bias = torch.nn.Parameter(torch.randn(width))
    self.slope = slope
"""
EPILOGUES = {
    "bias and leaky activation": Sample(
        HEADER + PRODUCT + BIAS + model(BIASED, init=SLOPED), EVEN, (EVEN,), (32, 0.25)
    ),
    "ragged": Sample(
        HEADER + PRODUCT + BIAS + model(BIASED, init=SLOPED), RAGGED, (RAGGED,), (41, 0.25)
    ),
    "two of them": Sample(
        HEADER
        + PRODUCT
        + BIAS
        + SHIFT
        + model(
            replaced(
                BIASED,
                (
                    "return out",
                    (
                        "last = torch.empty_like(out)\n"
                        "n = out.numel()\n"
                        "shift_kernel[(triton.cdiv(n, 64),)](out, last, n, B=64)\n"
                        "return last"
                    ),
                ),
            ),
            init=SLOPED,
        ),
        EVEN,
        (EVEN,),
        (32, 0.25),
    ),
}
