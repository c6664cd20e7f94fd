"""Asks a proposer for candidates; numbers what is new and drops what was there before."""

import ast

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.case import CaseKind
from xeforge.domain.declined import Declined
from xeforge.domain.events import Proposed
from xeforge.domain.events import Skipped
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.history import History
from xeforge.domain.problem import Workload
from xeforge.domain.steps import Propose
from xeforge.pipeline.exercise import standing
from xeforge.pipeline.parts import Parts
from xeforge.ports import Assignment
from xeforge.ports import Batch
from xeforge.ports import Proposal
from xeforge.verify.inputs import plan_cases
from xeforge.verify.inputs import shapes_of


def ask(history: History, step: Propose, parts: Parts) -> Proposed:
    """Return a proposer's answer as the event to record."""
    proposer = parts.proposers[step.proposer]
    given = proposer.propose(_assignment(history, step, parts))
    if isinstance(given, Declined):
        return Proposed(step.stage, step.proposer, step.round, (), step.parent, given)
    batch = given if isinstance(given, Batch) else Batch(tuple(given))
    earlier = history.candidates()
    seen = {normalised(each.source) for each in (history.baseline, *earlier)}
    fresh: list[Proposal] = []
    for proposal in batch.proposals[: step.limit]:
        key = normalised(proposal.source)
        if key not in seen:
            seen.add(key)
            fresh.append(proposal)
    candidates = tuple(
        Candidate(
            id=f"t{len(earlier) + number}",
            parent=step.parent,
            stage=step.stage,
            proposer=step.proposer,
            source=proposal.source,
            because=proposal.because,
            settings=proposal.settings,
            scope=proposal.scope,
            recipes=proposal.recipes,
        )
        for number, proposal in enumerate(fresh, start=1)
    )
    skipped = _said_first(history, step, batch)
    return Proposed(step.stage, step.proposer, step.round, candidates, step.parent, skipped=skipped)


def _said_first(history: History, step: Propose, batch: Batch) -> tuple[Skipped, ...]:
    """Return what was left out and not said in an earlier round."""
    rounds = history.rounds(step.stage, step.proposer)
    said = {each for event in rounds for each in event.skipped}
    return tuple(each for each in batch.skipped if each not in said)


def normalised(source: str) -> str:
    """Return the source without comments and layout, so that equal code compares equal."""
    return ast.unparse(ast.parse(source))


def build_of(history: History, candidate: str) -> BuildEvidence | None:
    """Return the compiler reports of a candidate or of the baseline."""
    if candidate == BASELINE_ID:
        return history.audited.build if history.audited else None
    built = history.built(candidate)
    return built.build if built else None


def _assignment(history: History, step: Propose, parts: Parts) -> Assignment:
    trials = {trial.candidate: trial for trial in history.trials()}
    is_interpreted = parts.evaluator.is_interpreted
    return Assignment(
        stage=step.stage,
        problem=history.problem,
        device=parts.device,
        parent=history.candidate(step.parent),
        parent_builds=build_of(history, step.parent),
        issues=history.analyzed.issues if history.analyzed else (),
        tried=tuple((each, trials[each.id]) for each in history.candidates() if each.id in trials),
        round=step.round,
        limit=step.limit,
        seed=history.problem.seed,
        standing=standing(history.problem, interpreted=is_interpreted),
        checked=_checked(history, interpreted=is_interpreted),
        state_mismatch=history.audited.evidence.state_mismatch if history.audited else "",
        capture=parts.capture,
        advice=parts.advice,
        wins=history.planned.wins if history.planned else {},
    )


def _checked(history: History, *, interpreted: bool) -> tuple[Workload, ...]:
    """Return the shapes of a candidate's cases, ragged ones left out."""
    cases = plan_cases(
        history.problem,
        purpose="candidate",
        interpreted=interpreted,
        seed=history.problem.seed,
        trusted=history.audited.trusted_cases if history.audited else (),
    )
    kept = [each for each in cases if each.kind is not CaseKind.RAGGED]
    return shapes_of(history.problem, kept)
