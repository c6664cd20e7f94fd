"""What the compiler says of kernels at real shapes, with no device; one child serves all tests."""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_workers.host import builds
from bench_workers.host.kernel_cache import CACHE_FOLDER
from bench_workers.host.kernel_cache import carry_cache
from bench_workers.sandbox.launch import Child
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy
from knowledge.load import find_device
from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout

SOURCES = Path(__file__).parent / "launched"
H200 = find_device("nvidia-h200")


class Shared:
    """A child that outlives the call it is lent to."""

    def __init__(self, child: Child) -> None:
        self.directory = child.directory
        self.request = child.request

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    policy = default_policy("cpu", layer=best_layer(), threads=1)
    with launch("build", policy) as started:
        yield started


Build = Callable[..., BuildEvidence]


@pytest.fixture(scope="module")
def build(child: Child) -> Build:
    def run(source: str, *workloads: Workload, device: Device = H200, **options) -> BuildEvidence:
        problem = problem_of(source, workloads)
        return builds.build(lambda: Shared(child), problem, source, workloads, device, **options)

    return run


def problem_of(source: str, workloads: tuple[Workload, ...]) -> Problem:
    file = SourceFile("kernel.py", source)
    return Problem(file, None, workloads, target="nvidia-h200", backend="cuda")


def workload(*shapes: tuple[int, ...], init_args=(), dtype="float16", name="bench[0]") -> Workload:
    inputs = tuple(TensorSpec(f"x{i}", shape, dtype) for i, shape in enumerate(shapes))
    return Workload(name, "bench", inputs, tuple(init_args), dtype, {})


def source_of(name: str) -> str:
    return (SOURCES / f"{name}.py").read_text(encoding="utf-8")


BIG = workload((8192, 8192), init_args=(8192, 8192))


@pytest.fixture(scope="module")
def matmul(build: Build) -> BuildEvidence:
    return build(source_of("matmul"), BIG)


def test_a_matrix_product_is_compiled_at_its_real_shape(matmul: BuildEvidence) -> None:
    assert matmul.message == ""
    assert matmul.skipped == ()
    (report,) = matmul.reports
    assert (report.kernel, report.workload, report.error) == ("matmul", "bench[0]", "")
    assert report.constants == {"BM": "128", "BN": "128", "BK": "64"}
    assert (report.num_warps, report.num_stages) == (8, 3)
    assert 64 <= report.registers <= 168
    assert report.spill_bytes == 0
    assert report.shared_bytes == 3 * (128 * 64 + 64 * 128) * 2
    assert report.matrix_instructions == 4  # one per 16 of the depth of 64
    assert not report.is_tuned


def test_huge_models_cost_nothing(build: Build) -> None:
    huge = workload((16384, 65536), init_args=(65536, 65536))  # 8.6 GB of weights
    (report,) = build(source_of("matmul"), huge, deadline_seconds=30).reports
    assert report.error == ""


def test_equal_launches_of_two_workloads_are_compiled_once(build: Build) -> None:
    other = workload((4096, 8192), init_args=(8192, 4096), name="bench[1]")
    first, second = build(source_of("matmul"), BIG, other).reports
    assert (first.workload, second.workload) == ("bench[0]", "bench[1]")
    assert second.seconds < 0.5
    assert dataclasses.replace(first, workload="", seconds=0) == dataclasses.replace(
        second, workload="", seconds=0
    )


def test_sizes_that_16_does_not_divide_give_another_kernel(
    build: Build, matmul: BuildEvidence
) -> None:
    odd = workload((8191, 8191), init_args=(8191, 8191))
    (report,) = build(source_of("matmul"), odd).reports
    assert report.shared_bytes != matmul.reports[0].shared_bytes  # no asynchronous copies


def test_a_tile_too_large_is_reported_with_its_spills(build: Build) -> None:
    source = source_of("matmul").replace("128, 128, 64, 8, 3", "256, 128, 64, 4, 6")
    (report,) = build(source, BIG).reports
    assert report.error == ""
    assert report.shared_bytes > H200.shared_bytes_per_group
    assert report.spill_bytes > 100
    assert report.registers == 255


def test_configurations_are_compiled_up_to_the_limit(build: Build) -> None:
    tall = workload((4096, 512), (512, 4096), dtype="bfloat16")
    evidence = build(source_of("tuned_matmul"), tall, configs_limit=3)
    assert [each.constants["BM"] for each in evidence.reports] == ["64", "128"]
    assert [each.constants["EVEN"] for each in evidence.reports] == ["True", "True"]
    assert all(each.is_tuned and each.registers for each in evidence.reports)
    failed, left = evidence.skipped
    assert "the tuner skips it" in failed
    assert "BN must be a multiple of 32" in failed
    assert left == "matmul: 1 of 4 configurations not compiled (limit 3)"


def test_each_launch_of_forward_is_compiled(build: Build) -> None:
    evidence = build(source_of("two_launches"), workload((4096, 3000), init_args=(0.5,)))
    assert [each.kernel for each in evidence.reports] == ["softmax", "scaled_sum"]
    assert evidence.reports[0].constants == {"BLOCK": "4096"}
    assert [each.matrix_instructions for each in evidence.reports] == [0, 0]


def test_a_compile_error_names_the_line_and_spares_later_launches(build: Build) -> None:
    source = source_of("broken")
    bad, good = build(source, workload((4096,))).reports
    assert bad.kernel == "bad"
    assert bad.line == source.split("# the fault")[0].count("\n") + 1
    assert "64" in bad.error
    assert "128" in bad.error
    assert "return x + tl.arange(0, 2 * BLOCK)" in bad.error
    assert (bad.registers, bad.shared_bytes) == (None, 0)
    assert (good.kernel, good.error) == ("good", "")


def test_a_wrong_launch_names_the_line_of_the_launch(build: Build) -> None:
    source = source_of("broken").replace("bad[(1,)](x, y, BLOCK=64)", "bad[(1,)](x, BLOCK=64)")
    bad = build(source, workload((4096,))).reports[0]
    assert "missing" in bad.error
    assert "'y'" in bad.error
    assert bad.line == source.split("bad[(1,)]")[0].count("\n") + 1


def test_reading_device_data_ends_the_list_with_a_note(build: Build) -> None:
    source = source_of("reads_values")
    evidence = build(source, workload((4096,)))
    line = source.split(".item()")[0].count("\n") + 1
    assert [each.constants for each in evidence.reports] == [{"BLOCK": "64"}]
    words = f"host code reads device data at line {line}; launches after it are not compiled"
    assert evidence.skipped == (f"bench[0]: {words}",)
    assert evidence.message == ""


@pytest.mark.parametrize("read", ["x.tolist()", "x.numpy()", "x.cpu().numpy()", "bool(x[0] > 0)"])
def test_every_way_to_read_values_is_recognised(build: Build, read: str) -> None:
    source = source_of("reads_values").replace("y = torch.empty_like(x)", f"y = {read}")
    evidence = build(source, workload((4096,)))
    (note,) = evidence.skipped
    assert note.startswith("bench[0]: host code reads device data at line 16;")
    # Real tensors have values, so this is no fault of the source.
    assert (evidence.reports, evidence.message, evidence.line) == ((), "", None)


def test_host_code_that_raises_is_reported(build: Build) -> None:
    source = source_of("two_launches").replace("rows, columns = x.shape", "rows, columns = x.shap")
    evidence = build(source, workload((64, 64), init_args=(1.0,)))
    assert evidence.reports == ()
    assert "AttributeError" in evidence.message
    assert evidence.line == source.split("x.shap")[0].count("\n") + 1


def test_a_file_that_cannot_be_imported_is_reported(build: Build) -> None:
    evidence = build("import torch\nimport triton\n1 / 0\n", workload((64,)))
    assert evidence.reports == ()
    assert "ZeroDivisionError" in evidence.message
    assert evidence.line == 3


def test_a_file_without_a_model_is_reported(build: Build) -> None:
    evidence = build("import torch\nimport triton\n", workload((64,)))
    assert evidence.reports == ()
    assert "no class Model" in evidence.message


def test_tensor_descriptors_of_either_kind_are_compiled(build: Build) -> None:
    host, device = build(source_of("descriptors"), workload((4096, 2048))).reports
    assert (host.kernel, host.error) == ("doubled_by_host", "")
    assert (device.kernel, device.error) == ("doubled_by_device", "")
    assert host.shared_bytes > 0  # bulk copies land on chip


def test_another_vendor_can_be_compiled_for(build: Build) -> None:
    device = dataclasses.replace(H200, compile_target=CompileTarget("hip", "gfx942", 64))
    (report,) = build(source_of("matmul"), BIG, device=device).reports
    assert report.error == ""
    assert report.registers > 32
    assert report.spill_bytes == 0
    assert report.matrix_instructions > 8


def test_a_target_that_triton_lacks_is_no_fault_of_the_source(build: Build) -> None:
    device = dataclasses.replace(H200, compile_target=CompileTarget("xpu", "bmg", 16))
    evidence = build(source_of("matmul"), BIG, device=device)
    assert evidence.reports == ()
    assert evidence.message == ""
    assert evidence.skipped == ("not compiled: no Intel back-end in this Triton",)


def test_further_shapes_fill_the_cache_and_are_not_reported(build: Build, tmp_path: Path) -> None:
    def cubins(folder: Path) -> int:
        return len(list(folder.rglob("*.cubin")))

    source = source_of("two_launches").replace("def softmax(", "def softmax_(")
    source = source.replace("softmax[", "softmax_[")
    shape = workload((512, 768), init_args=(0.25,))
    odd = workload((5, 77), init_args=(0.25,), name="ragged")
    impossible = workload((5, 77, 3), init_args=(0.25,), name="impossible")
    first = build(source, shape, keep_cache=tmp_path / "a")
    alone = cubins(tmp_path / "a")
    evidence = build(source, shape, also=(odd, impossible), keep_cache=tmp_path / "b")
    assert [each.workload for each in evidence.reports] == ["bench[0]", "bench[0]"]
    assert evidence.skipped == first.skipped
    assert cubins(tmp_path / "b") > alone


def test_host_code_may_make_tensors_of_one_number(build: Build) -> None:
    source = source_of("matmul")
    line = "        scale = torch.tensor(2.0)\n"
    head, _, rest = source.partition("def forward(")
    signature, _, body = rest.partition(":\n")
    evidence = build(f"{head}def forward({signature}:\n{line}{body}", BIG)
    assert evidence.message == ""
    assert all(each.error == "" for each in evidence.reports)


def test_no_target_no_child() -> None:
    device = dataclasses.replace(H200, compile_target=None)
    problem = problem_of("", (BIG,))
    evidence = builds.build(lambda: pytest.fail("started"), problem, "", [BIG], device)
    assert evidence.skipped == ("not compiled: Triton cannot compile for nvidia-h200",)


def test_a_fresh_process_finds_everything_in_the_cache(build: Build, tmp_path: Path) -> None:
    """The keys are those of a real launch: `launch` here stands for one on the device."""
    kept = tmp_path / "kept"
    source = source_of("two_launches")
    shape = workload((512, 768), init_args=(0.25,))
    build(source, shape, keep_cache=kept)
    policy = dataclasses.replace(default_policy("cpu", layer="bare"), work_directory=tmp_path)
    with launch("build", policy) as fresh:
        cache = fresh.directory / CACHE_FOLDER
        carry_cache(kept, cache, seen_as=cache)
        before = sorted(cache.rglob("*"))
        changed = {path: path.stat().st_mtime_ns for path in before}
        problem = problem_of(source, (shape,))
        evidence = builds.build(lambda: Shared(fresh), problem, source, [shape], H200)
        assert [each.kernel for each in evidence.reports] == ["softmax", "scaled_sum"]
        assert sorted(cache.rglob("*")) == before
        assert {path: path.stat().st_mtime_ns for path in before} == changed


def test_a_build_that_takes_too_long_passes_its_deadline() -> None:
    scripted = Scripted(CandidateTimeout("no answer within 120 s"))
    evidence = builds.build(lambda: scripted, problem_of("", (BIG,)), "", [BIG], H200)
    assert evidence == BuildEvidence((), message="compiling passed its deadline of 120 s")
    assert scripted.is_closed


class Scripted:
    """A child whose answer is known."""

    def __init__(self, answer, directory: Path = Path("/nowhere")) -> None:
        self.answer = answer
        self.directory = directory
        self.is_closed = False

    def request(self, op, payload, *, deadline_seconds):
        assert op == "build"
        json.dumps(payload)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CandidateDied("killed by SIGSEGV"), None),
        (CandidateRaised("SyntaxError: invalid syntax", kind="SyntaxError", line=7), 7),
    ],
)
def test_the_end_of_the_child_is_evidence(error: Exception, line: int | None) -> None:
    scripted = Scripted(error)
    evidence = builds.build(lambda: scripted, problem_of("", (BIG,)), "", [BIG], H200)
    assert evidence == BuildEvidence(reports=(), message=str(error), line=line)
    assert scripted.is_closed


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"reports": 3, "message": "", "line": None, "skipped": []},
        {"reports": [{"kernel": "k"}], "message": "", "line": None, "skipped": []},
        {"reports": [None], "message": "", "line": None, "skipped": []},
        {"reports": [], "message": "", "line": "x", "skipped": []},
    ],
)
def test_a_forged_answer_is_no_evidence_of_success(answer) -> None:
    evidence = builds.build(lambda: Scripted(answer), problem_of("", (BIG,)), "", [BIG], H200)
    assert evidence.reports == ()
    assert "wrong form" in evidence.message


def test_reports_are_read_into_their_types() -> None:
    given = {
        "kernel": "k", "workload": "w", "constants": {"B": 64}, "num_warps": 4, "num_stages": 3,
        "registers": None, "spill_bytes": None, "shared_bytes": 0, "error": "no", "line": 3,
        "seconds": 1,
    }  # fmt: skip
    answer = {"reports": [given], "message": "", "line": None, "skipped": ["s"]}
    evidence = builds.build(lambda: Scripted(answer), problem_of("", (BIG,)), "", [BIG], H200)
    report = BuildReport("k", "w", {"B": "64"}, 4, 3, None, None, 0, "no", 3, 1.0)
    assert evidence == BuildEvidence(reports=(report,), skipped=("s",))


REAL_LAUNCH = """
import importlib.util, sys
sys.path.insert(0, {child!r})
import torch, standin_driver
from triton.runtime.jit import JITFunction
target = dict(backend="cuda", arch=90, warp_size=32)
bench = lambda call, quantiles, **_: (call(), [1.0] * 3)[1]
standin_driver.StandInDriver.get_benchmarker = lambda self: bench
standin_driver.install(target, {{}}, torch.device("cpu"))
run = JITFunction.run
JITFunction.run = lambda *a, grid, warmup, **k: run(*a, grid=grid, warmup=True, **k)
spec = importlib.util.spec_from_file_location("another_name", {path!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
like = dict(dtype=torch.bfloat16)
module.Model()(torch.empty(256, 512, **like), torch.empty(512, 256, **like))
"""


def test_launches_with_real_tensors_use_the_same_keys(build: Build, tmp_path: Path) -> None:
    """Nothing but the driver is ours in the second process: not the tensors, not the loader."""
    source = source_of("tuned_matmul").replace('device="cuda"', "device=x.device")
    source = source.replace('"BN": 48', '"BN": 32')  # so that all configurations compile
    shapes = workload((256, 512), (512, 256), dtype="bfloat16")
    cache = tmp_path / "cache"
    assert len(build(source, shapes, keep_cache=cache).reports) == 4
    before = sorted(path.name for path in cache.rglob("*"))
    path = tmp_path / "kernel.py"
    path.write_text(source, encoding="utf-8")
    child_folder = str(Path(builds.__file__).parent.parent / "child")
    subprocess.run(
        [sys.executable, "-c", REAL_LAUNCH.format(child=child_folder, path=str(path))],
        check=True,
        env={**os.environ, "TRITON_CACHE_DIR": str(cache)},
        timeout=120,
    )
    assert sorted(path.name for path in cache.rglob("*")) == before
