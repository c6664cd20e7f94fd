"""Reductions and host work, and all samples by recipe."""

from tests.xeforge.propose.samples import GROUPINGS
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import MULTIPLY
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import UPCASTS
from tests.xeforge.propose.samples import Sample
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import product
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_flat import CHAINS
from tests.xeforge.propose.samples_flat import EPILOGUES

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

NORM = """@triton.jit
def norm_kernel(x_ptr, w_ptr, y_ptr, n, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, n, B):
        offs = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
        total += x * x
    scale = 1.0 / tl.sqrt(tl.sum(total, 0) / n + 1e-3)
    for start in range(0, n, B):
        offs = start + tl.arange(0, B)
        x = tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
        w = tl.load(w_ptr + row * n + offs, mask=offs < n, other=0.0)
        tl.store(y_ptr + row * n + offs, x * scale * w, mask=offs < n)


"""
NORMED = """
rows, n = x.shape
y = torch.empty_like(x)
norm_kernel[(rows,)](x, w, y, n, B=16)
return y
"""
ROWS = {
    "norm": Sample(
        HEADER + NORM + model(NORMED),
        SQUARE,
        (SQUARE, CROOKED, ((3, 64), (3, 64)), ((3, 77), (3, 77))),
        tolerance=2e-3,
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
    "whole_rows": ROWS,
}
