"""What a person sees: progress on standard error, results on standard output."""

import re
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn
from rich.progress import Progress
from rich.progress import SpinnerColumn
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn

from xeforge.domain.check import Check
from xeforge.domain.events import Audited
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Described
from xeforge.domain.events import Event
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Voided
from xeforge.domain.history import History
from xeforge.domain.isolation import caution
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome
from xeforge.pipeline.engine import ready_steps
from xeforge.report import units
from xeforge.report.document import cases_run
from xeforge.report.document import unsaid

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
error_console = Console(stderr=True, highlight=False)
output_console = Console(highlight=False)
_COLOURS = {
    Outcome.ACCEPTED: "green",
    Outcome.REJECTED: "red",
    Outcome.UNDECIDED: "yellow",
    Outcome.VOID: "yellow",
}
_ISSUE_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.SPEED: "cyan"}


def visible(text: str) -> str:
    """Spell control characters out: quoted words must not move the cursor or recolour a line."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def complain(kind: str, message: str) -> None:
    """Print an error the way every command does."""
    error_console.print(f"[bold red]{kind}:[/] {escape(visible(message))}", soft_wrap=True)


def say(message: str) -> None:
    """Print one line of information."""
    error_console.print(visible(message), soft_wrap=True)


def tell(message: str) -> None:
    """Print one line of the result on standard output."""
    output_console.print(escape(visible(message)), soft_wrap=True)


def announce(problem: Problem) -> None:
    """Say what reading decided; that there is no independent oracle, loudly."""
    for note in problem.notes:
        say(f"note      {escape(note)}")
    if problem.reference is None:
        say(
            "[bold yellow]no reference:[/] the submitted kernel is its own oracle, so wrong values "
            "cannot be found, only self-evident faults (--reference names one)"
        )


def tell_caution(history: History) -> None:
    """Say on standard output when the audited code ran without walls."""
    words = caution(history.audited.sandbox) if history.audited else ""
    if words:
        tell(words)


def tell_checks(checks: Sequence[Check]) -> None:
    """Print one line for each check: how it came out, and what it rests on."""
    for check in checks:
        mark = "[green]passed[/]" if check.passed else "[red]FAILED[/]"
        words = escape(visible(check.message))
        output_console.print(f"{mark} {check.name} ({check.basis}): {words}", soft_wrap=True)


class Narrator:
    """Prints each new event once and keeps a progress bar below them."""

    def __init__(self, history: History) -> None:
        self._told = len(history.records)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            console=error_console,
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, count="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def observe(self, history: History) -> None:
        """Tell what is new."""
        for record in history.records[self._told :]:
            for line in _lines(record.event, history):
                say(line)
        self._told = len(history.records)
        steps = ready_steps(history)
        budget = history.problem.budget_trials
        self._progress.update(
            self._task,
            description=", ".join(step.id for step in steps[:3]) or "done",
            total=budget,
            completed=len(history.trials()),
            count=f"{len(history.trials())} judged",
        )


def _lines(event: Event, history: History) -> list[str]:
    """Return what to print about an event."""
    lines: list[str] = []
    match event:
        case Described():
            lines = [f"[bold]describe[/]  inputs {escape('; '.join(event.input_shapes))}"]
        case Audited():
            lines = _audit_lines(event)
        case Planned():
            lines = [f"[bold]plan[/]      {' -> '.join(event.stages)}"]
        case Proposed():
            lines = [f"[bold]propose[/]   {escape(words)}" for words in unsaid(event)]
        case Judged():
            lines = [_trial_line(event.trial, history), *_scope_lines(event.trial, history)]
        case Confirmed():
            lines = [f"[bold]confirm[/]   {_trial_line(event.trial, history)}"]
        case Voided():
            lines = [f"[yellow]void[/]      {event.step}: {escape(event.message)}"]
        case _:
            pass
    return lines


def _audit_lines(event: Audited) -> list[str]:
    right, run = len(event.trusted_cases), cases_run(event)
    lines = [
        f"[bold]audit[/]     right on {right} of {run} kinds of input, isolated by {event.sandbox}"
    ]
    for issue in event.issues:
        place = f" line {issue.line}" if issue.line else ""
        colour = _ISSUE_COLOURS[issue.severity]
        lines.append(
            f"  [{colour}]{issue.severity}[/] {issue.type}{place}: {escape(issue.message)}"
        )
    lines.extend(f"  not checked: {escape(each)}" for each in event.unchecked)
    return lines


def _scope_lines(trial: Trial, history: History) -> list[str]:
    """Return for which inputs alone an accepted candidate is fast, if so."""
    scope = history.candidate(trial.candidate).scope
    is_accepted = trial.verdict.outcome is Outcome.ACCEPTED
    return [f"    {escape(scope)}"] if scope and is_accepted else []


def _trial_line(trial: Trial, history: History) -> str:
    candidate, verdict = history.candidate(trial.candidate), trial.verdict
    colour = _COLOURS[verdict.outcome]
    ratio = trial.ratio
    speed = units.ratio(ratio.estimate, ratio.low, ratio.high) if ratio else ""
    grade = f" ({verdict.grade})" if verdict.grade else ""
    reason = f" {verdict.reason}" if verdict.reason else ""
    head = f"[{colour}]{candidate.id:<4}{verdict.outcome}{grade}{reason}[/]"
    said = "" if verdict.outcome is Outcome.ACCEPTED else f" - {escape(verdict.message)}"
    return f"{head} {speed} {escape(candidate.because)}{said}"
