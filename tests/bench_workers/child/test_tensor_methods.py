"""Functions of Triton's mathematics work as methods in the interpreter, too."""

KERNEL = """
import triton
import triton.language as tl


@triton.jit
def methods(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=1.0)
    y = x.exp().log().abs().sqrt() + tl.exp(x).log() + x.sum()
    tl.store(y_ptr + offs, y, mask=offs < n)
"""


def test_methods_give_what_functions_give(interpreter):
    answer = interpreter(
        f"""
from pathlib import Path
import loading
kernel = loading.load("methods", {KERNEL!r}, Path.cwd()).module.methods
x = torch.tensor([0.25, 1.0, 2.25, 4.0])
y = torch.empty_like(x)
kernel[(1,)](x, y, 4, BLOCK=4)
answer["far"] = float((y - (x.sqrt() + x + x.sum())).abs().max())
"""
    )
    assert answer["far"] < 1e-5
