"""What is handed to the user as proof."""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.problem import Problem
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import PairedSamples
from xeforge.domain.trial import Trial

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Certificate:
    """A claim with everything a third party needs to re-run it.

    Attributes:
        format: Version of this layout.
        job: Job id.
        problem: Baseline, reference, shapes, tolerances.
        winner_source: The faster kernel.
        digests: SHA-256 of ``kernel``, ``reference`` and ``winner`` texts.
        claim: One sentence: how much faster, versus what, on which device, how sure.
        trial: Verdict and ratio of the confirmation, against the submitted kernel.
        samples: Raw times; empty when estimated.
        estimates: Modelled times; empty when measured.
        card: Unit that measured; None when estimated.
        ceilings: Its measured ceilings.
        versions: Of XeForge, Python, Torch, Triton and driver.
        sandbox: Isolation in force.
        created_at_seconds: Unix time.
    """

    format: int
    job: str
    problem: Problem
    winner_source: str
    digests: Mapping[str, str]
    claim: str
    trial: Trial
    samples: tuple[PairedSamples, ...]
    estimates: tuple[Estimate, ...]
    card: Card | None
    ceilings: Ceilings | None
    versions: Mapping[str, str]
    sandbox: str
    created_at_seconds: float
