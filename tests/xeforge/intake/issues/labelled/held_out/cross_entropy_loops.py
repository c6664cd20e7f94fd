# issues: reduction_tree_suboptimal 20; loop_invariant_code 25; unfused_reduction 37
"""Losses of rows: the maximum is reduced in each turn, the label is read in the loop."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def losses(logits, labels, out, n_classes, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = logits + row * n_classes
    peak = float("-inf")
    for c in range(0, n_classes, BLOCK):
        cols = c + tl.arange(0, BLOCK)
        v = tl.load(
            base + cols, mask=cols < n_classes, other=float("-inf"), eviction_policy="evict_last"
        )
        peak = tl.maximum(peak, tl.max(v, axis=0))
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    hit = tl.zeros((BLOCK,), dtype=tl.float32)
    for c in range(0, n_classes, BLOCK):
        cols = c + tl.arange(0, BLOCK)
        label = tl.load(labels + row)
        v = tl.load(base + cols, mask=cols < n_classes, other=float("-inf"))
        acc += tl.exp(v - peak)
        hit += tl.where(cols == label, v, 0.0)
    tl.store(out + row, tl.log(tl.sum(acc, axis=0)) + peak - tl.sum(hit, axis=0))


class Model(nn.Module):
    def forward(self, logits, labels):
        n, c = logits.shape
        out = torch.empty(n, device=logits.device, dtype=torch.float32)
        losses[(n,)](logits, labels, out, c, BLOCK=min(8192, triton.next_power_of_2(c)))
        return out.mean()
