"""All recorded facts of a job. Everything else is derived from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.events import Analyzed
from xeforge.domain.events import Audited
from xeforge.domain.events import Built
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Described
from xeforge.domain.events import Event
from xeforge.domain.events import Finished
from xeforge.domain.events import Gated
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Ran
from xeforge.domain.events import Recorded
from xeforge.domain.events import Resumed
from xeforge.domain.events import Voided
from xeforge.domain.problem import Problem
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Outcome

E = TypeVar("E", bound=Event)


@dataclass(frozen=True, slots=True)
class History:
    """The record of one job; the only truth about it.

    Attributes:
        job: Job id.
        problem: The question.
        records: Facts in order.
    """

    job: str
    problem: Problem
    records: tuple[Recorded, ...] = ()

    def of(self, kind: type[E]) -> Iterator[E]:
        """Yield all events of one kind, oldest first."""
        for record in self.records:
            if isinstance(record.event, kind):
                yield record.event

    def first(self, kind: type[E]) -> E | None:
        """Return the first event of one kind."""
        return next(self.of(kind), None)

    @property
    def described(self) -> Described | None:
        """What is in the files, once known."""
        return self.first(Described)

    @property
    def audited(self) -> Audited | None:
        """The audit of the submitted kernel, once done."""
        return self.first(Audited)

    @property
    def analyzed(self) -> Analyzed | None:
        """Issues of the submitted kernel, once known."""
        return self.first(Analyzed)

    @property
    def planned(self) -> Planned | None:
        """The stages, once planned."""
        return self.first(Planned)

    @property
    def finished(self) -> Finished | None:
        """The end, once reached."""
        return self.first(Finished)

    @property
    def baseline(self) -> Candidate:
        """The submitted kernel as candidate ``t0``."""
        return Candidate(
            BASELINE_ID, BASELINE_ID, "", "user", self.problem.kernel.text, "as submitted", {}
        )

    def candidates(self) -> tuple[Candidate, ...]:
        """Return all proposed candidates in order, without the baseline."""
        return tuple(each for event in self.of(Proposed) for each in event.candidates)

    def candidate(self, identity: str) -> Candidate:
        """Return a candidate by id, the baseline included.

        Raises:
            KeyError: No such candidate.
        """
        if identity == BASELINE_ID:
            return self.baseline
        for each in self.candidates():
            if each.id == identity:
                return each
        raise KeyError(identity)

    def gated(self, candidate: str) -> Gated | None:
        """Return what the gate said about a candidate, once it did."""
        return next((each for each in self.of(Gated) if each.candidate == candidate), None)

    def built(self, candidate: str) -> Built | None:
        """Return what compiling a candidate showed, once it did."""
        return next((each for each in self.of(Built) if each.candidate == candidate), None)

    def ran(self, candidate: str) -> Ran | None:
        """Return what running a candidate showed, once it did."""
        return next((each for each in self.of(Ran) if each.candidate == candidate), None)

    def trial(self, candidate: str) -> Trial | None:
        """Return the verdict on a candidate, once there is one."""
        return next((each for each in self.trials() if each.candidate == candidate), None)

    def trials(self) -> tuple[Trial, ...]:
        """Return all verdicts in order."""
        return tuple(event.trial for event in self.of(Judged))

    def confirmation(self, candidate: str) -> Confirmed | None:
        """Return the confirmation of a candidate, once tried."""
        found = (each for each in self.of(Confirmed) if each.trial.candidate == candidate)
        return next(found, None)

    def unjudged(self) -> tuple[Candidate, ...]:
        """Return candidates that still wait for a verdict, in order."""
        judged = {each.candidate for each in self.trials()}
        return tuple(each for each in self.candidates() if each.id not in judged)

    def incumbent(self) -> str:
        """Return the best accepted candidate that no confirmation has refuted, else the baseline.

        Each candidate is compared with the incumbent of its moment and accepted only when it
        beats it, so the newest accepted one is the best.
        """
        refuted = {
            each.trial.candidate
            for each in self.of(Confirmed)
            if each.trial.verdict.outcome is not Outcome.ACCEPTED
        }
        for trial in reversed(self.trials()):
            is_accepted = trial.verdict.outcome is Outcome.ACCEPTED
            if is_accepted and trial.candidate not in refuted:
                return trial.candidate
        return BASELINE_ID

    def spent(self, stage: str) -> int:
        """Count judged candidates of a stage; void ones cost nothing."""
        stage_of = {each.id: each.stage for each in self.candidates()}
        return sum(
            1
            for trial in self.trials()
            if stage_of[trial.candidate] == stage and trial.verdict.outcome is not Outcome.VOID
        )

    def rounds(self, stage: str, proposer: str) -> tuple[Proposed, ...]:
        """Return the batches one proposer delivered in one stage."""
        return tuple(
            each for each in self.of(Proposed) if each.stage == stage and each.proposer == proposer
        )

    def voids(self, step: str) -> int:
        """Count platform faults of a step."""
        return sum(1 for each in self.of(Voided) if each.step == step)

    def elapsed_seconds(self) -> float:
        """Return wall time from first to last record, pauses before a resumption left out."""
        pairs = zip(self.records, self.records[1:], strict=False)
        return sum(
            max(0.0, after.at_seconds - before.at_seconds)
            for before, after in pairs
            if not isinstance(after.event, Resumed)
        )
