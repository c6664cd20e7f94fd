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
