"""`xeforge certificate check`: re-runs a claim."""

from pathlib import Path
from typing import Annotated

import typer

from xeforge.app.bench import run_comparison
from xeforge.app.console import tell
from xeforge.app.console import tell_caution
from xeforge.app.exit_codes import ExitCode
from xeforge.app.files import read_source
from xeforge.app.isolation import UnsandboxedOption
from xeforge.domain.certificate import FORMAT
from xeforge.domain.certificate import Certificate
from xeforge.domain.codec import loads
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome
from xeforge.errors import BadRequest
from xeforge.errors import UserError
from xeforge.pipeline.certificate import digests
from xeforge.pipeline.certificate import sealed
from xeforge.pipeline.compare import GIVEN_ID
from xeforge.report import units

app = typer.Typer(help="Work with certificates.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Work with certificates."""


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate.json.")],
    *,
    allow_unsandboxed: UnsandboxedOption = False,
) -> None:
    """Run the claim of a certificate again, here.

    Exit codes: 0 it holds, 3 it does not hold here, 2 the file is no certificate or was changed,
    4 its baseline is wrong here, 5 platform fault.
    """
    claimed = read_certificate(file)
    tell(f"claim: {claimed.claim}")
    history = run_comparison(
        claimed.problem, claimed.winner_source, allow_unsandboxed=allow_unsandboxed
    )
    tell_caution(history)
    trial = history.trial(GIVEN_ID)
    if trial is None:
        tell("the baseline of the claim is wrong here; nothing was compared")
        raise typer.Exit(ExitCode.BASELINE_WRONG)
    _compare_cards(
        claimed, history.audited.card.product if history.audited and history.audited.card else ""
    )
    raise typer.Exit(_conclude(claimed.trial, trial))


def read_certificate(file: Path) -> Certificate:
    """Load a certificate and check that its texts are those it was issued for.

    Raises:
        BadRequest: It is no certificate of a known format, or was changed.
    """
    try:
        found = loads(Certificate, read_source(file).text)
    except (UserError, ValueError) as error:
        raise BadRequest(
            f"is no certificate: {error}", file=file, remedy="name a certificate.json of a report"
        ) from error
    if found.format != FORMAT:
        raise BadRequest(
            f"has format {found.format}, this version reads {FORMAT}",
            file=file,
            remedy="use the version of XeForge that issued it",
        )
    expected = digests(found.problem, found.winner_source)
    changed = [name for name, value in expected.items() if found.digests.get(name) != value]
    if sealed(found).digests["body"] != found.digests.get("body"):
        changed.append("the claim and its figures")
    if changed:
        raise BadRequest(
            f"was changed: {', '.join(changed)} does not match its digest",
            file=file,
            remedy="get the original certificate",
        )
    return found


def _compare_cards(claimed: Certificate, product: str) -> None:
    """Say so when the claim was made elsewhere."""
    there = claimed.card.product if claimed.card else ""
    if there != product:
        tell(f"note: claimed on {there or 'no device'}, run again on {product or 'no device'}")


def _conclude(claimed: Trial, found: Trial) -> ExitCode:
    """Print and return whether the claim holds."""
    ratio = found.ratio
    speed = units.ratio(ratio.estimate, ratio.low, ratio.high) if ratio else "not compared"
    was = claimed.ratio
    before = units.ratio(was.estimate, was.low, was.high) if was else "-"
    tell(f"claimed {before}, found again {speed}: {found.verdict.outcome}")
    if found.verdict.outcome is Outcome.ACCEPTED and found.verdict.grade is claimed.verdict.grade:
        tell("the claim holds")
        return ExitCode.FASTER
    if found.verdict.outcome is Outcome.VOID:
        return ExitCode.PLATFORM_FAULT
    tell(f"the claim does NOT hold here: {found.verdict.message}")
    return ExitCode.NOTHING_BETTER
