"""Step 2 of the walk: what the user sent becomes a Problem, or an error that points at a line."""

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.domain.submission import Submission
from xeforge.errors import BadKernel
from xeforge.errors import BadRequest
from xeforge.intake.marks import nearest
from xeforge.intake.signatures import check_calls
from xeforge.intake.signatures import check_helper_dims
from xeforge.intake.signatures import mismatch
from xeforge.intake.spec import read_spec
from xeforge.intake.stages import read_stages
from xeforge.source.contents import KernelContents
from xeforge.source.contents import read_contents

BACKENDS: Final = ("cuda", "xpu", "cpu")
FILE_VARIANT: Final = "file"
"""Name of the only workload and variant when there is no spec."""

_NO_REFERENCE: Final = (
    "no reference: the submitted kernel is its own oracle, so only self-evident faults can be "
    "found in it"
)


def read(
    submission: Submission, *, device_names: Collection[str], require_kernel: bool = True
) -> Problem:
    """Turn a submission into a problem. Pure: opens no file, runs nothing of the user's.

    Args:
        submission: What the user sent.
        device_names: Names of the known device models.
        require_kernel: Whether the kernel file must hold a jit function.

    Raises:
        BadKernel: Kernel or reference cannot be used as such.
        BadSpec: The spec breaks its format or does not fit the files.
        BadRequest: An option is wrong.
    """
    _check_options(submission, device_names)
    stages, notes = read_stages(submission.stages)
    kernel = _read_file(submission.kernel, require_kernel=require_kernel)
    reference = None
    if submission.reference is None:
        notes += (_NO_REFERENCE,)
    else:
        reference = _read_file(submission.reference, require_kernel=False)
    files = [each for each in (reference, kernel) if each is not None]
    workloads, more = _workloads(submission, files)
    return Problem(
        kernel=submission.kernel,
        reference=submission.reference,
        workloads=tuple(_with_tolerances(each, submission) for each in workloads),
        target=submission.target,
        backend=submission.backend,
        stages=stages,
        budget_seconds=submission.budget_seconds,
        budget_trials=submission.budget_trials,
        seed=submission.seed,
        notes=(*notes, *more, *_about_tolerances(submission)),
    )


def _check_options(submission: Submission, device_names: Collection[str]) -> None:
    if submission.target not in device_names:
        raise BadRequest(
            f"unknown device model {submission.target!r}{nearest(submission.target, device_names)}",
            field="target",
            remedy=f"one of {', '.join(sorted(device_names))}",
        )
    if submission.backend not in BACKENDS:
        raise BadRequest(
            f"unknown device type {submission.backend!r}{nearest(submission.backend, BACKENDS)}",
            field="device",
            remedy=f"one of {', '.join(BACKENDS)}",
        )
    for field in ("budget_seconds", "budget_trials"):
        value = getattr(submission, field)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise BadRequest(
                f"the budget {value} is not positive",
                field=field,
                remedy="give a positive number, or leave the option out for no limit",
            )
    for field in ("rtol", "atol"):
        value = getattr(submission, field)
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise BadRequest(
                f"the tolerance {value} is no finite number of at least zero",
                field=field,
                remedy="give a number such as 0.01",
            )
    if submission.variants and submission.spec is None:
        raise BadRequest(
            "a variant is chosen, but there is no spec",
            field="variant",
            remedy="pass the spec with --spec, or leave --variant out",
        )


def _read_file(source: SourceFile, *, require_kernel: bool) -> KernelContents:
    """Read a kernel or reference file and insist on a usable class Model."""
    contents = read_contents(source.text, source.path, require_kernel=require_kernel)
    model = contents.model
    if model is None:
        near = nearest("Model", contents.classes)
        raise BadKernel(
            f"no class named Model{near}",
            file=source.path,
            remedy="wrap the computation in class Model(torch.nn.Module) with forward(); a class "
            "of another name must be renamed",
        )
    if not model.is_module:
        raise BadKernel(
            "Model is no torch.nn.Module, so that its weights cannot be compared",
            file=source.path,
            line=model.line,
            remedy="derive it: class Model(torch.nn.Module)",
        )
    if model.method("forward") is None and set(model.bases) <= {"nn.Module", "torch.nn.Module"}:
        raise BadKernel(
            "Model has no method forward",
            file=source.path,
            line=model.line,
            remedy="add forward(self, ...) that returns a tensor",
        )
    return contents


def _workloads(
    submission: Submission, files: list[KernelContents]
) -> tuple[tuple[Workload, ...], tuple[str, ...]]:
    if submission.spec is None:
        return _from_file(submission, files)
    spec = read_spec(
        submission.spec,
        variants=submission.variants,
        prefers_xpu=submission.backend == "xpu" or submission.target.startswith("intel"),
    )
    for contents in files:
        check_calls(spec, contents)
    notes = list(spec.notes)
    if any(each.from_file for each in spec.workloads):
        notes.append(_require_helper("get_inputs", files, submission))
        check_helper_dims(spec, files)
    if any(each.init_args is None for each in spec.workloads):
        notes += _init_arguments_note(files)
    return spec.workloads, tuple(notes)


def _from_file(
    submission: Submission, files: list[KernelContents]
) -> tuple[tuple[Workload, ...], tuple[str, ...]]:
    """Return the one workload of a submission without a spec."""
    note = _require_helper("get_inputs", files, submission)
    workload = Workload(
        name=FILE_VARIANT,
        variant=FILE_VARIANT,
        inputs=(),
        init_args=None,
        dtype=None,
        dims={},
        from_file=True,
    )
    return (workload,), (f"no spec: {note}", *_init_arguments_note(files))


def _require_helper(name: str, files: list[KernelContents], submission: Submission) -> str:
    for contents in files:
        if contents.has_get_inputs:
            return f"inputs come from {name}() of {contents.path}"
    why = "the spec declares none" if submission.spec else "there is no spec"
    raise BadKernel(
        f"there are no inputs: {why}, and no file defines {name}()",
        file=submission.kernel.path,
        remedy="pass a spec with --spec, or add get_inputs() that returns a list of tensors",
    )


def _init_arguments_note(files: list[KernelContents]) -> list[str]:
    """Say where constructor arguments come from; refuse when they are needed and come from nowhere.

    Raises:
        BadKernel: A constructor needs arguments, and neither spec nor file gives any.
    """
    for contents in files:
        if contents.has_get_init_inputs:
            return [f"constructor arguments come from get_init_inputs() of {contents.path}"]
    for contents in files:
        model = contents.model
        init = None if model is None else model.method("__init__")
        if model is not None and init is not None and mismatch(0, model.init_parameters):
            needed = ", ".join(each.name for each in model.init_parameters if each.is_required)
            raise BadKernel(
                f"Model() needs arguments ({needed}), and nothing supplies them",
                file=contents.path,
                line=init.line,
                remedy="add inits: to the spec, or get_init_inputs() to the file",
            )
    return []


def _with_tolerances(workload: Workload, submission: Submission) -> Workload:
    return replace(
        workload,
        rtol=workload.rtol if submission.rtol is None else submission.rtol,
        atol=workload.atol if submission.atol is None else submission.atol,
    )


def _about_tolerances(submission: Submission) -> tuple[str, ...]:
    return tuple(
        f"{name} {value:g} replaces the spec's"
        for name, value in (("rtol", submission.rtol), ("atol", submission.atol))
        if value is not None
    )
