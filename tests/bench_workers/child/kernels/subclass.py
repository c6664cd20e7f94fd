import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = at < n
    x = tl.load(x_ptr + at, mask=keep)
    y = tl.load(y_ptr + at, mask=keep)
    tl.store(out_ptr + at, x + y, mask=keep)


class Shown(torch.Tensor):
    """Holds one thing; could show another."""


class Model(torch.nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        add_kernel[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256)
        return out.as_subclass(Shown)
