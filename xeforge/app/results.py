"""Writes what a job found: kernel, certificate and report in three forms."""

import sys
from pathlib import Path

from xeforge.adapters.system_clock import SystemClock
from xeforge.app.console import output_console
from xeforge.app.console import tell
from xeforge.domain.codec import dumps
from xeforge.domain.history import History
from xeforge.pipeline.certificate import issue


def write_results(history: History, folder: Path, *, output: Path | None, as_json: bool) -> None:
    """Write all files of a finished or interrupted job and say where they are."""
    from knowledge.load import find_device
    from xeforge.report import markdown
    from xeforge.report import page
    from xeforge.report.document import build_report

    device = find_device(history.problem.target)
    report = build_report(history, device)
    audited = history.audited
    confirmed = history.confirmation(history.incumbent())
    html = page.render(
        report,
        device,
        ceilings=audited.ceilings if audited else None,
        samples=confirmed.samples if confirmed else (),
    )
    _write(folder / "report.json", dumps(report))
    _write(folder / "report.md", markdown.render(report))
    _write(folder / "report.html", html)
    certificate = issue(history, device, SystemClock().now_seconds())
    best = history.incumbent()
    if best != history.baseline.id:
        winner = history.candidate(best).source
        _write(folder / "winner.py", winner)
        _write(folder / "winner.diff", report.diff)
        if output is not None and certificate is not None:
            _write(output, winner)
    if certificate is not None:
        _write(folder / "certificate.json", dumps(certificate))
    if as_json:
        sys.stdout.write(dumps(report) + "\n")
        return
    _summary(history, report.headline, report.diff, folder, has_proof=certificate is not None)


def _summary(history: History, headline: str, diff: str, folder: Path, *, has_proof: bool) -> None:
    """Print what a person wants to know at the end."""
    from rich.syntax import Syntax

    if diff:
        output_console.print(Syntax(diff, "diff", background_color="default"))
    tell(headline)
    if has_proof:
        tell(f"certificate  {folder / 'certificate.json'}")
    tell(f"report       {folder / 'report.html'} (also report.md, report.json)")
    tell(f"job          {history.job}")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
