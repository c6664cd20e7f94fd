"""`xeforge optimize`: the main job."""

import os
from contextlib import closing
from functools import partial
from pathlib import Path

import typer

from xeforge.app.console import Narrator
from xeforge.app.console import announce
from xeforge.app.console import error_console
from xeforge.app.console import say
from xeforge.app.embedded import drive
from xeforge.app.embedded import home
from xeforge.app.embedded import mark_resumed
from xeforge.app.embedded import new_job_id
from xeforge.app.embedded import open_parts
from xeforge.app.embedded import open_store
from xeforge.app.exit_codes import exit_code
from xeforge.app.files import check_writable
from xeforge.app.files import make_folder
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.isolation import required_layer
from xeforge.app.request import AtolOption
from xeforge.app.request import BudgetSecondsOption
from xeforge.app.request import BudgetTrialsOption
from xeforge.app.request import DeviceOption
from xeforge.app.request import JsonOption
from xeforge.app.request import Limits
from xeforge.app.request import OptionalKernelArgument
from xeforge.app.request import OutputOption
from xeforge.app.request import ReferenceOption
from xeforge.app.request import ReportOption
from xeforge.app.request import ResumeOption
from xeforge.app.request import RtolOption
from xeforge.app.request import SpecOption
from xeforge.app.request import StagesOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.app.results import write_results
from xeforge.domain.history import History
from xeforge.errors import BadRequest
from xeforge.ports import JobStore


def command(
    kernel: OptionalKernelArgument = None,
    *,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    device: DeviceOption = None,
    target: TargetOption = None,
    stages: StagesOption = None,
    budget_seconds: BudgetSecondsOption = None,
    budget_trials: BudgetTrialsOption = None,
    rtol: RtolOption = None,
    atol: AtolOption = None,
    output: OutputOption = None,
    report: ReportOption = None,
    resume: ResumeOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a kernel faster, with proof.

    Exit codes: 0 faster kernel measured, 6 faster only by estimate, 3 nothing better found,
    2 bad input, 4 the submitted kernel is wrong, 5 platform fault, 130 interrupted.
    """
    if output is not None:
        check_writable(output)
    finish = partial(
        run_and_report, output=output, as_json=as_json, allow_unsandboxed=allow_unsandboxed
    )
    with closing(open_store(home())) as store:
        if resume is not None:
            job = _resumed(resume, kernel, store)
            history = finish(job, store, report)
            raise typer.Exit(exit_code(history))
        names = tuple(part.strip() for part in (stages or "").split(",") if part.strip())
        problem = to_problem(
            _required(kernel),
            spec=spec,
            reference=reference,
            variants=variant,
            device=device,
            target=target,
            rtol=rtol,
            atol=atol,
            limits=Limits(names, budget_seconds, budget_trials),
        )
        required_layer(allow_unsandboxed=allow_unsandboxed)
        store.create(job := new_job_id(), problem)
        history = finish(job, store, report)
    raise typer.Exit(exit_code(history))


def _resumed(job: str, kernel: Path | None, store: JobStore) -> str:
    """Return the id of a job to go on with; mark the pause."""
    if kernel is not None:
        raise BadRequest(
            "a resumed job has its files already",
            field="KERNEL.py",
            remedy=f"run `xeforge optimize --resume {job}` alone",
        )
    if store.history(job).finished is None:
        mark_resumed(job, store)
    return job


def run_and_report(
    job: str,
    store: JobStore,
    report: Path | None,
    *,
    output: Path | None = None,
    as_json: bool = False,
    allow_unsandboxed: bool = False,
) -> History:
    """Drive a job, then write its results into `report` or a folder named after the job."""
    folder = make_folder(report or Path("xeforge-reports") / job)
    history = run_job(job, store, allow_unsandboxed=allow_unsandboxed)
    write_results(history, folder, output=output, as_json=as_json)
    return history


def _required(kernel: Path | None) -> Path:
    if kernel is None:
        raise BadRequest("no kernel given", field="KERNEL.py", remedy="xeforge optimize KERNEL.py")
    return kernel


def run_job(job: str, store: JobStore, *, allow_unsandboxed: bool = False) -> History:
    """Drive a job to its end, or to the user's interrupt; return what is known then."""
    history = store.history(job)
    if history.finished is not None:
        return history
    announce(history.problem)
    say(f"job [bold]{job}[/] on {history.problem.backend} for {history.problem.target}")
    try:
        opened = open_parts(history.problem, store, allow_unsandboxed=allow_unsandboxed)
        with opened as parts, Narrator(history) as narrator:
            return drive(job, parts, narrator.observe, parallel=max(2, os.cpu_count() or 2))
    except KeyboardInterrupt:
        error_console.print(f"interrupted; go on with: xeforge optimize --resume {job}")
        return store.history(job)
