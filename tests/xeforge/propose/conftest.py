import pytest

from xeforge.domain.candidate import Candidate
from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.device import Tile
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.ports import Assignment

DEVICE = Device(
    name="test-card",
    title="Test card",
    vendor="generic",
    backend="cuda",
    match=(),
    compile_target=CompileTarget("cuda", 90, 32),
    compute_units=100,
    bandwidth_bytes_per_s=1e12,
    l2_bandwidth_bytes_per_s=None,
    l2_bytes=1 << 25,
    matrix_flops_per_s={"float16": 1e14},
    vector_flops_per_s={"float32": 1e13},
    shared_bytes_per_group=200_000,
    shared_bytes_per_unit=200_000,
    registers_per_unit=65536,
    registers_per_thread=255,
    threads_per_unit=2048,
    threads_per_group=512,
    groups_per_unit=32,
    lane_counts=(32,),
    num_warps=(1, 2, 4, 8, 16, 32),
    num_stages=(1, 2, 3, 4),
    spill_bytes_per_thread=0,
    launch_seconds=1e-6,
    tiles=(
        Tile(128, 256, 64, 8, 3),
        Tile(256, 128, 64, 8, 4),
        Tile(256, 256, 128, 8, 4),
        Tile(128, 128, 64, 4, 3),
        Tile(64, 64, 32, 32, 3),
    ),
    sources={},
)


def make_problem(source, workloads):
    return Problem(SourceFile("kernel.py", source), None, tuple(workloads), "test-card", "cuda")


def make_workload(*shapes, dtype="float16", dtypes=(), name="bench[0]", **changes):
    names = dtypes or [dtype] * len(shapes)
    inputs = tuple(
        TensorSpec(f"X{number}", shape, each)
        for number, (shape, each) in enumerate(zip(shapes, names, strict=True))
    )
    defaults = {"init_args": None, "dtype": dtype, "dims": {}}
    return Workload(name=name, variant="bench", inputs=inputs, **{**defaults, **changes})


def make_assignment(problem, *, stage="autotuning", parent=None, tried=(), limit=4):
    base = Candidate("t0", "t0", "", "user", problem.kernel.text, "as submitted", {})
    return Assignment(
        stage, problem, DEVICE, parent or base, None, (), tuple(tried), len(tried), limit, 0
    )


class Makers:
    device = DEVICE
    problem = staticmethod(make_problem)
    workload = staticmethod(make_workload)
    assignment = staticmethod(make_assignment)


@pytest.fixture
def make():
    """The builders above, for test modules that are imported by path."""
    return Makers


@pytest.fixture(scope="module")
def makers():
    """The same for fixtures that last for a module."""
    return Makers
