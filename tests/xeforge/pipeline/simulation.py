"""Plays a job with drawn outcomes, no device and no sources: what the engine must survive."""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field

from hypothesis import strategies as st

from xeforge.domain.candidate import Candidate
from xeforge.domain.device import Card
from xeforge.domain.events import Analyzed
from xeforge.domain.events import Audited
from xeforge.domain.events import Built
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Described
from xeforge.domain.events import Event
from xeforge.domain.events import Finished
from xeforge.domain.events import Gated
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Ran
from xeforge.domain.events import Recorded
from xeforge.domain.events import Voided
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.domain.steps import Analyze
from xeforge.domain.steps import Audit
from xeforge.domain.steps import Build
from xeforge.domain.steps import Confirm
from xeforge.domain.steps import Describe
from xeforge.domain.steps import Finish
from xeforge.domain.steps import Gate
from xeforge.domain.steps import Judge
from xeforge.domain.steps import Plan
from xeforge.domain.steps import Propose
from xeforge.domain.steps import Run
from xeforge.domain.steps import Step
from xeforge.domain.submission import SourceFile
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import rejected
from xeforge.domain.verdict import void
from xeforge.pipeline.engine import attempt_id
from xeforge.pipeline.engine import next_of
from xeforge.pipeline.engine import ready_steps
from xeforge.pipeline.order import plan

ACCEPTED = Verdict(Outcome.ACCEPTED, "faster", grade=Grade.MEASURED)
CARD = Card("cuda", 0, "NVIDIA H200", "GPU-1", "580", "2.11", "3.6", 2**37)
SLOWER = rejected(Reason.NO_SPEEDUP, "slower")


def problem(trials: int | None = None) -> Problem:
    kernel = SourceFile("kernel.py", "pass")
    return Problem(kernel, None, (), "nvidia-h200", "cuda", budget_trials=trials)


@dataclass
class Simulation:
    """Answers every step with a drawn outcome; candidates have a hidden true time."""

    draw: Callable[[st.SearchStrategy], object]
    history: History
    true_seconds: dict[str, float] = field(default_factory=lambda: {"t0": 1.0})
    order: list[str] = field(default_factory=list)

    def finish(self, limit: int = 5000) -> History:
        """Perform drawn ready steps until the job is finished."""
        for _ in range(limit):
            steps = ready_steps(self.history)
            if not steps:
                return self.history
            step = steps[self.draw(st.integers(0, len(steps) - 1))]
            self.record(step, self.answer(step))
        raise AssertionError(f"not finished after {limit} steps")

    def record(self, step: Step, event: Event) -> None:
        identity = attempt_id(self.history, step)
        self.order.append(identity)
        number = len(self.history.records)
        record = Recorded(number, identity, float(number), event)
        self.history = History("j", self.history.problem, (*self.history.records, record))

    def answer(self, step: Step) -> Event:
        never_fails = isinstance(step, Judge | Finish)
        if not never_fails and self.draw(st.integers(0, 19)) == 0:
            return Voided(step.id, VoidReason.DEVICE_LOST, "drawn")
        return self.outcome(step)

    def outcome(self, step: Step) -> Event:  # noqa: C901, PLR0911
        match step:
            case Describe():
                return Described((), ())
            case Audit():
                return self.audited()
            case Analyze():
                return Analyzed(())
            case Plan():
                stages, reasons = plan((), ())
                return Planned(tuple(stages), tuple(reasons))
            case Propose():
                return self.proposed(step)
            case Gate():
                passed = self.draw(st.booleans())
                return Gated(step.candidate, (Finding("syntax", passed, None if passed else "x"),))
            case Build():
                error = "" if self.draw(st.booleans()) else "does not compile"
                report = BuildReport("k", "w", {}, 4, 3, 32, 0, 0, error)
                return Built(step.candidate, BuildEvidence((report,)))
            case Run():
                return Ran(step.candidate, step.against, Evidence(()), (), ())
            case Judge():
                return Judged(self.judged(step.candidate))
            case Confirm():
                verdict = ACCEPTED if self.draw(st.integers(0, 3)) else SLOWER
                return Confirmed(Trial(step.candidate, "t0", verdict), (), ())
            case Finish():
                return Finished(JobOutcome(step.outcome), step.winner, step.message)

    def audited(self) -> Audited:
        is_wrong = self.draw(st.integers(0, 9)) == 0
        issues = (Issue("unwritten", Severity.ERROR, "drawn"),) if is_wrong else ()
        return Audited(issues, Evidence(()), BuildEvidence(()), (), ("ci",), (), CARD, None, "none")

    def proposed(self, step: Propose) -> Proposed:
        first = len(self.history.candidates()) + 1
        count = self.draw(st.integers(0, step.limit))
        names = [f"t{first + index}" for index in range(count)]
        for name in names:
            self.true_seconds[name] = self.draw(st.floats(0.1, 2.0))
        candidates = tuple(
            Candidate(name, step.parent, step.stage, step.proposer, name, "drawn", {})
            for name in names
        )
        return Proposed(step.stage, step.proposer, step.round, candidates, step.parent)

    def judged(self, candidate: str) -> Trial:
        incumbent = self.history.incumbent()
        ran = self.history.ran(candidate)
        if ran is None:
            waiting = next_of(self.history, self.history.candidate(candidate))
            assert isinstance(waiting, Judge)
            is_void = any(each.step.endswith(f":{candidate}") for each in self.history.of(Voided))
            verdict = (
                void(VoidReason.DEVICE_LOST, "drawn")
                if is_void
                else rejected(Reason.RUNTIME_ERROR, "drawn")
            )
            return Trial(candidate, incumbent, verdict)
        assert ran.against == incumbent, "a run must be compared with the present incumbent"
        is_faster = self.true_seconds[candidate] < self.true_seconds[incumbent]
        return Trial(candidate, incumbent, ACCEPTED if is_faster else SLOWER)
