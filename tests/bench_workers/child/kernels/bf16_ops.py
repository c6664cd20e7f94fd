import torch
import triton
import triton.language as tl


@triton.jit
def elementwise_kernel(x_ptr, y_ptr, out_ptr, OP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.load(y_ptr + at)
    if OP == "add":
        z = x + y
    elif OP == "twice":
        z = x * 2
    elif OP == "divide":
        z = (x / y).to(tl.bfloat16)
    elif OP == "abs":
        z = tl.abs(x)
    elif OP == "negate":
        z = -x
    elif OP == "maximum":
        z = tl.maximum(x, y)
    elif OP == "where":
        z = tl.where(x > y, x, y)
    elif OP == "exp":
        z = tl.exp(x.to(tl.float32)).to(tl.bfloat16)
    elif OP == "to_half":
        z = x.to(tl.float16).to(tl.bfloat16)
    elif OP == "to_int":
        z = (x * 10).to(tl.int32).to(tl.bfloat16)
    elif OP == "bits":
        z = x.to(tl.int16, bitcast=True).to(tl.bfloat16, bitcast=True)
    elif OP == "constant":
        z = tl.full((BLOCK,), 0.1, tl.bfloat16) + x
    elif OP == "zeros":
        z = tl.zeros((BLOCK,), tl.bfloat16) + y
    tl.store(out_ptr + at, z)


@triton.jit
def reduce_kernel(x_ptr, out_ptr, OP: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows, cols = tl.arange(0, ROWS), tl.arange(0, COLS)
    x = tl.load(x_ptr + rows[:, None] * COLS + cols[None, :])
    if OP == "sum":
        value = tl.sum(x, axis=1)
    elif OP == "max":
        value = tl.max(x, axis=1)
    elif OP == "argmax":
        value = tl.argmax(x, axis=1)
    elif OP == "cumsum":
        value = tl.sum(tl.cumsum(x.to(tl.float32), axis=1), axis=1)
    tl.store(out_ptr + rows, value)


@triton.jit
def dot_kernel(a_ptr, b_ptr, out_ptr, CAST: tl.constexpr, N: tl.constexpr):
    rows, cols = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    a, b = tl.load(a_ptr + rows * N + cols), tl.load(b_ptr + rows * N + cols)
    if CAST:
        a, b = a.to(tl.bfloat16), b.to(tl.bfloat16)
    c = tl.dot(a, tl.trans(b), tl.zeros((N, N), tl.float32))
    tl.store(out_ptr + rows * N + cols, c.to(tl.bfloat16))


@triton.jit
def atomic_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(out_ptr + tl.arange(0, BLOCK) % 4, x)


@triton.jit
def masked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=-1.5)
    tl.store(out_ptr + at, x)


def elementwise(op, x, y):
    out = torch.empty_like(x)
    elementwise_kernel[(1,)](x, y, out, OP=op, BLOCK=x.numel())
    return out


def reduce(op, x, dtype):
    out = torch.empty(x.shape[0], dtype=dtype)
    reduce_kernel[(1,)](x, out, OP=op, ROWS=x.shape[0], COLS=x.shape[1])
    return out


def dot(a, b, cast):
    out = torch.empty(a.shape, dtype=torch.bfloat16)
    dot_kernel[(1,)](a, b, out, CAST=cast, N=a.shape[0])
    return out
