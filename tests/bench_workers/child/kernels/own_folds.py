import torch
import triton
import triton.language as tl


@triton.jit
def _maximum(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _moments(n, mean, square, m, other, rest):
    total = n + m
    delta = other - mean
    share = m / total
    return total, mean + delta * share, square + rest + delta * delta * n * share


@triton.jit
def rows(x_ptr, most_ptr, mean_ptr, square_ptr, all_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    row = tl.arange(0, ROWS)
    tl.store(most_ptr + row, tl.reduce(x, 1, _maximum))
    one = tl.full((ROWS, COLUMNS), 1.0, tl.float32)
    _, mean, square = tl.reduce((one, x, x * 0.0), 1, _moments)
    tl.store(mean_ptr + row, mean)
    tl.store(square_ptr + row, square)
    kept = tl.reduce(x, 0, _maximum, keep_dims=True)
    tl.store(all_ptr, tl.reduce(kept, None, _maximum))


def folded(x):
    count, width = x.shape
    most, mean, square = (torch.empty(count) for _ in range(3))
    everything = torch.empty(())
    rows[(1,)](x, most, mean, square, everything, ROWS=count, COLUMNS=width)
    return most, mean, square, everything
