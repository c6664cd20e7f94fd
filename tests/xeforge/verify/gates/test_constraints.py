"""The knowledge packs' rules are asked of every launch, kernel and call of a candidate."""

from dataclasses import replace

import pytest

from knowledge.load import find_device
from xeforge.source.facts import read_facts
from xeforge.verify.gates import constraints
from xeforge.verify.gates.constraints import judged
from xeforge.verify.gates.sites import sites_of
from xeforge.verify.reading import GateContext

KERNEL = """
import torch
import triton
import triton.language as tl

{decorator}
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
            BLOCK_K: tl.constexpr):
    rows = tl.program_id({axis}) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a = tl.load(a_ptr + rows[:, None] * K + depth[None, :]{load})
    b = tl.load(b_ptr + depth[:, None] * N + cols[None, :])
    c = tl.dot(a, b{dot})
    {store}


class Model(torch.nn.Module):
    def forward(self, x):
        product[(1, 1)](x, x, x, 64, 64, 64, {launch})
        return x
"""
SIZES = "BLOCK_M=64, BLOCK_N=64, BLOCK_K=32"
STORE = "tl.store(c_ptr + rows[:, None] * N + cols[None, :], c{store})"


def source(**changes) -> str:
    given = {"decorator": "", "axis": 0, "load": "", "dot": "", "store": STORE.format(store="")}
    given |= {"launch": SIZES, **changes}
    return KERNEL.format(**given)


@pytest.fixture
def refused(make):
    """Return a function that says which rules refuse a source on a device, with their lines."""

    def ask(text: str, device: str = "nvidia-h200") -> list[tuple[str, int]]:
        problem = make.problem(kernel=text)
        found = constraints.inspect(GateContext.of(problem, text, find_device(device)))
        return [
            (each.message.rpartition(" (")[2].partition(",")[0], each.line)
            for each in found
            if not each.passed
        ]

    return ask


def line_of(text: str, words: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), start=1) if words in line)


@pytest.mark.parametrize("device", ["nvidia-h200", "nvidia-a100", "intel-b580", "amd-mi300x"])
def test_an_honest_kernel_passes_everywhere(refused, device):
    assert refused(source(), device) == []


@pytest.mark.parametrize(
    ("changes", "device", "rule", "place"),
    [
        ({"axis": 3}, "nvidia-h200", "triton.grids_have_three_axes", "program_id(3)"),
        (
            {"load": ", cache_modifier='.cs'"},
            "nvidia-h200",
            "triton.load_cache_modifiers",
            "cache_modifier",
        ),
        ({"load": ", other=0.0"}, "nvidia-h200", "triton.other_needs_a_mask", "other"),
        (
            {"load": ", boundary_check=(0,)"},
            "intel-b580",
            "triton.pointer_loads_take_no_boundary_check",
            "boundary_check",
        ),
        (
            {"load": ", eviction_policy='keep'"},
            "amd-mi300x",
            "triton.load_eviction_policies",
            "eviction_policy",
        ),
        (
            {"store": STORE.format(store=", cache_modifier='.ca'")},
            "nvidia-h200",
            "triton.store_cache_modifiers",
            ".ca",
        ),
        (
            {"store": "tl.atomic_add(c_ptr + rows[:, None] * N + cols[None, :], c, sem='seq_cst')"},
            "nvidia-h200",
            "triton.memory_orders",
            "seq_cst",
        ),
        (
            {"dot": ", input_precision='tf32x3'"},
            "amd-mi300x",
            "triton.dot_precision_the_device_has",
            "tf32x3",
        ),
        (
            {"dot": ", out_dtype=tl.bfloat16"},
            "nvidia-h200",
            "triton.dot_has_no_bfloat16_result",
            "bfloat16",
        ),
        (
            {"launch": f"{SIZES}, num_ctas=2"},
            "nvidia-a100",
            "nvidia_rules.clusters_need_hopper",
            "num_ctas",
        ),
        ({"launch": f"{SIZES}, num_ctas=2"}, "intel-b580", "intel_rules.no_clusters", "num_ctas"),
        (
            {"launch": f"{SIZES}, num_warps=64, grf_mode='256'"},
            "intel-b580",
            "intel_rules.large_registers_need_few_warps",
            "grf_mode",
        ),
        (
            {"launch": f"{SIZES}, grf_mode='large'"},
            "intel-b580",
            "intel_rules.register_mode_names",
            "grf_mode",
        ),
        (
            {"launch": f"{SIZES}, grf_mode='256'"},
            "nvidia-h200",
            "triton.options_the_backend_has",
            "grf_mode",
        ),
        (
            {"launch": f"{SIZES}, maxnreg=128"},
            "intel-b580",
            "triton.maxnreg_where_it_exists",
            "maxnreg",
        ),
        (
            {"launch": f"{SIZES}, num_warps=32"},
            "amd-mi300x",
            "amd_rules.sixteen_wavefronts",
            "num_warps",
        ),
    ],
)
def test_what_the_device_or_triton_cannot_have_is_refused(refused, changes, device, rule, place):
    text = source(**changes)
    assert refused(text, device) == [(rule, line_of(text, place))]


def test_what_is_right_on_one_device_may_be_refused_on_another(refused):
    text = source(launch=f"{SIZES}, num_ctas=2")
    assert refused(text, "nvidia-h200") == []
    assert refused(text, "nvidia-l4") != []


def test_one_legal_configuration_is_enough(refused):
    configs = (
        "@triton.autotune(configs=[triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32}, "
        "num_ctas=%d), triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32}, num_ctas=2)], "
        "key=['M'])"
    )
    assert refused(source(decorator=configs % 1, launch=""), "nvidia-a100") == []
    assert refused(source(decorator=configs % 4, launch=""), "nvidia-a100") != []


def test_block_pointers_have_their_own_rules(refused):
    text = source(
        store=(
            "at = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (0, 0), (BLOCK_M, BLOCK_N), (1, 0)); "
            "tl.store(at, c, mask=rows[:, None] < M)"
        )
    )
    assert [rule for rule, _ in refused(text)] == ["triton.block_stores_take_no_mask"]


def test_descriptors_have_their_own_rules(refused):
    text = source(store="at = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 2], [BLOCK_M, BLOCK_N])")
    assert [rule for rule, _ in refused(text)] == ["triton.descriptor_last_stride"]


def test_what_only_wastes_time_is_told(make):
    text = source(
        store="tl.atomic_add(c_ptr + rows[:, None] * N + cols[None, :], c)",
    )
    (finding,) = constraints.inspect(
        GateContext.of(make.problem(kernel=text), text, find_device("nvidia-h200"))
    )
    assert finding.passed
    assert "triton.sums_need_no_order" in finding.message


def test_a_rule_without_its_number_is_not_judged_and_says_so(make):
    text = source(dot=", input_precision='tf32'")
    rules = [
        replace(each, when="known(input_precision)")
        for each in find_device("nvidia-h200").constraints
        if each.id == "triton.dot_precision_the_device_has"
    ]
    device = replace(find_device("nvidia-h200"), triton=None, constraints=tuple(rules))
    (finding,) = constraints.inspect(GateContext.of(make.problem(kernel=text), text, device))
    assert finding.passed
    assert "not judged: device.dot_precisions is not known" in finding.message


def test_values_computed_at_run_time_are_not_guessed():
    text = source(launch=f"{SIZES}, num_ctas=x.shape[0], num_warps=x.shape[1]")
    device = find_device("nvidia-a100")
    sites = sites_of(read_facts(text, "k.py"), device)
    (launch,) = [each for each in sites if each.scope == "launch"]
    assert launch.facts["num_ctas"] is None
    assert launch.facts["num_warps"] is None
    found = {each.constraint.id: each.holds for each in judged(device.constraints, sites)}
    assert found["nvidia_rules.clusters_need_hopper"] is None


def test_a_device_without_rules_refuses_nothing(make):
    text = source(axis=3)
    device = replace(find_device("nvidia-h200"), constraints=())
    (finding,) = constraints.inspect(GateContext.of(make.problem(kernel=text), text, device))
    assert finding.passed
