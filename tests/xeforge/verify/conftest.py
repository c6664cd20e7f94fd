"""Builders of devices, problems, evidence and samples with sensible values."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Launch
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.samples import Conditions
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import KernelWork
from xeforge.domain.samples import PairedSamples
from xeforge.domain.submission import SourceFile
from xeforge.verify.context import CheckContext
from xeforge.verify.inputs import plan_cases

SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, 2 * x, mask=offs < n)


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        scale_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128, num_warps=4)
        return y
"""

DEVICE = Device(
    name="test-gpu",
    title="Test GPU",
    vendor="nvidia",
    backend="cuda",
    match=(),
    compile_target=CompileTarget("cuda", 90, 32),
    compute_units=132,
    bandwidth_bytes_per_s=4.8e12,
    l2_bandwidth_bytes_per_s=8e12,
    l2_bytes=50 * 2**20,
    matrix_flops_per_s={"float16": 989e12, "bfloat16": 989e12, "tf32": 494e12},
    vector_flops_per_s={"float32": 67e12, "float64": 34e12},
    shared_bytes_per_group=232_448,
    shared_bytes_per_unit=233_472,
    registers_per_unit=65_536,
    registers_per_thread=255,
    threads_per_unit=2048,
    threads_per_group=1024,
    groups_per_unit=32,
    lane_counts=(32,),
    num_warps=(1, 2, 4, 8, 16, 32),
    num_stages=(1, 2, 3, 4, 5),
    spill_bytes_per_thread=64,
    launch_seconds=2e-6,
    tiles=(),
    sources={},
)


def tensor(name="X", shape=(64, 48), dtype="float16", dims=("M", "N"), **more):
    return TensorSpec(name, shape, dtype, dims=dims, **more)


def workload(name="bench-gpu[0]", inputs=None, init_args=(), dims=None, **more):
    inputs = (tensor(),) if inputs is None else inputs
    pairs = (pair for spec in inputs for pair in zip(spec.dims, spec.shape, strict=False))
    named = {name: size for name, size in pairs if name}
    return Workload(
        name=name,
        variant=name.partition("[")[0],
        inputs=inputs,
        init_args=init_args,
        dtype=more.pop("dtype", "float16"),
        dims={**named, **(dims or {})},
        **more,
    )


def problem(*workloads, kernel=SOURCE, reference="class Model: ..."):
    return Problem(
        kernel=SourceFile("kernel.py", kernel),
        reference=None if reference is None else SourceFile("reference.py", reference),
        workloads=workloads or (workload(),),
        target="test-gpu",
        backend="cuda",
    )


def output(**changes):
    given = OutputEvidence(
        index=0,
        shape=(64, 48),
        expected_shape=(64, 48),
        dtype="float16",
        expected_dtype="float16",
        strides=(48, 1),
        expected_strides=(48, 1),
        device="cuda:0",
        wrong_count=0,
        unwritten_count=0,
        nan_count=0,
        expected_nan_count=0,
        first_wrong=None,
        first_got=None,
        first_expected=None,
        max_abs_error=1e-3,
        error=1e-4,
        reference_error=2e-4,
        scale=4.0,
    )
    return replace(given, **changes)


WRONG = output(wrong_count=12, first_wrong=(3, 17), first_got=0.5, first_expected=1.25)


def ran(case="bench-gpu[0]/declared/random/M=64,N=48#1", *outputs, **changes):
    _, kind, fill, _ = case.rsplit("/", 3)
    given = CaseEvidence(
        case=case,
        kind=kind,
        fill=fill,
        status=CaseStatus.RAN,
        outputs=outputs or (output(),),
        output_count=1,
        expected_output_count=1,
    )
    return replace(given, **changes)


def evidence(*cases, **changes):
    cases = cases or (ran(),)
    return replace(Evidence(cases=cases, launches=(Launch("scale_kernel", (24,)),)), **changes)


def report(**changes):
    given = BuildReport(
        kernel="scale_kernel",
        workload="bench-gpu[0]",
        constants={"BLOCK": "128"},
        num_warps=4,
        num_stages=3,
        registers=40,
        spill_bytes=0,
        shared_bytes=1024,
    )
    return replace(given, **changes)


def build(*reports, **more):
    return BuildEvidence(reports or (report(),), **more)


def full_evidence(asked, *, interpreted=False, purpose="audit", change=None):
    """Return evidence of a kernel that is right on every case of the plan."""
    cases = plan_cases(asked, purpose=purpose, interpreted=interpreted, seed=7)
    each = (
        ran(c.id, output(device="cpu" if interpreted else "cuda:0"), kind=str(c.kind))
        for c in cases
    )
    changed = tuple(change(one) for one in each) if change else tuple(each)
    return evidence(*changed, interpreted=interpreted)


def keys(given):
    return frozenset(each.case.rpartition("#")[0] for each in given.cases)


def context(**changes):
    """Return a context in which every check passes, with changes."""
    asked = changes.pop("problem", problem())
    audit = changes.pop("audit", None) or evidence()
    given = {
        "problem": asked,
        "device": DEVICE,
        "build": build(),
        "parent_build": None,
        "evidence": evidence(),
        "samples": (),
        "audit": audit,
        "ceilings": None,
        "trusted": keys(audit),
    }
    return CheckContext.of(**{**given, **changes})


def samples(first, second, control=None, **changes):
    first, second = tuple(map(float, first)), tuple(map(float, second))
    control_first, control_second = control if control is not None else ((), ())
    given = PairedSamples(
        workload="bench-gpu[0]",
        weight=1.0,
        first_seconds=first,
        second_seconds=second,
        first_host_seconds=first,
        second_host_seconds=second,
        control_first_seconds=tuple(map(float, control_first)),
        control_second_seconds=tuple(map(float, control_second)),
        first_warm_seconds=None,
        second_warm_seconds=None,
        first_call_seconds=1.0,
        second_call_seconds=1.0,
        outputs_checked=3,
        outputs_wrong=0,
        floor_seconds=None,
        conditions=Conditions(),
    )
    return replace(given, **changes)


def drawn(ratio=1.0, *, base=1e-3, sigma=0.01, pairs=60, control=20, seed=0, **changes):
    """Return noisy samples in which the second side is `ratio` times faster."""
    generator = np.random.default_rng(seed)

    def side(seconds, count):
        return seconds * np.exp(generator.normal(0, sigma, count))

    return samples(
        side(base, pairs),
        side(base / ratio, pairs),
        (side(base, control), side(base, control)),
        **changes,
    )


def work(**changes):
    given = KernelWork(
        kernel="k",
        programs=4096,
        loaded_bytes=1e9,
        stored_bytes=1e9,
        unique_bytes=2e9,
        dot_flops={},
        vector_flops={"float32": 1e9},
        registers=32,
        shared_bytes=0,
        num_warps=4,
    )
    return replace(given, **changes)


def estimate(seconds, name="bench-gpu[0]", weight=1.0):
    return Estimate(name, weight, seconds, "memory", ())


def ragged_context(*, shown=None, ragged=None):
    """A right candidate on the whole plan, with given outputs on shown or ragged cases."""
    asked = problem()
    audit = full_evidence(asked)

    def change(case):
        outputs = ragged if case.kind == "ragged" else shown
        return ran(case.case, outputs, kind=case.kind) if outputs is not None else case

    given = full_evidence(asked, purpose="candidate", change=change)
    return context(problem=asked, audit=audit, evidence=given, trusted=keys(audit))


@pytest.fixture(scope="session")
def make():
    """Builders by name."""
    return SimpleNamespace(
        tensor=tensor,
        workload=workload,
        problem=problem,
        output=output,
        wrong=WRONG,
        ran=ran,
        evidence=evidence,
        report=report,
        build=build,
        full_evidence=full_evidence,
        keys=keys,
        context=context,
        ragged_context=ragged_context,
        samples=samples,
        drawn=drawn,
        work=work,
        estimate=estimate,
        device=DEVICE,
        changed_device=lambda **changes: replace(DEVICE, **changes),
        source=SOURCE,
    )
