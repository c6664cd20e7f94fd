"""`xeforge bench`: is B faster than A, and how sure is that? And can this bench be trusted?"""

import sys
from dataclasses import dataclass
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from xeforge.adapters.memory_store import MemoryStore
from xeforge.adapters.system_clock import SystemClock
from xeforge.app.choose import choose_backend
from xeforge.app.choose import choose_target
from xeforge.app.console import Narrator
from xeforge.app.console import announce
from xeforge.app.console import tell
from xeforge.app.console import tell_caution
from xeforge.app.console import tell_checks
from xeforge.app.embedded import open_parts
from xeforge.app.exit_codes import ExitCode
from xeforge.app.files import read_source
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.request import AtolOption
from xeforge.app.request import DeviceOption
from xeforge.app.request import JsonOption
from xeforge.app.request import ReferenceOption
from xeforge.app.request import RtolOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.app.selftest import conclusion
from xeforge.app.selftest import try_bench
from xeforge.domain.codec import dumps
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.errors import BadRequest
from xeforge.pipeline.compare import GIVEN_ID
from xeforge.pipeline.compare import compare
from xeforge.report import units


@dataclass(frozen=True, slots=True)
class BenchResult:
    """What `xeforge bench --json` prints.

    Attributes:
        first, second: Paths of the two kernels.
        trial: Verdict, findings and ratios of the second against the first; None when the first
            is wrong.
        device: Model of accelerator.
        card: Product name of the unit that measured; empty when estimated.
        sandbox: Isolation in force; empty when the audit did not get that far.
    """

    first: str
    second: str
    trial: Trial | None
    device: str
    card: str
    sandbox: str


def command(
    first: Annotated[
        Path | None, typer.Argument(metavar="A.py", help="Baseline kernel.", show_default=False)
    ] = None,
    second: Annotated[
        Path | None, typer.Argument(metavar="B.py", help="Kernel to compare.", show_default=False)
    ] = None,
    *,
    selftest: Annotated[
        bool, typer.Option("--selftest", help="Try the bench itself, with kernels of ours.")
    ] = False,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    device: DeviceOption = None,
    target: TargetOption = None,
    rtol: RtolOption = None,
    atol: AtolOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say whether B is faster than A, how sure, and why not if not.

    Exit codes: 0 faster, measured; 6 faster by estimate; 3 not faster, undecided or rejected;
    4 A is wrong; 2 bad input; 5 platform fault. With --selftest: 0 all passed, 5 otherwise.
    """
    if selftest:
        tried = partial(run_selftest, as_json=as_json, allow_unsandboxed=allow_unsandboxed)
        raise typer.Exit(tried(device, target, given=first))
    if first is None or second is None:
        raise BadRequest(
            "two kernels are needed", field="A.py B.py", remedy="xeforge bench A.py B.py"
        )
    problem = to_problem(
        first,
        spec=spec,
        reference=reference,
        variants=variant,
        device=device,
        target=target,
        rtol=rtol,
        atol=atol,
    )
    raise typer.Exit(
        _compared(problem, first, second, as_json=as_json, allow_unsandboxed=allow_unsandboxed)
    )


def _compared(
    problem: Problem, first: Path, second: Path, *, as_json: bool, allow_unsandboxed: bool
) -> ExitCode:
    """Compare two kernels, print what came out, and return the exit code for it."""
    source = read_source(second).text
    history = run_comparison(problem, source, allow_unsandboxed=allow_unsandboxed)
    trial = history.trial(GIVEN_ID)
    card = history.audited.card if history.audited else None
    result = BenchResult(
        str(first),
        str(second),
        trial,
        problem.target,
        card.product if card else "",
        history.audited.sandbox if history.audited else "",
    )
    if as_json:
        sys.stdout.write(dumps(result) + "\n")
    else:
        _print(result)
        tell_caution(history)
    return _exit_code(trial)


def run_selftest(
    device: str | None,
    target: str | None,
    *,
    as_json: bool,
    allow_unsandboxed: bool,
    given: Path | None,
) -> ExitCode:
    """Try the bench of this machine and print how every check came out."""
    if given is not None:
        raise BadRequest(
            "takes no kernel", field="--selftest", remedy="xeforge bench --selftest alone"
        )
    backend = choose_backend(device)
    result = try_bench(backend, choose_target(target, backend), allow_unsandboxed=allow_unsandboxed)
    if as_json:
        sys.stdout.write(dumps(result) + "\n")
    else:
        tell_checks(result.checks)
        tell(conclusion(result))
    return ExitCode.FASTER if result.passed else ExitCode.PLATFORM_FAULT


def run_comparison(problem: Problem, source: str, *, allow_unsandboxed: bool) -> History:
    """Judge one source against the problem's kernel with the timing of a confirmation.

    Raises:
        ToolchainMissing: No sandbox works here and the operator did not allow to go without.
    """
    announce(problem)
    store = MemoryStore(SystemClock())
    start = History("audit", problem)
    opened = open_parts(problem, store, allow_unsandboxed=allow_unsandboxed)
    with opened as parts, Narrator(start) as narrator:
        thorough = replace(parts, search_timing=parts.confirm_timing)
        return compare(problem, source, thorough, narrator.observe)


def _print(result: BenchResult) -> None:
    """Print the decision for people."""
    trial = result.trial
    if trial is None:
        tell(f"{result.first} is wrong; nothing was compared")
        return
    ratio = trial.ratio
    speed = units.ratio(ratio.estimate, ratio.low, ratio.high) if ratio else "not compared"
    where = result.card or f"{result.device}, by ESTIMATE"
    tell(f"{trial.verdict.outcome}: {trial.verdict.message}")
    tell(f"{result.first} / {result.second}: {speed} on {where}")


def _exit_code(trial: Trial | None) -> ExitCode:
    if trial is None:
        return ExitCode.BASELINE_WRONG
    if trial.verdict.outcome is Outcome.VOID:
        return ExitCode.PLATFORM_FAULT
    if trial.verdict.outcome is not Outcome.ACCEPTED:
        return ExitCode.NOTHING_BETTER
    is_measured = trial.verdict.grade is Grade.MEASURED
    return ExitCode.FASTER if is_measured else ExitCode.FASTER_BY_ESTIMATE
