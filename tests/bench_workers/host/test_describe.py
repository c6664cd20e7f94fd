"""Files that cannot be used are refused with place and remedy; usable ones are described."""

from dataclasses import replace

import pytest

from xeforge.domain.submission import SourceFile
from xeforge.errors import BadKernel
from xeforge.errors import BadSpec
from xeforge.errors import UserError


def with_kernel(job, text):
    return replace(job, kernel=SourceFile("kernel.py", text))


def with_reference(job, text):
    return replace(job, reference=SourceFile("reference.py", text))


def test_shapes_and_parameters_are_reported(evaluator, make):
    job = make.problem("linear", "linear_pytorch", make.tensors((40, 64)), init_args=(64, 48))
    described = evaluator.describe(job)
    assert described.input_shapes == ("float32[40, 64]",)
    assert described.parameters == ("weight: float32[48, 64]",)
    assert described.notes == ()


def test_inputs_of_the_file_are_reported(evaluator, make):
    job = make.problem("vector_add", "vector_add_pytorch", (), from_file=True)
    assert evaluator.describe(job).input_shapes == ("float32[300], float32[300]",)


def test_a_kernel_without_model_is_refused(evaluator, make):
    with pytest.raises(BadKernel, match="no class Model") as caught:
        evaluator.describe(with_kernel(make.addition, "import torch\n"))
    assert caught.value.file == "kernel.py"
    assert "Model" in caught.value.remedy


def test_a_kernel_that_raises_when_imported_is_refused_with_its_line(evaluator, make):
    with pytest.raises(BadKernel, match="ModuleNotFoundError") as caught:
        evaluator.describe(with_kernel(make.addition, "import torch\nimport no_such_thing\n"))
    assert caught.value.line == 2


def test_constructor_arguments_that_do_not_fit_are_refused(evaluator, make):
    job = make.problem("linear", "linear_pytorch", make.tensors((40, 64)), init_args=(64, 48, 3))
    with pytest.raises(BadKernel, match="3 constructor arguments") as caught:
        evaluator.describe(job)
    assert caught.value.line == 27
    assert "inits" in caught.value.remedy


def test_a_reference_that_raises_is_refused_with_its_line(evaluator, make):
    text = make.text("vector_add_pytorch").replace("return x + y", "return x @ missing")
    with pytest.raises(UserError, match="missing") as caught:
        evaluator.describe(with_reference(make.addition, text))
    assert not isinstance(caught.value, BadKernel)
    assert (caught.value.file, caught.value.line) == ("reference.py", 6)


def test_get_inputs_that_raises_is_refused(evaluator, make):
    job = make.problem("vector_add", "vector_add_pytorch", (), from_file=True)
    text = make.text("vector_add_pytorch").replace("torch.randn(300)", "torch.randn(-1)")
    with pytest.raises(UserError, match="negative dimension") as caught:
        evaluator.describe(with_reference(job, text))
    assert caught.value.line == 10


def test_a_missing_get_inputs_is_refused(evaluator, make):
    job = make.problem("vector_add", None, (), from_file=True)
    with pytest.raises(BadKernel, match="no get_inputs"):
        evaluator.describe(job)


def test_inputs_that_fit_nowhere_are_refused_before_anything_is_run(evaluator, make):
    job = make.problem("vector_add", None, make.tensors((1 << 37,), (1 << 37,)))
    with pytest.raises(BadSpec, match=r"1024\.0 GiB") as caught:
        evaluator.describe(job)
    assert caught.value.field == "ci[0].dims"


def test_different_parameters_are_told(evaluator, make):
    job = make.problem("linear", "linear_pytorch", make.tensors((40, 64)), init_args=(64, 48))
    text = make.text("linear_pytorch").replace("weight", "matrix")
    (note,) = evaluator.describe(with_reference(job, text)).notes
    assert "matrix: float32[48, 64]" in note
