"""The facts that may be appended to a job's history."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.declined import Declined
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.issue import Issue
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import PairedSamples
from xeforge.domain.spending import Spending
from xeforge.domain.trial import Trial
from xeforge.domain.wins import RecipeEffect
from xeforge.domain.wins import WinRecord


class JobOutcome(StrEnum):
    """How a job ended."""

    IMPROVED = "improved"
    """A faster kernel was confirmed; the grade of the confirmation says how."""
    UNCHANGED = "unchanged"
    """Nothing better found: a good and cheap answer."""
    BASELINE_WRONG = "baseline_wrong"
    """The submitted kernel is wrong; nothing was optimized."""
    REFUSED = "refused"
    """The request cannot be served as it stands."""
    PLATFORM_FAULT = "platform_fault"
    """This machine could not do the work."""


@dataclass(frozen=True, slots=True)
class Described:
    """What is in the files.

    Attributes:
        input_shapes: Per timed workload, one line of text such as ``"float16[640, 3072]"``.
        parameters: ``state_dict`` entries of the submitted kernel, as text.
        notes: What the loader had to decide.
    """

    input_shapes: tuple[str, ...]
    parameters: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Audited:
    """The submitted kernel against the oracle.

    Attributes:
        issues: What is wrong or fragile; any of severity ``error`` stops the job.
        evidence: Facts behind the issues.
        build: Compiler reports of the submitted kernel for the target.
        estimates: Modelled time per timed workload; empty where times are measured.
        trusted_cases: Cases the baseline gets right; candidates must get the same right.
        unchecked: What could not be checked here and why.
        card: The unit that ran it; None when interpreted.
        ceilings: Measured ceilings of that unit; None when interpreted.
        sandbox: Name of the isolation in force, e.g. ``"bubblewrap"``.
    """

    issues: tuple[Issue, ...]
    evidence: Evidence
    build: BuildEvidence
    estimates: tuple[Estimate, ...]
    trusted_cases: tuple[str, ...]
    unchecked: tuple[str, ...]
    card: Card | None
    ceilings: Ceilings | None
    sandbox: str


@dataclass(frozen=True, slots=True)
class Analyzed:
    """What could be better in the submitted kernel."""

    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """Stages to visit, in order.

    Attributes:
        stages: Names, ordered.
        reasons: Why each stage is in or left out, ``"fusion: no proposer applies"``.
        wins: How often each recipe paid on this device before the job began. Kept, so that a job
            that is resumed gets the same advice whatever other jobs have recorded meanwhile.
    """

    stages: tuple[str, ...]
    reasons: tuple[str, ...]
    wins: Mapping[str, WinRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A change that a proposer could have made and did not, because advice speaks against it.

    Attributes:
        change: Name of the change, such as ``"drop_masks"``.
        recipes: Recipes that it carries out.
        reason: Why none of them applies, in words.
    """

    change: str
    recipes: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """A batch of candidates; an empty batch says that the proposer has no more.

    Attributes:
        stage: Stage that asked.
        proposer: Who answered.
        round: Number of the batch.
        candidates: New sources; duplicates of earlier ones were dropped.
        parent: Candidate that was to be improved.
        declined: Why there is nothing, where the proposer said so.
        skipped: What was left out on advice; said once for each stage and proposer.
    """

    stage: str
    proposer: str
    round: int
    candidates: tuple[Candidate, ...]
    parent: str = BASELINE_ID
    declined: Declined | None = None
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Gated:
    """What reading the candidate showed."""

    candidate: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Built:
    """What compiling the candidate showed."""

    candidate: str
    build: BuildEvidence


@dataclass(frozen=True, slots=True)
class Ran:
    """What running the candidate showed.

    Attributes:
        candidate: Candidate id.
        against: Incumbent it was timed against.
        evidence: Correctness.
        samples: Per timed workload; empty when not timed.
        estimates: Per timed workload; empty when timed.
        spent: Where the seconds went; None: not recorded.
    """

    candidate: str
    against: str
    evidence: Evidence
    samples: tuple[PairedSamples, ...]
    estimates: tuple[Estimate, ...]
    spent: Spending | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict.

    Attributes:
        trial: The verdict with its numbers.
        effects: What it says about the recipes that the candidate carried out; stores count it.
    """

    trial: Trial
    effects: tuple[RecipeEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The winner once more, against the submitted kernel.

    Attributes:
        trial: Verdict and numbers of the confirmation; `against` is the baseline.
        samples: Per timed workload; empty when estimated.
        estimates: Per timed workload; empty when measured.
        effects: What is to be counted of the candidate's recipes instead of what its trial said;
            empty: that holds.
    """

    trial: Trial
    samples: tuple[PairedSamples, ...]
    estimates: tuple[Estimate, ...]
    effects: tuple[RecipeEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class Voided:
    """A step failed through no fault of the candidate.

    Attributes:
        step: Id of the step without retry suffix.
        reason: Value of `VoidReason`.
        message: What happened.
        remedy: What mends it; empty when not known.
    """

    step: str
    reason: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Work went on after an interruption; the time in between does not count."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a job.

    Attributes:
        outcome: How.
        winner: Candidate id of the confirmed winner, if any.
        message: Why, one sentence.
    """

    outcome: JobOutcome
    winner: str | None
    message: str


Event: TypeAlias = (
    Described
    | Audited
    | Analyzed
    | Planned
    | Proposed
    | Gated
    | Built
    | Ran
    | Judged
    | Confirmed
    | Voided
    | Resumed
    | Finished
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event in its place.

    Attributes:
        sequence: Position in the history, from 0.
        step: Id of the step that produced it, with retry suffix; unique within a job.
        at_seconds: Unix time of recording.
        event: The fact.
    """

    sequence: int
    step: str
    at_seconds: float
    event: Event
