"""Autotuned matrix product: one configuration cannot compile, one is pruned; heuristics inside."""

import torch
import triton
import triton.language as tl


def prune(configs, named_args, **kwargs):
    return [each for each in configs if each.kwargs["BM"] <= named_args["M"]]


CONFIGS = [
    triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=2),
    triton.Config({"BM": 32, "BN": 48, "BK": 32}, num_warps=4, num_stages=2),
    triton.Config({"BM": 128, "BN": 64, "BK": 32}, num_warps=8, num_stages=2),
    triton.Config({"BM": 64, "BN": 128, "BK": 32}, num_warps=8, num_stages=2),
    triton.Config({"BM": 1 << 20, "BN": 64, "BK": 32}, num_warps=8, num_stages=2),
]


@triton.autotune(CONFIGS, key=["M"], prune_configs_by={"early_config_prune": prune})
@triton.heuristics({"EVEN": lambda given: given["K"] % given["BK"] == 0})
@triton.jit
def matmul(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EVEN: tl.constexpr,
):  # fmt: skip
    tl.static_assert(BN % 32 == 0, "BN must be a multiple of 32")
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        rk = start + tl.arange(0, BK)
        if EVEN:
            left = tl.load(a + rm[:, None] * K + rk[None, :])
            right = tl.load(b + rk[:, None] * N + rn[None, :])
        else:
            left = tl.load(a + rm[:, None] * K + rk[None, :], mask=rk[None, :] < K, other=0.0)
            right = tl.load(b + rk[:, None] * N + rn[None, :], mask=rk[:, None] < K, other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16))


class Model(torch.nn.Module):
    def forward(self, x, y):
        (m, k), n = x.shape, y.shape[1]
        z = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
        matmul[lambda meta: (m // meta["BM"], n // meta["BN"])](x, y, z, m, n, k)
        return z
