"""Kernels that are counted must be among those that were checked."""

import pytest

from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.samples import KernelWork
from xeforge.domain.submission import SourceFile
from xeforge.pipeline.exercise import counting
from xeforge.pipeline.exercise import standing
from xeforge.pipeline.exercise import unexercised
from xeforge.pipeline.exercise import with_unexercised
from xeforge.verify.inputs import plan_cases

HEAD = "import triton\nimport triton.language as tl\n\n\n"
OLD = "@triton.jit\ndef old(x):\n    tl.store(x, 1)\n"
NEW = "@triton.jit\ndef new(x):\n    tl.store(x, 1)\n"


def workload(name, rows):
    spec = TensorSpec("X", (rows, 4096), "float16", dims=("R", "W"))
    return Workload(name, "bench", (spec,), (), "float16", {"R": rows, "W": 4096})


LARGE, OTHER, TINY = workload("bench[0]", 8192), workload("bench[1]", 4096), workload("bench[2]", 2)


def problem(*workloads):
    return Problem(SourceFile("k.py", HEAD + OLD), None, workloads, "nvidia-h200", "cpu")


def launching(*kernels):
    return tuple(KernelWork(each, 1, 1.0, 1.0, 1.0, {}, {}) for each in kernels)


def test_small_shapes_stand_for_large_ones_in_the_interpreter_only():
    question = problem(LARGE, TINY)
    small = standing(question, interpreted=True)
    assert small["bench[0]"].inputs[0].shape != LARGE.inputs[0].shape
    assert small["bench[2]"].inputs == TINY.inputs
    assert standing(question, interpreted=False)["bench[0]"].inputs == LARGE.inputs
    assert counting(question) == (small["bench[0]"],)


def test_a_new_kernel_of_the_timed_shapes_alone_was_not_exercised():
    works = (launching("new"), launching("old"), launching("old"), launching("old"))
    found = unexercised(problem(LARGE, OTHER), HEAD + OLD + NEW, works)
    assert found == {"bench[0]": ("new",)}


def test_a_new_kernel_that_the_checks_launch_was_exercised():
    works = (launching("new", "aten::mm"), launching("new"))
    assert unexercised(problem(LARGE), HEAD + OLD + NEW, works) == {}


def test_shapes_that_are_checked_themselves_need_no_other_ones():
    assert unexercised(problem(TINY), HEAD + OLD + NEW, (launching("new"),)) == {}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (HEAD + OLD, {}),
        (HEAD + OLD.replace("1", "2"), {"bench[0]": ("old",)}),
        (HEAD + OLD.replace("@triton.jit", "@triton.jit(debug=True)"), {}),
    ],
    ids=["as submitted", "changed", "other decorators"],
)
def test_a_kernel_of_the_submitted_file_may_be_chosen_by_shape_while_it_is_the_same(
    source, expected
):
    works = (launching("old"), launching())
    assert unexercised(problem(LARGE), source, works) == expected


def test_what_stood_for_the_workload_counts_as_not_checked():
    question = problem(LARGE, TINY)
    cases = plan_cases(question, purpose="candidate", interpreted=True, seed=0)
    ran = tuple(
        CaseEvidence(each.id, each.kind, each.fill, CaseStatus.RAN, output_count=1)
        for each in cases
    )
    after = with_unexercised(question, Evidence(ran), {"bench[0]": ("new",)})
    changed = [each for each, old in zip(after.cases, ran, strict=True) if each != old]
    assert changed
    assert all(each.case.startswith("bench[0]/shrunk") for each in changed)
    assert all(each.status is CaseStatus.UNCHECKED for each in changed)
    assert "new runs at the timed shapes of bench[0]" in changed[0].message
