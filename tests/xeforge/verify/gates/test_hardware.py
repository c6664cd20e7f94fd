"""Settings the device cannot have are refused before the compiler is asked."""

import pytest

from xeforge.domain.verdict import Reason

PRODUCT = """
import torch
import triton
import triton.language as tl

STAGES = 3

{decorator}
@triton.jit
def mm(a_ptr, b_ptr, c_ptr, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
       BLOCK_K: tl.constexpr = 32):
    m = tl.arange(0, BLOCK_M)
    k = tl.arange(0, BLOCK_K)
    a = tl.load(a_ptr + m[:, None] + k[None, :])
    b = tl.load(b_ptr + k[:, None] + tl.arange(0, BLOCK_N)[None, :])
    tl.store(c_ptr, tl.dot(a, b))


class Model(torch.nn.Module):
    def forward(self, x):
        mm[(1,)](x, x, x, 1, {arguments})
        return x
"""


def product(ask, arguments, decorator="", **more):
    source = PRODUCT.format(arguments=arguments, decorator=decorator)
    found = ask(source=source, kernel=source, **more)
    assert all(each.check == "hardware" for each in found)
    assert all(each.reason == Reason.RESOURCE_LIMIT for each in found)
    return [each.message for each in found]


def tuned(*configs):
    texts = ", ".join(
        f"triton.Config({{'BLOCK_M': {m}, 'BLOCK_N': {n}, 'BLOCK_K': {k}}}, num_warps={warps}, "
        f"num_stages={stages})"
        for m, n, k, warps, stages in configs
    )
    return f"@triton.autotune(configs=[{texts}], key=['n'])"


def test_legal_launch_passes(ask):
    assert product(ask, "BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=8, num_stages=3") == []


@pytest.mark.parametrize("warps", [3, 64])
def test_illegal_warps_are_named_with_the_legal_ones(ask, warps):
    (text,) = product(ask, f"BLOCK_M=16, BLOCK_N=16, num_warps={warps}")
    assert text == f"mm: num_warps={warps} is not legal on test-gpu (1, 2, 4, 8, 16, 32)"


def test_threads_of_a_group_are_counted(make, ask):
    device = make.changed_device(num_warps=(), threads_per_group=512)
    (text,) = product(ask, "BLOCK_M=16, BLOCK_N=16, num_warps=32", device=device)
    assert text == "mm: num_warps=32 with 32 lanes each makes 1024 threads, test-gpu allows 512"
    wide = make.changed_device(num_warps=(), compile_target=None, lane_counts=(16, 32))
    assert product(ask, "BLOCK_M=16, BLOCK_N=16, num_warps=64", device=wide) == []
    bare = make.changed_device(num_warps=(), compile_target=None, lane_counts=())
    assert product(ask, "BLOCK_M=16, BLOCK_N=16, num_warps=64", device=bare) == []
    unknown = make.changed_device(num_warps=(), threads_per_group=None)
    assert product(ask, "BLOCK_M=16, BLOCK_N=16, num_warps=99", device=unknown) == []


def test_blocks_are_powers_of_two(ask):
    (text,) = product(ask, "BLOCK_M=48, BLOCK_N=16")
    assert text == "mm: BLOCK_M=48 is the length of tl.arange and must be a power of two"
    assert product(ask, "BLOCK_M=rows, BLOCK_N=16") == []


def test_literal_aranges_are_powers_of_two(ask, kernel):
    (found,) = ask(("tl.arange(0, BLOCK)", "tl.arange(0, 100)"))
    assert found.message == "add_kernel: tl.arange(0, 100) must be a power of two long"
    assert found.line == kernel[: kernel.index("tl.arange")].count("\n") + 1
    assert ask(("tl.arange(0, BLOCK)", "tl.arange(0, 128)")) == []
    assert ask(("tl.arange(0, BLOCK)", "tl.arange(start, 100)")) == []


def test_tiles_that_cannot_fit_are_refused(make, ask):
    (text,) = product(ask, "BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, num_stages=5, num_warps=8")
    assert text == (
        "mm: tiles of 256x256x64 in 5 stages need at least 262,144 bytes on chip, test-gpu has "
        "232,448"
    )
    unknown = make.changed_device(shared_bytes_per_group=None)
    given = "BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, num_stages=5"
    assert product(ask, given, device=unknown) == []
    assert product(ask, "BLOCK_M=256, BLOCK_N=256, BLOCK_K=64") == []


def test_operand_size_comes_from_the_inputs(make, ask):
    wide = make.workload(inputs=(make.tensor(dtype="float32"), make.tensor(dtype="int64")))
    given = "BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, num_stages=3"
    assert product(ask, given) == []
    assert len(product(ask, given, workloads=(wide,))) == 1
    file = make.workload(inputs=(), from_file=True)
    assert product(ask, given, workloads=(file,)) == []


def test_named_constants_and_defaults_count(ask):
    given = "BLOCK_M=256, BLOCK_N=2048, num_stages=STAGES"
    (text,) = product(ask, given)
    assert "tiles of 256x2048x32 in 3 stages" in text


def test_positional_settings_count(ask):
    (text,) = product(ask, "48, 16")
    assert "BLOCK_M=48" in text


def test_one_legal_configuration_is_enough(ask):
    good, bad = (64, 64, 32, 4, 3), (256, 256, 64, 8, 5)
    assert product(ask, "", tuned(bad, good)) == []
    assert len(product(ask, "", tuned(bad, bad))) == 2
    assert product(ask, "", tuned(good)) == []


def test_kernel_that_is_never_launched_is_left_alone(ask):
    source = PRODUCT.format(arguments="BLOCK_M=16, BLOCK_N=16", decorator="")
    spare = source.replace(
        "class Model", "@triton.jit\ndef spare(x, B: tl.constexpr):\n    pass\n\n\nclass Model"
    )
    assert ask(source=spare, kernel=source) == []
