from dataclasses import replace

import pytest

from xeforge.domain.submission import SourceFile
from xeforge.domain.submission import Submission
from xeforge.errors import BadKernel
from xeforge.errors import BadRequest
from xeforge.errors import BadSpec
from xeforge.errors import UserError
from xeforge.intake.read import read

KERNEL = """\
import torch
import triton
import triton.language as tl

@triton.jit
def scale(x, y, n, gain, BLOCK: tl.constexpr):
    pass

class Model(torch.nn.Module):
    def __init__(self, size, gain=1.0):
        super().__init__()

    def forward(self, x):
        y = torch.empty_like(x)
        scale[(4,)](x, y, x.numel(), 2.0, BLOCK=64)
        return y
"""
HELPERS = """
def get_inputs():
    return [torch.rand(8)]

def get_init_inputs():
    return [8]
"""
REFERENCE = """\
import torch

class Model(torch.nn.Module):
    def __init__(self, size, gain=1.0):
        super().__init__()

    def forward(self, x):
        return x * 2.0
"""
SPEC = """\
inputs:
  X: {shape: [N], dtype: float16}
inits:
  - dim: N
bench-gpu:
  - {params: [X], dims: {N: 8}}
ci:
  - {params: [X], dims: {N: 3}}
"""
DEVICES = ("nvidia-h200", "intel-b580", "cpu")


def submission(kernel=KERNEL, reference=None, spec=None, **options):
    def file(name, text):
        return None if text is None else SourceFile(name, text)

    plain = Submission(
        kernel=file("k.py", kernel),
        reference=file("r.py", reference),
        spec=file("s.yaml", spec),
        variants=(),
        target="nvidia-h200",
        backend="cpu",
    )
    return replace(plain, **options)


def problem(*args, **options):
    return read(submission(*args, **options), device_names=DEVICES)


def refusal(kind: type[UserError], *args, **options):
    with pytest.raises(kind) as caught:
        problem(*args, **options)
    assert caught.value.remedy
    return caught.value


def test_everything_given_is_in_the_problem():
    found = problem(
        reference=REFERENCE,
        spec=SPEC,
        stages=("fusion", "stream_k"),
        budget_seconds=5.0,
        budget_trials=3,
        seed=9,
    )
    assert [each.name for each in found.workloads] == ["bench-gpu[0]", "ci[0]"]
    assert [each.name for each in found.timed] == ["bench-gpu[0]"]
    assert found.stages == ("fusion", "persistent_kernel")
    assert (found.budget_seconds, found.budget_trials, found.seed) == (5.0, 3, 9)
    assert (found.target, found.backend) == ("nvidia-h200", "cpu")
    assert found.reference.path == "r.py"
    assert not any("own oracle" in each for each in found.notes)


def test_without_a_spec_the_file_supplies_inputs():
    found = problem(KERNEL + HELPERS)
    (workload,) = found.workloads
    assert (workload.name, workload.variant, workload.from_file) == ("file", "file", True)
    assert (workload.inputs, workload.init_args, workload.dtype) == ((), None, None)
    assert workload.is_timed
    assert "no spec: inputs come from get_inputs() of k.py" in found.notes
    assert "constructor arguments come from get_init_inputs() of k.py" in found.notes
    assert any("own oracle" in each for each in found.notes)


def test_helpers_of_the_reference_serve_too():
    found = problem(reference=REFERENCE + HELPERS)
    assert "no spec: inputs come from get_inputs() of r.py" in found.notes


def test_tolerances_of_the_request_replace_those_of_the_spec():
    found = problem(spec=SPEC, rtol=0.5, atol=0.0)
    assert {(each.rtol, each.atol) for each in found.workloads} == {(0.5, 0.0)}
    assert "rtol 0.5 replaces the spec's" in found.notes
    assert "atol 0 replaces the spec's" in found.notes


def test_intel_targets_prefer_their_variant():
    spec = SPEC.replace("bench-gpu", "bench-xpu")
    assert problem(spec=spec, target="intel-b580").timed[0].name == "bench-xpu[0]"
    assert problem(spec=spec, backend="xpu").timed[0].name == "bench-xpu[0]"
    assert refusal(BadRequest, spec=spec).field == "variant"


@pytest.mark.parametrize(
    ("options", "message", "field"),
    [
        ({"target": "nvidia-h20"}, "did you mean 'nvidia-h200'", "target"),
        ({"target": "abacus"}, "unknown device model 'abacus'", "target"),
        ({"backend": "gpu"}, "unknown device type 'gpu'", "device"),
        ({"stages": ("fussion",)}, "did you mean 'fusion'", "stages"),
        ({"budget_seconds": 0.0}, "not positive", "budget_seconds"),
        ({"budget_seconds": float("inf")}, "not positive", "budget_seconds"),
        ({"budget_trials": -1}, "not positive", "budget_trials"),
        ({"rtol": -0.1}, "at least zero", "rtol"),
        ({"atol": float("nan")}, "at least zero", "atol"),
        ({"variants": ("ci",)}, "there is no spec", "variant"),
    ],
)
def test_bad_options(options, message, field):
    error = refusal(BadRequest, KERNEL + HELPERS, **options)
    assert message in error.message
    assert error.field == field


def test_unknown_target_lists_the_known_ones():
    assert refusal(BadRequest, target="abacus").remedy == "one of cpu, intel-b580, nvidia-h200"


@pytest.mark.parametrize(
    ("kernel", "message", "line"),
    [
        ("", "empty", None),
        ("def f(:\n", "not valid Python", 1),
        ("import torch\n", "no Triton kernel", None),
        (KERNEL.replace("class Model", "class Modell"), "did you mean 'Modell'", None),
        (KERNEL.replace("class Model(torch.nn.Module)", "class Model"), "no torch.nn.Module", 9),
        (KERNEL.replace("def forward", "def run"), "no method forward", 9),
        (KERNEL, "no file defines get_inputs()", None),
        (
            KERNEL + HELPERS.replace("get_init_inputs", "other"),
            "Model() needs arguments (size)",
            10,
        ),
    ],
)
def test_kernels_that_cannot_be_used(kernel, message, line):
    error = refusal(BadKernel, kernel)
    assert message in error.message
    assert (error.file, error.line) == ("k.py", line)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("", "empty"),
        ("x = 1\n", "no class named Model"),
        ("class Model:\n    pass\n", "no torch.nn.Module"),
        ("def f(:\n", "not valid Python"),
    ],
)
def test_references_that_cannot_be_used(reference, message):
    error = refusal(BadKernel, reference=reference, spec=SPEC)
    assert message in error.message
    assert error.file == "r.py"


def test_inputs_that_do_not_fit_forward_point_at_params():
    spec = SPEC.replace("params: [X], dims: {N: 8}", "params: [X, Y], dims: {N: 8}")
    spec = spec.replace("inits:", "  Y: {shape: [N]}\ninits:")
    error = refusal(BadSpec, spec=spec)
    assert (error.file, error.line, error.field) == ("s.yaml", 7, "bench-gpu[0].params")
    assert error.message == "2 given (X, Y), but Model.forward of k.py takes 1"
    assert error.remedy == "it takes x"


def test_reference_is_compared_too():
    reference = REFERENCE.replace("forward(self, x)", "forward(self, x, y, z=None)")
    error = refusal(BadSpec, reference=reference, spec=SPEC)
    assert error.message == "1 given (X), but Model.forward of r.py needs at least 2"


@pytest.mark.parametrize(
    ("inits", "message"),
    [
        ("inits: []", "0 given (none), but Model.__init__ of k.py needs at least 1"),
        ("inits: [dim: N, a: 1, b: 2]", "3 given (8, 1, 2), but Model.__init__ of k.py takes at"),
    ],
)
def test_constructor_arguments_that_do_not_fit(inits, message):
    error = refusal(BadSpec, spec=SPEC.replace("inits:\n  - dim: N", inits))
    assert error.message.startswith(message)
    assert (error.line, error.field) == (3, "inits")


@pytest.mark.parametrize(
    "signature", ["forward(self, *xs)", "forward(self, x, y=None)", "forward(self, x, *, flag=0)"]
)
def test_signatures_that_fit(signature):
    assert problem(KERNEL.replace("forward(self, x)", signature), spec=SPEC).timed


def test_constructor_from_outside_the_file_is_not_judged():
    kernel = KERNEL.replace("torch.nn.Module", "torch.nn.Linear").replace("def __init__", "def set")
    assert problem(kernel, spec=SPEC).timed


DIMS_ONLY = "ci:\n  - {dims: {tokens: 3, hidden: 4}}\n"


def test_dims_of_a_spec_without_inputs_reach_the_helpers():
    helpers = "\ndef get_inputs(tokens=1): pass\n\ndef get_init_inputs(hidden=2): pass\n"
    (workload,) = problem(KERNEL + helpers, spec=DIMS_ONLY).workloads
    assert workload.from_file
    assert workload.dims == {"tokens": 3, "hidden": 4}


def test_dims_that_no_helper_takes_are_refused():
    helpers = "\ndef get_inputs(tokens=1): pass\n\ndef get_init_inputs(): pass\n"
    error = refusal(BadSpec, KERNEL + helpers, spec=DIMS_ONLY)
    assert (error.line, error.field) == (2, "ci[0].dims.hidden")
    assert error.remedy == "they take: tokens"


def test_spec_without_inputs_needs_a_helper():
    assert "the spec declares none" in refusal(BadKernel, spec=DIMS_ONLY).message
