"""Pads rows and columns on the host, so that no check is needed."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, y_ptr, ROWS, COLS, BLOCK: tl.constexpr):
    at = (tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK)
    x_block = tl.make_block_ptr(x_ptr, (ROWS, COLS), (COLS, 1), at, (BLOCK, BLOCK), (1, 0))
    y_block = tl.make_block_ptr(y_ptr, (ROWS, COLS), (COLS, 1), at, (BLOCK, BLOCK), (1, 0))
    tl.store(y_block, tl.load(x_block) * 2.0)


def run(x):
    rows, cols = x.shape
    padded = torch.nn.functional.pad(x, (0, -cols % 64, 0, -rows % 64))
    y = torch.empty_like(padded)
    grid = (padded.shape[0] // 64, padded.shape[1] // 64)
    double[grid](padded, y, padded.shape[0], padded.shape[1], BLOCK=64)
    return y[:rows, :cols].contiguous()
