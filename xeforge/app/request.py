"""Options that several commands share, and the road from them to a Problem."""

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import Annotated
from typing import TypeAlias

import typer

from xeforge.app.choose import choose_backend
from xeforge.app.choose import choose_target
from xeforge.app.files import read_source
from xeforge.domain.problem import Problem
from xeforge.domain.submission import Submission
from xeforge.intake.read import read

KernelArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="KERNEL.py", help="Kernel file with a class Model.")
]
SpecOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--spec", help="YAML spec with shapes. Default: the file's own inputs."),
]
ReferenceOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--reference", help="PyTorch reference. Default: KERNEL_pytorch.py beside it."),
]
VariantOption: TypeAlias = Annotated[
    list[str] | None, typer.Option("--variant", help="Variant of the spec; may be repeated.")
]
DeviceOption: TypeAlias = Annotated[
    str | None, typer.Option("--device", help="cuda, xpu or cpu. Default: the best one here.")
]
TargetOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--target", help="Device model to optimize for; `xeforge devices` lists them."),
]
RtolOption: TypeAlias = Annotated[
    float | None, typer.Option("--rtol", help="Relative tolerance; overrides the spec.")
]
AtolOption: TypeAlias = Annotated[
    float | None, typer.Option("--atol", help="Absolute tolerance; overrides the spec.")
]
OptionalKernelArgument: TypeAlias = Annotated[
    Path | None, typer.Argument(metavar="KERNEL.py", help="Kernel file with a class Model.")
]
StagesOption: TypeAlias = Annotated[
    str | None, typer.Option("--stages", help="Comma-separated stage names. Default: all.")
]
BudgetSecondsOption: TypeAlias = Annotated[
    float | None, typer.Option("--budget-seconds", help="Wall time of the search.")
]
BudgetTrialsOption: TypeAlias = Annotated[
    int | None, typer.Option("--budget-trials", help="Candidates to judge at most.")
]
OutputOption: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write the faster kernel here.")
]
ReportOption: TypeAlias = Annotated[
    Path | None, typer.Option("--report", help="Folder for report, certificate and kernel.")
]
ResumeOption: TypeAlias = Annotated[
    str | None, typer.Option("--resume", metavar="JOB", help="Go on with an earlier job.")
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the result as JSON on standard output.")
]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a search may spend, and which stages it may use.

    Attributes:
        stages: Stage names; empty: all.
        seconds, trials: Budgets; None: no limit.
    """

    stages: tuple[str, ...] = field(default=())
    seconds: float | None = None
    trials: int | None = None


_IN_EVAL_MODE = """
import torch as _torch

_Given = Model


class Model(_Given, _torch.nn.Module):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.eval()
"""
"""Put behind a module's file, so that the oracle evaluates it in the mode that is compiled."""


def to_compile(
    module: Path,
    *,
    spec: Path | None,
    variants: list[str] | None,
    mode: str = "eval",
    device: str | None = "cpu",
    target: str | None = None,
) -> Problem:
    """Read a PyTorch module, which needs no kernel, and its shapes into a Problem.

    The module is the kernel of the problem; its reference is the module in the mode asked for.

    Raises:
        UserError: A file, an option or the spec is wrong.
    """
    from knowledge.load import load_devices

    source = read_source(module)
    backend = choose_backend(device)
    suffix = _IN_EVAL_MODE if mode == "eval" else ""
    submission = Submission(
        kernel=source,
        reference=replace(source, text=source.text + suffix),
        spec=read_source(spec) if spec else None,
        variants=tuple(variants or ()),
        target=choose_target(target, backend),
        backend=backend,
    )
    return read(submission, device_names=tuple(load_devices()), require_kernel=False)


def to_problem(
    kernel: Path,
    *,
    spec: Path | None,
    reference: Path | None,
    variants: list[str] | None,
    device: str | None,
    target: str | None,
    rtol: float | None = None,
    atol: float | None = None,
    limits: Limits | None = None,
) -> Problem:
    """Read the files the user named into a Problem.

    Raises:
        UserError: A file, an option or the spec is wrong.
    """
    from knowledge.load import load_devices

    limits = limits or Limits()
    source = read_source(kernel)
    sibling = kernel.with_name(f"{kernel.stem}_pytorch.py")
    found_reference = reference or (sibling if sibling.is_file() else None)
    backend = choose_backend(device)
    submission = Submission(
        kernel=source,
        reference=read_source(found_reference) if found_reference else None,
        spec=read_source(spec) if spec else None,
        variants=tuple(variants or ()),
        target=choose_target(target, backend),
        backend=backend,
        stages=limits.stages,
        budget_seconds=limits.seconds,
        budget_trials=limits.trials,
        rtol=rtol,
        atol=atol,
    )
    return read(submission, device_names=tuple(load_devices()))
