"""One evaluator whose candidates run in Triton's interpreter, shared by this folder's tests."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from bench_workers.host.capture import Capturing
from bench_workers.host.evaluator import BenchEvaluator
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.case import Fill
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile

KERNELS = Path(__file__).parent.parent / "child" / "kernels"


def text(name):
    """Return a test kernel."""
    return (KERNELS / f"{name}.py").read_text()


def file(name):
    """Return a test kernel as the user would send it."""
    return SourceFile(f"{name}.py", text(name))


def tensors(*shapes, dtype="float32"):
    """Return specs named x0, x1, ..."""
    return tuple(TensorSpec(f"x{i}", shape, dtype) for i, shape in enumerate(shapes))


def problem(kernel, reference, inputs, *, init_args=None, dtype=None, from_file=False):
    """Return a job with one workload."""
    workload = Workload("ci[0]", "ci", inputs, init_args, dtype, {}, from_file=from_file)
    other = None if reference is None else file(reference)
    return Problem(file(kernel), other, (workload,), "generic-cpu", "cpu")


def case(job, *, seed=3, fill=Fill.RANDOM, kind=CaseKind.DECLARED, inputs=None):
    """Return a case of a job's workload."""
    workload = job.workloads[0]
    return Case(
        id=f"ci[0]/{kind}/{fill}/{inputs or ''}#{seed}",
        workload=workload.name,
        kind=kind,
        fill=fill,
        seed=seed,
        inputs=inputs or workload.inputs,
        init_args=workload.init_args,
        dtype=workload.dtype,
        memory_format=None,
        rtol=1e-2,
        atol=1e-5,
    )


@pytest.fixture(scope="session")
def make():
    """Builders of jobs, cases and specs."""
    return SimpleNamespace(
        text=text, file=file, tensors=tensors, problem=problem, case=case, addition=addition()
    )


def addition():
    """Return the job most tests use: 300 numbers plus 300 numbers."""
    return problem("vector_add", "vector_add_pytorch", tensors((300,), (300,)))


@pytest.fixture(scope="session")
def evaluator(tmp_path_factory):
    """The evaluator; deadlines are short, since some kernels hang."""
    folder = tmp_path_factory.mktemp("evaluator")
    deadlines = Deadlines(load=60.0, case=20.0, oracle=60.0)
    made = BenchEvaluator(None, "cpu", work_dir=folder, deadlines=deadlines, spares=1)
    yield made
    made.close()


@pytest.fixture(scope="session")
def examine(evaluator):
    """Examine a test kernel on the addition, or on another job's cases."""

    def run(name, job=None, cases=None):
        job = job or addition()
        return evaluator.examine(job, text(name), cases or [case(job)])

    return run


@pytest.fixture(scope="session")
def capturing(tmp_path_factory):
    """A child that exports modules, shared by this folder's tests."""
    folder = tmp_path_factory.mktemp("capture")
    sessions = Sessions("cpu", layer=best_layer(), work_directory=folder, spares=0)
    made = Capturing(sessions, Deadlines())
    yield made
    made.close()
    sessions.close()
