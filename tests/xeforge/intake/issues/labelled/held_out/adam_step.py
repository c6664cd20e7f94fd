# issues: missing_autotune 31
"""One kernel for the whole step: a root and two quotients, each once."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def adam(p_ptr, g_ptr, m_ptr, v_ptr, lr, b1, b2, eps, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    g = tl.load(g_ptr + i, mask=ok)
    m = b1 * tl.load(m_ptr + i, mask=ok) + (1 - b1) * g
    v = b2 * tl.load(v_ptr + i, mask=ok) + (1 - b2) * g * g
    p = tl.load(p_ptr + i, mask=ok)
    tl.store(p_ptr + i, p - lr * m / (tl.sqrt(v) + eps), mask=ok)
    tl.store(m_ptr + i, m, mask=ok)
    tl.store(v_ptr + i, v, mask=ok)


class Model(nn.Module):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr

    def forward(self, p, g, m, v):
        p, m, v = p.clone(), m.clone(), v.clone()
        n = p.numel()
        adam[(triton.cdiv(n, 2048),)](p, g, m, v, self.lr, 0.9, 0.999, 1e-8, n, BLOCK=2048)
        return p, m, v
