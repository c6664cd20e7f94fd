"""Launches described in the normal environment, and lowered where the second one is."""

import dataclasses
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from bench_workers.host import lowering
from bench_workers.sandbox.launch import Child
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy
from knowledge.load import find_device
from xeforge.domain.lowering import Strength
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.errors import BadRequest
from xeforge.errors import CandidateDied
from xeforge.errors import PlatformError
from xeforge.errors import ToolchainMissing

SOURCES = Path(__file__).parent / "launched"
B580 = find_device("intel-b580")
DESCRIBED = {"kernel": "k", "workload": "w", "constants": {"BLOCK": "64"}}
REFUSED = {"refused": "no such thing", "lowered": None, "native": None}


def workload(name: str = "bench[0]", side: int = 4096) -> Workload:
    inputs = tuple(TensorSpec(f"x{i}", (side, side), "float16") for i in range(2))
    return Workload(name, "bench", inputs, (), "float16", {})


@pytest.fixture(scope="module")
def first() -> Iterator[Child]:
    with launch("build", default_policy("cpu", layer=best_layer(), threads=1)) as started:
        yield started


@pytest.fixture(scope="module")
def described(first: Child) -> dict:
    payload = {
        "source": (SOURCES / "intel.py").read_text(encoding="utf-8"),
        "workloads": [dataclasses.asdict(workload()), dataclasses.asdict(workload("bench[1]"))],
        "target": {"backend": "xpu", "arch": lowering.declared_properties(B580), "warp_size": 16},
    }
    return first.request("describe", payload, deadline_seconds=100)


def test_every_distinct_launch_is_described_once(described: dict) -> None:
    assert (described["message"], described["skipped"]) == ("", [])
    kernels = [each["kernel"] for each in described["reports"]]
    assert kernels == ["by_blocks", "by_pointers", "by_pointers", "by_descriptor", "by_blocks"]
    assert {each["workload"] for each in described["reports"]} == {"bench[0]"}


def test_a_launch_says_types_constants_divisibility_and_options(described: dict) -> None:
    blocks, odd = described["reports"][0], described["reports"][-1]
    assert blocks["options"] == {"num_warps": 32, "grf_mode": "256"}
    assert blocks["constants"] == {"BM": "128", "BN": "128", "BK": "32"}
    assert blocks["arguments"][:2] == [
        {"name": "a", "type": "*fp16", "by_16": True},
        {"name": "b", "type": "*fp16", "by_16": True},
    ]
    assert blocks["arguments"][6] == {"name": "BM", "type": "constexpr", "value": 128}
    assert [each["type"] for each in odd["arguments"][:3]] == ["*fp32", "*fp32", "*fp16"]
    assert odd["arguments"][4] == {"name": "N", "type": "constexpr", "value": 1}
    assert odd["arguments"][5] == {"name": "K", "type": "i32", "by_16": False}


def test_a_launch_brings_along_what_its_names_stand_for(described: dict) -> None:
    blocks = described["reports"][0]
    assert [each["name"] for each in blocks["functions"]] == ["by_blocks", "bent"]
    assert blocks["functions"][1]["source"].startswith("def bent(x, FACTOR: tl.constexpr = SCALE)")
    assert blocks["names"] == {
        "tl": {"module": "triton.language"},
        "bent": {"function": "bent"},
        "OUT": {"dtype": "fp16"},
        "libdevice": {"module": "triton.language.extra.libdevice"},
        "SCALE": {"value": 0.5},
    }


def test_a_missing_environment_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(ToolchainMissing, match="make intel-check"):
        lowering.second_policy(default_policy("cpu", layer="bare"), tmp_path)


def test_the_second_environment_brings_its_own_interpreter_and_packages(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text("")
    (tmp_path / "lib/python3.11/site-packages/triton_xpu-3.3.0b1.dist-info").mkdir(parents=True)
    (tmp_path / "pyvenv.cfg").write_text("home = /opt/python/bin\nversion = 3.11.7\n")
    policy = lowering.second_policy(default_policy("cpu", layer="bare"), tmp_path)
    assert policy.python == tmp_path / "bin" / "python"
    assert {tmp_path, Path("/opt/python")} <= set(policy.readable)
    assert policy.search_paths == ()


def test_only_devices_with_declared_properties_are_lowered_for() -> None:
    with pytest.raises(BadRequest, match="nvidia-h200"):
        lowering.declared_properties(find_device("nvidia-h200"))


class Dies:
    """A second environment's child that dies at its first request, and counts its ends."""

    closed = 0
    directory = Path()

    def request(self, op: str, payload: dict, *, deadline_seconds: float) -> dict:
        raise CandidateDied("signal 11")

    def close(self) -> None:
        Dies.closed += 1


def test_a_compiler_that_dies_costs_one_launch_and_gets_a_successor() -> None:
    started: list[Dies] = []

    def begin() -> Dies:
        started.append(Dies())
        return started[-1]

    each = lowering.Lowering(begin, {}, B580)
    results = [each.of(DESCRIBED) for _ in range(2)]
    assert [result.refused for result in results] == ["the compiler died: signal 11"] * 2
    assert (len(started), Dies.closed) == (2, 2)


def test_a_refused_launch_was_only_parsed() -> None:
    read = lowering.read_lowering(DESCRIBED, REFUSED, B580)
    assert (read.reached, read.refused) == (Strength.PARSED, "no such thing")


def test_an_answer_of_the_wrong_form_is_refused() -> None:
    with pytest.raises(PlatformError, match="wrong form"):
        lowering.read_lowering(DESCRIBED, {**REFUSED, "lowered": {"dpas_calls": 8}}, B580)


@pytest.mark.intel
def test_launches_are_lowered_for_battlemage_and_compiled_for_ponte_vecchio() -> None:
    policy = default_policy("cpu", layer=best_layer(), threads=1)
    second = lowering.second_policy(policy, lowering.environment())
    launches, notes = lowering.structure(
        partial(launch, "build", policy),
        partial(launch, "lower", second),
        (SOURCES / "intel.py").read_text(encoding="utf-8"),
        [workload()],
        B580,
    )
    assert notes == ()
    blocks, pointers, large, descriptor, odd = launches
    assert blocks.lowered is not None
    assert (blocks.lowered.dpas_calls, blocks.lowered.dpas_operands) == (8, ("f16",))
    assert (blocks.lowered.slm_bytes, blocks.lowered.grf_mode) == (0, "large")
    assert blocks.lowered.block_reads > 0
    assert blocks.lowered.prefetches > 0
    assert "executionSize = 16" in blocks.lowered.dpas_layouts[0]
    assert pointers.lowered is not None
    assert (pointers.lowered.block_reads, pointers.lowered.sub_group_width) == (0, 16)
    assert pointers.lowered.slm_bytes > 0
    assert "knows no grf_mode '512'" in large.refused
    assert "make_tensor_descriptor" in descriptor.refused
    assert odd.reached is Strength.PARSED  # float32 operands: tf32, which the device has not
    assert "tf32" in odd.lowering_doubts[0]
    if pointers.native is None:  # no ocloc here
        assert {each.reached for each in (blocks, pointers)} == {Strength.LOWERED}
        return
    assert pointers.reached is Strength.NATIVE
    assert (pointers.native.simd_width, pointers.native.has_dpas) == (16, True)
    assert blocks.reached is Strength.LOWERED
    assert "undefined symbols" in blocks.native_doubts[0]
