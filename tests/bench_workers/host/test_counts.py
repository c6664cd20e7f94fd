"""What launches do at real shapes, counted; one child serves all tests."""

import json
from collections.abc import Callable
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_workers.host import counts
from bench_workers.sandbox.launch import Child
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy
from knowledge.load import find_device
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.samples import KernelWork
from xeforge.domain.submission import SourceFile
from xeforge.errors import CandidateRaised

SOURCES = Path(__file__).parent / "launched"
H200 = find_device("nvidia-h200")
KIB = 1024


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
    with launch("count", policy) as started:
        yield started


Count = Callable[..., tuple[KernelWork, ...]]


@pytest.fixture(scope="module")
def count(child: Child) -> Count:
    def run(source: str, *inputs: TensorSpec, init_args=(), dtype=None) -> tuple[KernelWork, ...]:
        workload = Workload("bench[0]", "bench", inputs, tuple(init_args), dtype, {})
        problem = problem_of(source, workload)
        (works,) = counts.count(lambda: Shared(child), problem, source, [workload], H200)
        return works

    return run


def problem_of(source: str, *workloads: Workload) -> Problem:
    file = SourceFile("kernel.py", source)
    return Problem(file, None, workloads, target="nvidia-h200", backend="cuda")


def source_of(name: str) -> str:
    return (SOURCES / f"{name}.py").read_text(encoding="utf-8")


def tensor(*shape: int, dtype: str = "float16") -> TensorSpec:
    return TensorSpec("x", shape, dtype)


def test_a_large_matrix_product_is_counted_exactly(count: Count) -> None:
    n = 8192
    (work,) = count(source_of("matmul"), tensor(n, n), init_args=(n, n), dtype="float16")
    assert (work.kernel, work.programs, work.num_warps) == ("matmul", 64 * 64, 8)
    assert work.dot_flops == {"float16": 2.0 * n**3}
    assert work.loaded_bytes == 2 * n**3 * (1 / 128 + 1 / 128)
    assert work.stored_bytes == 2 * n * n
    assert work.unique_bytes == 3 * 2 * n * n
    assert work.vector_flops == {"float32": n * n}  # the maximum; products accumulate for free


def test_masked_lanes_are_not_counted(count: Count) -> None:
    rows, columns = 4096, 3000
    works = count(source_of("two_launches"), tensor(rows, columns), init_args=(0.5,))
    softmax, relu, scaled_sum = works
    assert (softmax.kernel, softmax.programs) == ("softmax", rows)
    assert softmax.loaded_bytes == softmax.stored_bytes == 2 * rows * columns
    assert softmax.unique_bytes == 2 * 2 * rows * columns
    assert softmax.dot_flops == {}
    # Maximum, difference, exponential, sum and quotient; the maximum is widened to float32.
    assert softmax.vector_flops == {"float32": 5 * 4096 * rows}
    assert relu == KernelWork(
        kernel="aten::relu",
        programs=rows * columns // KIB,
        loaded_bytes=2 * rows * columns,
        stored_bytes=2 * rows * columns,
        unique_bytes=4 * rows * columns,
        dot_flops={},
        vector_flops={"float16": rows * columns},
    )
    assert scaled_sum.programs == 132
    assert scaled_sum.unique_bytes == pytest.approx(3 * 2 * rows * columns, rel=0.02)
    assert scaled_sum.loaded_bytes == pytest.approx(2 * 2 * rows * columns, rel=0.02)


def test_work_that_grows_along_the_grid_is_averaged(count: Count) -> None:
    heads, length, depth = 64, 4096, 128
    shape = tensor(heads, length, depth, dtype="bfloat16")
    (work,) = count(source_of("attention"), shape, shape, shape)
    blocks = length // 128
    pairs = heads * blocks * (blocks + 1) // 2
    assert work.dot_flops == {
        "bfloat16": pytest.approx(pairs * 2 * 2 * 128 * 128 * depth, rel=1e-6)
    }
    assert work.stored_bytes == 2 * heads * length * depth
    tiles = heads * blocks + 2 * pairs
    assert work.loaded_bytes == pytest.approx(2 * tiles * 128 * depth, rel=1e-6)
    assert work.unique_bytes == 4 * 2 * heads * length * depth


def test_the_first_configuration_left_by_the_kernel_is_counted(count: Count) -> None:
    shapes = tensor(4096, 500, dtype="bfloat16"), tensor(500, 4096, dtype="bfloat16")
    (work,) = count(source_of("tuned_matmul"), *shapes)
    assert work.programs == 64 * 64
    assert work.dot_flops == {"bfloat16": 2.0 * 4096 * 4096 * 512}  # whole tiles of 32
    assert work.loaded_bytes == 2 * 2 * 4096 * 500 * 64
    assert work.num_warps == 4


def test_what_the_interpreter_cannot_do_is_counted_all_the_same(count: Count) -> None:
    inputs = (
        tensor(64, 64, dtype="float32"),
        TensorSpec("index", (64,), "int64", range=(0, 64)),
    )
    works = count(source_of("features"), *inputs, init_args=("tf32",))
    zeros, kernel, layer, add = works
    assert (zeros.kernel, zeros.stored_bytes, zeros.loaded_bytes) == ("aten::zeros", 256, 0)
    one = 2 * 64**3
    assert kernel.dot_flops == {"tf32": one, "bfloat16": one, "float8_e4m3fn": one}
    # Tanh, inline assembly, reduction; scan, sum, active atomics. Adding a product is free.
    assert kernel.vector_flops == {"float32": 3 * 4096 + 2 * 64 + 40}
    assert kernel.loaded_bytes == 4 * 4096 + 8 * 40 + 4 * 40
    assert kernel.stored_bytes == 4 * 40 + 2 * 64
    assert layer.kernel == "aten::addmm"
    assert layer.dot_flops == {"float32": 2 * 64 * 64 * 32}
    assert layer.loaded_bytes == 4 * (32 + 64 * 64 + 64 * 32)
    assert (add.kernel, add.vector_flops) == ("aten::add", {"float32": 64 * 32})


def test_descriptors_are_counted_like_pointers(count: Count) -> None:
    works = count(source_of("descriptors"), tensor(4096, 2040))
    assert [each.kernel for each in works] == ["doubled_by_host", "doubled_by_device"]
    for work in works:
        assert work.programs == 32 * 32
        assert work.stored_bytes == pytest.approx(2 * 4096 * 2040, rel=0.05)
        assert work.loaded_bytes == work.stored_bytes
        assert work.vector_flops == {"float16": 128 * 64 * 1024}


@pytest.mark.parametrize(
    ("precision", "name", "passes"),
    [("ieee", "float32", 1), ("tf32x3", "tf32", 3)],
)
def test_precision_decides_the_format(count: Count, precision: str, name: str, passes: int) -> None:
    inputs = (
        tensor(64, 64, dtype="float32"),
        TensorSpec("index", (64,), "int64", range=(0, 64)),
    )
    _, kernel, *_ = count(source_of("features"), *inputs, init_args=(precision,))
    assert kernel.dot_flops[name] == passes * 2 * 64**3


def test_the_same_source_gives_the_same_counts(count: Count) -> None:
    shape = tensor(8, 1024, 64, dtype="bfloat16")
    once = count(source_of("attention"), shape, shape, shape)
    assert count(source_of("attention"), shape, shape, shape) == once


def test_reading_device_data_ends_counting(count: Count) -> None:
    source = source_of("reads_values")
    with pytest.raises(CandidateRaised, match="reads device data at line 18") as caught:
        count(source, tensor(4096))
    assert caught.value.line == source.split(".item()")[0].count("\n") + 1


def test_a_fault_inside_a_kernel_names_its_line(count: Count) -> None:
    source = source_of("broken")
    with pytest.raises(CandidateRaised) as caught:
        count(source, tensor(4096))
    assert caught.value.line == source.split("# the fault")[0].count("\n") + 1


def test_a_program_that_does_not_end_is_given_up(child: Child) -> None:
    source = source_of("two_launches").replace("tl.num_programs(0) * BLOCK)", "1)")
    workload = Workload("bench[0]", "bench", (tensor(8192, 8192),), (0.5,), None, {})
    with pytest.raises(CandidateRaised, match="does not end within the time"):
        counts.count(
            lambda: Shared(child),
            problem_of(source, workload),
            source,
            [workload],
            H200,
            deadline_seconds=4,
        )


class Scripted:
    """A child whose answer is known."""

    directory = Path("/nowhere")

    def __init__(self, answer) -> None:
        self.answer = answer
        self.is_closed = False

    def request(self, op, payload, *, deadline_seconds):
        assert op == "count"
        json.dumps(payload)
        return self.answer

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("answer", [{}, {"works": [[{}]]}, {"works": 1}, {"works": []}])
def test_a_forged_answer_is_refused(answer) -> None:
    workload = Workload("bench[0]", "bench", (tensor(8),), (), None, {})
    scripted = Scripted(answer)
    with pytest.raises(CandidateRaised):
        counts.count(lambda: scripted, problem_of("", workload), "", [workload])
    assert scripted.is_closed
