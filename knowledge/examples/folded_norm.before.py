"""Normalises with four vectors in the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def norm(x_ptr, m_ptr, v_ptr, g_ptr, s_ptr, y_ptr, COLS, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, COLS, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        inside = cols < COLS
        mean = tl.load(m_ptr + cols, mask=inside)
        var = tl.load(v_ptr + cols, mask=inside, other=1.0)
        gain = tl.load(g_ptr + cols, mask=inside)
        shift = tl.load(s_ptr + cols, mask=inside)
        x = tl.load(x_ptr + row * COLS + cols, mask=inside)
        y = (x - mean) / tl.sqrt(var + 1e-5) * gain + shift
        tl.store(y_ptr + row * COLS + cols, y, mask=inside)


def run(x, mean, var, gain, shift):
    y = torch.empty_like(x)
    norm[(x.shape[0],)](x, mean, var, gain, shift, y, x.shape[1], BLOCK=1024)
    return y
