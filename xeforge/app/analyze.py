"""`xeforge analyze`: what is in a kernel, what could be better, what the roof is."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from rich.table import Table

from xeforge.app.console import output_console
from xeforge.app.console import tell
from xeforge.app.request import DeviceOption
from xeforge.app.request import JsonOption
from xeforge.app.request import KernelArgument
from xeforge.app.request import ReferenceOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.domain.codec import dumps
from xeforge.domain.device import Device
from xeforge.domain.issue import Issue
from xeforge.domain.problem import Workload
from xeforge.intake.issues import MODEL_ONLY
from xeforge.intake.issues import find_issues
from xeforge.report import units
from xeforge.source.contents import KernelContents
from xeforge.source.contents import read_contents
from xeforge.verify.floors import compulsory_bytes


@dataclass(frozen=True, slots=True)
class Bound:
    """The roof over one workload on the target's published peaks.

    Attributes:
        workload: Workload name.
        is_timed: Whether it decides the speed.
        flops, moved_bytes: As declared, or derived from the inputs alone; None when unknown.
        floor_seconds: No correct kernel is faster; None when unknown.
        bound: ``"memory"``, ``"arithmetic"`` or ``""``.
    """

    workload: str
    is_timed: bool
    flops: float | None
    moved_bytes: float | None
    floor_seconds: float | None
    bound: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """What `xeforge analyze --json` prints.

    Attributes:
        kernel: Path.
        jit_functions: Names with lines.
        launches: ``"kernel at line 40 in Model.forward"``.
        issues: Found by the static detectors, each with line, evidence and remedy.
        model_only: Issue types that only a language model can name, with the reason.
        bounds: Per workload.
        device: Model of accelerator.
        notes: Decisions made while reading.
    """

    kernel: str
    jit_functions: tuple[str, ...]
    launches: tuple[str, ...]
    issues: tuple[Issue, ...]
    bounds: tuple[Bound, ...]
    device: str
    notes: tuple[str, ...]
    model_only: Mapping[str, str] = field(default_factory=dict)


def command(
    kernel: KernelArgument,
    *,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    device: DeviceOption = None,
    target: TargetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a kernel's contents, issues and roofline bound per variant. Runs none of its code."""
    from knowledge.load import find_device

    problem = to_problem(
        kernel,
        spec=spec,
        reference=reference,
        variants=variant,
        device=device,
        target=target,
    )
    model = find_device(problem.target)
    contents = read_contents(problem.kernel.text, problem.kernel.path)
    found = Analysis(
        kernel=problem.kernel.path,
        jit_functions=tuple(f"{each.name} line {each.line}" for each in contents.jit_functions),
        launches=_launches(contents),
        issues=find_issues(problem.kernel, problem.reference, vendor=model.vendor),
        bounds=tuple(bound_of(each, model) for each in problem.workloads),
        device=model.title,
        notes=problem.notes,
        model_only=MODEL_ONLY,
    )
    if as_json:
        sys.stdout.write(dumps(found) + "\n")
    else:
        _print(found)


def _launches(contents: KernelContents) -> tuple[str, ...]:
    return tuple(
        f"{each.kernel} at line {each.line} in {each.function}" for each in contents.launches
    )


def bound_of(workload: Workload, device: Device) -> Bound:
    """Place one workload under the roofs of a device."""
    moved = compulsory_bytes(workload)
    dtype = workload.dtype or (workload.inputs[0].dtype if workload.inputs else "float32")
    if moved is None:
        return Bound(workload.name, workload.is_timed, workload.flops, None, None, "")
    floor = device.floor_seconds(flops=workload.flops or 0.0, moved_bytes=moved, dtype=dtype)
    memory_seconds = moved / device.bandwidth_bytes_per_s
    kind = "memory" if memory_seconds >= floor else "arithmetic"
    return Bound(workload.name, workload.is_timed, workload.flops, moved, floor, kind)


def _print(found: Analysis) -> None:
    """Print the analysis for people."""
    tell(f"{found.kernel} for {found.device}")
    for line in (*found.jit_functions, *found.launches):
        tell(f"  {line}")
    for issue in found.issues:
        place = f" line {issue.line}" if issue.line else ""
        tell(f"  {issue.severity} {issue.type}{place}: {issue.message}")
        if issue.remedy:
            tell(f"    {issue.remedy}")
    table = Table("workload", "timed", "FLOP", "bytes", "floor on published peaks", "bound by")
    for each in found.bounds:
        table.add_row(
            each.workload,
            "yes" if each.is_timed else "no",
            f"{each.flops:.3g}" if each.flops else "-",
            f"{each.moved_bytes:.3g}" if each.moved_bytes else "-",
            units.seconds(each.floor_seconds) if each.floor_seconds else "-",
            each.bound,
        )
    output_console.print(table)
    for note in found.notes:
        tell(f"note: {note}")
    tell(f"not looked for, a language model may name them: {', '.join(found.model_only)}")
