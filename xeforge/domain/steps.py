"""The closed list of things a job can ask for. Each has a stable id."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Describe:
    """Import the files in a child and say what is in them."""

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return "describe"


@dataclass(frozen=True, slots=True)
class Audit:
    """Check the submitted kernel against the oracle before anything else."""

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return "audit"


@dataclass(frozen=True, slots=True)
class Analyze:
    """Find what could be better in the submitted kernel."""

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return "analyze"


@dataclass(frozen=True, slots=True)
class Plan:
    """Choose and order stages."""

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return "plan"


@dataclass(frozen=True, slots=True)
class Propose:
    """Ask one proposer of one stage for a batch of candidates.

    Attributes:
        stage: Stage name.
        proposer: Proposer name.
        round: Batches this proposer has delivered in this stage before.
        parent: Candidate to improve: the incumbent.
        limit: Most candidates it may return.
    """

    stage: str
    proposer: str
    round: int
    parent: str
    limit: int

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return f"propose:{self.stage}:{self.proposer}:{self.round}"


@dataclass(frozen=True, slots=True)
class Gate:
    """Read a candidate without running it."""

    candidate: str

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return f"gate:{self.candidate}"


@dataclass(frozen=True, slots=True)
class Build:
    """Compile a candidate ahead of time for the target; needs no device."""

    candidate: str

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return f"build:{self.candidate}"


@dataclass(frozen=True, slots=True)
class Run:
    """Check a candidate's answers, then time it against the incumbent. Needs the device."""

    candidate: str
    against: str

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return f"run:{self.candidate}"


@dataclass(frozen=True, slots=True)
class Judge:
    """Turn the recorded evidence of a candidate into a verdict."""

    candidate: str

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return f"judge:{self.candidate}"


@dataclass(frozen=True, slots=True)
class Confirm:
    """Check and time the winner once more: fresh process, fresh seeds, against the baseline."""

    candidate: str

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return f"confirm:{self.candidate}"


@dataclass(frozen=True, slots=True)
class Finish:
    """Close the job.

    Attributes:
        outcome: Value of `JobOutcome`.
        winner: Candidate id of the confirmed winner, if there is one.
        message: Why, one sentence.
    """

    outcome: str
    winner: str | None
    message: str

    @property
    def id(self) -> str:
        """Stable identity within a job."""
        return "finish"


Step: TypeAlias = (
    Describe | Audit | Analyze | Plan | Propose | Gate | Build | Run | Judge | Confirm | Finish
)
NEEDS_DEVICE = (Audit, Run, Confirm)
"""Steps that occupy the device; at most one of them is ready at a time."""
