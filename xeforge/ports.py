"""What the core needs from the outside world, as protocols."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Literal
from typing import Protocol

from xeforge.domain.advice import AdviceQuestion
from xeforge.domain.advice import Advised
from xeforge.domain.attempt import Attempt
from xeforge.domain.candidate import Candidate
from xeforge.domain.case import Case
from xeforge.domain.declined import Declined
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.events import Described
from xeforge.domain.events import Event
from xeforge.domain.events import Skipped
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import Estimate
from xeforge.domain.samples import KernelWork
from xeforge.domain.samples import PairedSamples
from xeforge.domain.spending import Spending
from xeforge.domain.submission import SourceFile
from xeforge.domain.trial import Trial
from xeforge.domain.wins import WinRecord
from xeforge.domain.wins import WinsByDevice


class Clock(Protocol):
    """Where time comes from."""

    def now_seconds(self) -> float:
        """Return Unix time."""
        ...


class JobStore(Protocol):
    """Jobs and their histories.

    Safe for use from several threads and processes. Everything returned is immutable.
    """

    def create(self, job: str, problem: Problem) -> None:
        """Remember a new job.

        Raises:
            StoreConflict: The id is taken.
        """
        ...

    def history(self, job: str) -> History:
        """Return everything recorded about a job.

        Raises:
            BadRequest: No such job.
        """
        ...

    def jobs(self) -> tuple[str, ...]:
        """Return all job ids, newest first."""
        ...

    def lease(self, job: str, step: str, *, worker: str, seconds: float) -> Attempt:
        """Take the right to perform a step.

        Raises:
            BadRequest: No such job.
            LeaseLost: Another worker holds an unexpired lease on the step.
            StoreConflict: The step is already recorded.
        """
        ...

    def record(self, attempt: Attempt, event: Event) -> History:
        """Append one event for a leased step and return the history with it.

        Raises:
            LeaseLost: The attempt's token is not the newest for its step.
            StoreConflict: The step is already recorded.
        """
        ...

    def release(self, attempt: Attempt) -> None:
        """Give a lease back without a result; a stale one is ignored."""
        ...

    def wins(self) -> WinsByDevice:
        """Return how often each recipe paid, over all jobs.

        Counted are the `effects` of recorded verdicts, together with the event that brings them;
        those of a confirmation replace what the same candidate's trial said.
        """
        ...


class Advice(Protocol):
    """Where proposers learn what is known to help."""

    def advise(self, question: AdviceQuestion) -> Advised:
        """Return the recipes that fit, best first, and what was left out, with reasons.

        Same question, same answer.

        Raises:
            BadKernel: The kernel cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Captured:
    """A module as data, or why it is none.

    Attributes:
        graph: JSON text of a graph (`xeforge.fusion.front.graph_json`); empty where refused.
        refused: Why there is no graph, one line for each operator or fault; empty where there is.
    """

    graph: str
    refused: tuple[str, ...] = ()


class Capture(Protocol):
    """Exports PyTorch modules in a sandboxed child."""

    def capture(
        self, file: SourceFile, workload: Workload, mode: Literal["train", "eval"]
    ) -> Captured:
        """Export a file's ``Model`` at the shapes of a workload; its own faults are refusals.

        Raises:
            PlatformError: Our own fault.
        """
        ...


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a proposer is asked.

    Attributes:
        stage: Stage that asks.
        problem: The job's question.
        device: Model of accelerator to optimize for.
        parent: Candidate to improve: the incumbent.
        parent_builds: Compiler evidence of the parent, when known.
        issues: Issues of the submitted kernel.
        tried: All candidates of the job so far with their verdicts, oldest first.
        round: Batches this proposer has delivered in this stage before.
        limit: Most candidates wanted.
        seed: Makes the answer repeatable.
        standing: For each timed workload by name, at which shapes a candidate is checked in its
            place: its own, unless they are too large for Triton's interpreter.
        checked: All other shapes at which values must be right, ragged ones left out.
        state_mismatch: How the submitted kernel's ``state_dict`` differs from the reference's;
            empty: not.
        capture: Exports the reference; None: nothing here can.
        advice: Says what is known to help; None: nobody does.
        wins: How often advice paid on this device before the job began, by recipe id.
    """

    stage: str
    problem: Problem
    device: Device
    parent: Candidate
    parent_builds: BuildEvidence | None
    issues: tuple[Issue, ...]
    tried: tuple[tuple[Candidate, Trial], ...]
    round: int
    limit: int
    seed: int
    standing: Mapping[str, Workload] = field(default_factory=dict)
    checked: tuple[Workload, ...] = ()
    state_mismatch: str = ""
    capture: Capture | None = None
    advice: Advice | None = None
    wins: Mapping[str, WinRecord] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proposal:
    """One new source and why it should be faster.

    Attributes:
        source: Whole kernel file.
        because: What was changed and why, one sentence.
        settings: Knob values it sets; empty for rewrites.
        scope: For which inputs the change holds, in words; empty: for all.
        recipes: Advice of the knowledge base that it carries out, as ``pack.recipe``.
    """

    source: str
    because: str
    settings: dict[str, int]
    scope: str = ""
    recipes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Proposals, with what was left out on advice.

    Attributes:
        proposals: Most promising first; empty: no more.
        skipped: Changes that could have been made.
    """

    proposals: tuple[Proposal, ...]
    skipped: tuple[Skipped, ...] = ()


class Proposer(Protocol):
    """Makes candidates; never judges. Same assignment, same answer."""

    @property
    def name(self) -> str:
        """Name in logs and trials."""
        ...

    def propose(self, assignment: Assignment) -> Sequence[Proposal] | Batch | Declined:
        """Return at most ``assignment.limit`` proposals, most promising first; none: no more."""
        ...


@dataclass(frozen=True, slots=True)
class TimingPlan:
    """How long to measure.

    Attributes:
        seed: Of inputs and of the secret subset that is checked.
        min_pairs, max_pairs: Bounds on pairs per workload.
        seconds: Most time per workload, device and host together.
        control_pairs: A/A pairs in the same run.
        batches: Batches of calls per side that the judge times by its own clock.
    """

    seed: int
    min_pairs: int = 30
    max_pairs: int = 200
    seconds: float = 4.0
    control_pairs: int = 20
    batches: int = 0


class Evaluator(Protocol):
    """Runs untrusted code in sandboxed children and reports facts.

    Every method raises `PlatformError` for our own faults and `UserError` when the user's own
    files (kernel at intake, reference, helpers) cannot be used; faults of a candidate come back
    as evidence. Thread-safe: `build` may run beside anything; device methods are serialised.
    """

    @property
    def is_interpreted(self) -> bool:
        """Whether candidates run in Triton's interpreter, so that nothing may be timed."""
        ...

    def describe(self, problem: Problem) -> Described:
        """Import kernel and reference, construct both, make inputs; say what was found.

        Raises:
            BadKernel: The kernel file cannot be used; the message names the place.
            UserError: The reference or a helper cannot be used.
        """
        ...

    def card(self) -> tuple[Card, Ceilings] | None:
        """Return the unit in use with its measured ceilings; None when interpreted."""
        ...

    def sandbox(self) -> str:
        """Name the isolation in force."""
        ...

    def examine(self, problem: Problem, source: str, cases: Sequence[Case]) -> Evidence:
        """Run a source on all cases and compare with the oracle.

        Args:
            problem: Supplies reference (or baseline as oracle).
            source: Kernel file to examine.
            cases: In order; each in isolation from the others' failures.
        """
        ...

    def build(
        self,
        problem: Problem,
        source: str,
        workloads: Sequence[Workload],
        also: Sequence[Workload] = (),
    ) -> BuildEvidence:
        """Compile every launch of the workloads ahead of time for the target device.

        Args:
            problem: Names the target.
            source: Kernel file.
            workloads: Reported.
            also: Not reported: compiled here so that the device need not wait for it later.
        """
        ...

    def count(
        self, problem: Problem, source: str, workloads: Sequence[Workload]
    ) -> tuple[tuple[KernelWork, ...], ...]:
        """Count what the launches of each workload do, by interpreting a few programs.

        Raises:
            CandidateError: The source cannot be interpreted that far.
        """
        ...

    def measure(
        self,
        problem: Problem,
        first: str,
        second: str,
        workloads: Sequence[Workload],
        plan: TimingPlan,
    ) -> tuple[PairedSamples, ...]:
        """Time two sources alternately on the device, one result per workload.

        Raises:
            CandidateError: One side failed while timed; the message says which.
        """
        ...

    def spending(self) -> Spending:
        """Return where the seconds of device work went since the last call."""
        ...

    def close(self) -> None:
        """End all children and give the device back."""
        ...


EstimateFunction = Callable[[Workload, tuple[KernelWork, ...]], Estimate]
"""Turns counted work into modelled seconds on the target."""
