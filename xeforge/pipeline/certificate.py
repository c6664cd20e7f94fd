"""Issues the proof and says in one sentence what it proves."""

import hashlib
import platform
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version

from xeforge import __version__
from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.certificate import FORMAT
from xeforge.domain.certificate import Certificate
from xeforge.domain.codec import dumps
from xeforge.domain.device import Card
from xeforge.domain.device import Device
from xeforge.domain.history import History
from xeforge.domain.isolation import caution
from xeforge.domain.problem import Problem
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade


def digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def digests(problem: Problem, winner_source: str) -> dict[str, str]:
    """Return the digests of the three files a claim speaks of."""
    found = {"kernel": digest(problem.kernel.text), "winner": digest(winner_source)}
    if problem.reference is not None:
        found["reference"] = digest(problem.reference.text)
    return found


def sealed(certificate: Certificate) -> Certificate:
    """Add a digest over everything else, so that a changed figure is noticed.

    It is no signature: whoever changes a certificate on purpose can compute it again. What proves
    a claim is running it again.
    """
    body = digest(dumps(replace(certificate, digests=_texts_only(certificate))))
    return replace(certificate, digests={**_texts_only(certificate), "body": body})


def _texts_only(certificate: Certificate) -> dict[str, str]:
    return {name: each for name, each in certificate.digests.items() if name != "body"}


def versions(card: Card | None) -> dict[str, str]:
    """Return the versions a claim depends on; what is not installed is left out."""
    found = {"xeforge": __version__, "python": platform.python_version()}
    for name in ("torch", "triton"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    if card is not None:
        found |= {"torch": card.torch, "triton": card.triton, "driver": card.driver}
    return found


def claim(trial: Trial, device: Device, card: Card | None, sandbox: str, *, scope: str = "") -> str:
    """Say how much faster, versus what, on which device and how sure, for which inputs.

    Args:
        trial: The comparison.
        device: Model of accelerator.
        card: The unit that ran it; None when estimated.
        sandbox: Isolation in force; the claim says so where there was none.
        scope: As `scope_of` gives it.
    """
    words = (_claim(trial, device, card), scope, caution(sandbox))
    return "; ".join(each for each in words if each)


def scope_of(history: History, candidate: str) -> str:
    """Return for which inputs a candidate is fast, by its own change or by one it builds on."""
    while candidate != BASELINE_ID:
        found = history.candidate(candidate)
        if found.scope:
            return found.scope
        candidate = found.parent
    return ""


def _claim(trial: Trial, device: Device, card: Card | None) -> str:
    ratio = trial.ratio
    if ratio is None:
        return "no speed was compared"
    if trial.verdict.grade is Grade.MEASURED:
        where = card.product if card else device.title
        return (
            f"{ratio.estimate:.2f}x faster than the submitted kernel, measured on {where} "
            f"(95 % interval {ratio.low:.2f}x to {ratio.high:.2f}x)"
        )
    return (
        f"{ratio.estimate:.2f}x faster than the submitted kernel by ESTIMATE for {device.title}; "
        "a cost model, not a measurement: no time was taken on any device"
    )


def issue(history: History, device: Device, at_seconds: float) -> Certificate | None:
    """Build the certificate of a confirmed winner; nothing when the job has none."""
    finished, audited = history.finished, history.audited
    if finished is None or finished.winner is None or audited is None:
        return None
    confirmed = history.confirmation(finished.winner)
    if confirmed is None:
        return None
    winner = history.candidate(finished.winner)
    plain = Certificate(
        format=FORMAT,
        job=history.job,
        problem=history.problem,
        winner_source=winner.source,
        digests=digests(history.problem, winner.source),
        claim=claim(
            confirmed.trial,
            device,
            audited.card,
            audited.sandbox,
            scope=scope_of(history, winner.id),
        ),
        trial=confirmed.trial,
        samples=confirmed.samples,
        estimates=confirmed.estimates,
        card=audited.card,
        ceilings=audited.ceilings,
        versions=versions(audited.card),
        sandbox=audited.sandbox,
        created_at_seconds=at_seconds,
    )
    return sealed(plain)
