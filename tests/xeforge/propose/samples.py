"""Small kernel files for recipe tests; each is run in the interpreter before and after."""

import textwrap
from dataclasses import dataclass

HEADER = "import torch\nimport triton\nimport triton.language as tl\n\n\n"


@dataclass(frozen=True)
class Sample:
    """A kernel file with the shapes it is optimized for and the shapes it is run on.

    Attributes:
        source: The file.
        timed: Input shapes of the timed workload.
        runs: Input shapes to run on, even and ragged.
        init: Constructor arguments.
        dtype: Format of inputs and weights.
        tolerance: Largest difference relative to the largest output.
    """

    source: str
    timed: tuple[tuple[int, ...], ...]
    runs: tuple[tuple[tuple[int, ...], ...], ...]
    init: tuple[object, ...] = ()
    dtype: str = "float16"
    tolerance: float = 0.0


def model(forward, *, inputs="x, w", init="", before=""):
    """Return a ``Model`` with this body of ``forward``."""
    text = before + "class Model(torch.nn.Module):\n"
    if init:
        text += textwrap.indent(textwrap.dedent(init).strip("\n") + "\n\n", "    ")
    body = textwrap.indent(textwrap.dedent(forward).strip("\n"), " " * 8)
    return f"{text}    def forward(self, {inputs}):\n{body}\n"


PRODUCT = """@triton.jit
def product_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    TM: tl.constexpr,
    TN: tl.constexpr,
    TK: tl.constexpr,
):
    # Which tile is ours.
    row = tl.program_id(0)
    col = tl.program_id(1)
    rm = row * TM + tl.arange(0, TM)
    rn = col * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    a_ptrs = a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak
    b_ptrs = b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TK)):
        a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < K - k * TK), other=0.0)
        b = tl.load(b_ptrs, mask=(rk[:, None] < K - k * TK) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        a_ptrs += TK * stride_ak
        b_ptrs += TK * stride_bk
    inside = (rm[:, None] < M) & (rn[None, :] < N)
    c_ptrs = c_ptr + rm[:, None] * stride_cm + rn[None, :] * stride_cn
    tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=inside)


"""
STRIDES = "x.stride(0), x.stride(1), w.stride(0), w.stride(1), c.stride(0), c.stride(1)"
MULTIPLY = f"""
M, K = x.shape
N = w.shape[1]
c = torch.empty((M, N), device=x.device, dtype=x.dtype)
grid = (triton.cdiv(M, 32), triton.cdiv(N, 16))
product_kernel[grid](x, w, c, M, N, K, {STRIDES}, TM=32, TN=16, TK=16)
return c
"""
EVEN = ((64, 48), (48, 32))
RAGGED = ((45, 37), (37, 41))


def product(kernel=PRODUCT, forward=MULTIPLY, **parts):
    """Return a matrix product as a sample."""
    return Sample(HEADER + kernel + model(forward, **parts), EVEN, (EVEN, RAGGED))


def replaced(text, *pairs):
    """Replace pieces that must be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


DOT = "acc += tl.dot(a, b)"

UPCASTS = {
    "at the product": product(
        replaced(PRODUCT, (DOT, "acc += tl.dot(a.to(tl.float32), b.to(tl.float32))"))
    ),
    "by tl.cast": product(
        replaced(PRODUCT, (DOT, "acc = tl.dot(tl.cast(a, tl.float32), b.to(tl.float32), acc)"))
    ),
    "in the load": product(
        replaced(
            PRODUCT,
            (
                "rk[None, :] < K - k * TK), other=0.0)",
                "rk[None, :] < K - k * TK), other=0.0).to(tl.float32)",
            ),
            (
                "rn[None, :] < N), other=0.0)\n        acc",
                "rn[None, :] < N), other=0.0).to(tl.float32)\n        acc",
            ),
        )
    ),
    "in lines of their own": product(
        replaced(
            PRODUCT,
            (
                DOT,
                (
                    "a = a.to(tl.float32)  # widen\n"
                    "        wide = b.to(tl.float32)\n"
                    "        acc += tl.dot(a, wide)"
                ),
            ),
        )
    ),
    "copy needed elsewhere": product(
        replaced(
            PRODUCT,
            (
                DOT,
                (
                    "a = a.to(tl.float32)\n"
                    "        b = b.to(tl.float32)\n"
                    "        acc += tl.dot(a, b) + tl.sum(a, 1)[:, None]"
                ),
            ),
        )
    ),
    "computed operand": Sample(
        HEADER
        + replaced(
            PRODUCT,
            (DOT, "p = tl.exp(a.to(tl.float32) * 0.1)\n        acc += tl.dot(p, b.to(tl.float32))"),
        )
        + model(MULTIPLY),
        EVEN,
        (EVEN,),
        tolerance=4e-3,
    ),
    "transposed operand": product(
        replaced(
            PRODUCT,
            (
                DOT,
                (
                    "bt = tl.trans(b).to(tl.float32)\n"
                    "        acc += tl.dot(a.to(tl.float32), tl.trans(bt))"
                ),
            ),
        )
    ),
}

GROUPINGS = {
    "one axis each": product(),
    "columns first": product(
        replaced(
            PRODUCT,
            ("program_id(0)", "program_id(axis=1)"),
            ("col = tl.program_id(1)", "col = tl.program_id(0)"),
        ),
        replaced(
            MULTIPLY,
            (
                "(triton.cdiv(M, 32), triton.cdiv(N, 16))",
                "(triton.cdiv(N, 16), triton.cdiv(M, 32))",
            ),
        ),
    ),
    "grid from a lambda": product(
        forward=replaced(
            MULTIPLY,
            (
                "grid = (triton.cdiv(M, 32), triton.cdiv(N, 16))",
                'grid = lambda meta: (triton.cdiv(M, meta["TM"]), triton.cdiv(N, meta["TN"]))',
            ),
        )
    ),
    "row by row": product(
        replaced(
            PRODUCT,
            (
                "    row = tl.program_id(0)\n    col = tl.program_id(1)\n",
                (
                    "    pid = tl.program_id(0)\n"
                    "    row = pid // tl.cdiv(N, TN)\n"
                    "    col = pid % tl.cdiv(N, TN)\n"
                ),
            ),
        ),
        replaced(
            MULTIPLY,
            (
                "(triton.cdiv(M, 32), triton.cdiv(N, 16))",
                "(triton.cdiv(M, 32) * triton.cdiv(N, 16),)",
            ),
        ),
    ),
    "grid that says nothing": product(
        forward=replaced(
            MULTIPLY,
            (
                "grid = (triton.cdiv(M, 32), triton.cdiv(N, 16))",
                "rows, cols = triton.cdiv(M, 32), triton.cdiv(N, 16)\ngrid = tuple([rows, cols])",
            ),
        )
    ),
    "batched third axis": Sample(
        HEADER
        + replaced(
            PRODUCT,
            (
                "    stride_cn,\n",
                "    stride_cn,\n    stride_ab,\n    stride_bb,\n    stride_cb,\n",
            ),
            (
                "    rm = row",
                (
                    "    batch = tl.program_id(2)\n"
                    "    a_ptr += batch * stride_ab\n"
                    "    b_ptr += batch * stride_bb\n"
                    "    c_ptr += batch * stride_cb\n"
                    "    rm = row"
                ),
            ),
        )
        + model("""
            B, M, K = x.shape
            N = w.shape[2]
            c = torch.empty((B, M, N), device=x.device, dtype=x.dtype)
            grid = (triton.cdiv(M, 32), triton.cdiv(N, 16), B)
            product_kernel[grid](
                x, w, c, M, N, K,
                x.stride(1), x.stride(2), w.stride(1), w.stride(2), c.stride(1), c.stride(2),
                x.stride(0), w.stride(0), c.stride(0), TM=32, TN=16, TK=16,
            )
            return c
        """),
        ((2, 64, 48), (2, 48, 32)),
        (((2, 64, 48), (2, 48, 32)), ((3, 45, 37), (3, 37, 41))),
    ),
}

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
                        "shift_kernel[(triton.cdiv(out.numel(), 64),)](out, last, out.numel(), B=64)\n"
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

TOTAL = """@triton.jit
def total_kernel(x_ptr, w_ptr, y_ptr, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BC,), dtype=tl.float32)
    for start in range(0, rows, BR):
        r = start + tl.arange(0, BR)
        at = r[:, None] * cols + c[None, :]
        ok = (r[:, None] < rows) & (c[None, :] < cols)
        acc += tl.sum(tl.load(x_ptr + at, mask=ok, other=0.0).to(tl.float32), 0)
        acc += tl.sum(tl.load(x_ptr + at, mask=ok, other=0.0) * tl.load(w_ptr + at, ok, 0.0), 0)
    tl.store(y_ptr + c, acc, mask=c < cols)


"""
SUMMED = """
rows, cols = x.shape
y = torch.zeros(cols, device=x.device, dtype=x.dtype)
total_kernel[(triton.cdiv(cols, 16),)](x, w, y, rows, cols, BR=8, BC=16)
return y
"""
SQUARE = ((16, 32), (16, 32))
CROOKED = ((13, 27), (13, 27))
MASKS = {
    "product": product(),
    "grouped product": product(
        GROUPINGS["row by row"].source.split("class Model")[0].removeprefix(HEADER),
        replaced(
            MULTIPLY,
            (
                "(triton.cdiv(M, 32), triton.cdiv(N, 16))",
                "(triton.cdiv(M, 32) * triton.cdiv(N, 16),)",
            ),
        ),
    ),
    "reduction": Sample(HEADER + TOTAL + model(SUMMED), SQUARE, (SQUARE, CROOKED)),
    "autotuned": product(
        "@triton.autotune(configs=[triton.Config({'TM': 32, 'TN': 16})], key=['M'])\n" + PRODUCT,
        replaced(
            MULTIPLY,
            (
                "grid = (triton.cdiv(M, 32), triton.cdiv(N, 16))",
                "grid = lambda meta: (triton.cdiv(M, meta['TM']), triton.cdiv(N, meta['TN']))",
            ),
            ("TM=32, TN=16, ", ""),
        ),
    ),
}

TURNED = (
    replaced(MULTIPLY, ("N = w.shape[1]", "w = w.t().contiguous()\nN = w.shape[1]"))
    .replace("w = w.t().contiguous()", "right = w.t().contiguous()")
    .replace("w.shape[1]", "right.shape[1]")
    .replace("(x, w, c", "(x, right, c")
    .replace("w.stride", "right.stride")
)
HOSTS = {
    "transposed copy": Sample(
        HEADER + PRODUCT + model(TURNED),
        ((64, 48), (32, 48)),
        (((64, 48), (32, 48)), ((45, 37), (41, 37))),
    ),
    "zeros, cast and synchronisation": Sample(
        HEADER
        + TOTAL
        + model(
            replaced(
                SUMMED,
                (
                    "rows, cols = x.shape",
                    "w = w.to(x.dtype)\nx, w = x.half(), w\nrows, cols = x.shape",
                ),
                (
                    "return y",
                    (
                        "if torch.cuda.is_available():\n"
                        "    torch.cuda.synchronize()\n"
                        "return y.contiguous()"
                    ),
                ),
            )
        ),
        SQUARE,
        (SQUARE, CROOKED),
    ),
    "zeros of a product": product(forward=replaced(MULTIPLY, ("torch.empty", "torch.zeros"))),
}

WIDE = {
    "accumulator": Sample(
        HEADER
        + replaced(
            TOTAL,
            ("tl.zeros((BC,), dtype=tl.float32)", "tl.zeros((BC,), dtype=tl.float64)"),
            (".to(tl.float32)", ".to(tl.float64)"),
        )
        + model(replaced(SUMMED, ("return y", "return y.double().to(x.dtype)"))),
        SQUARE,
        (SQUARE, CROOKED),
        tolerance=1e-3,
    ),
}

ALL = {
    "drop_fp32_upcast": UPCASTS,
    "group_program_order": GROUPINGS,
    "fuse_elementwise": CHAINS,
    "fuse_epilogue": EPILOGUES,
    "drop_masks": MASKS,
    "hoist_host_work": HOSTS,
    "drop_float64": WIDE,
}
