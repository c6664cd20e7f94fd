"""Searches launch settings: block sizes, warps, stages, program groups. The arithmetic stays.

First a list of settings that usually do well on the device, then steps around the incumbent. All
state is read from the trials so far, so that the same assignment gives the same answer.
"""

import math
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from xeforge.domain.candidate import BASELINE_ID
from xeforge.domain.candidate import Candidate
from xeforge.domain.verdict import Outcome
from xeforge.ports import Assignment
from xeforge.ports import Proposal
from xeforge.propose.search_limits import Limits
from xeforge.propose.search_limits import limits_of
from xeforge.propose.search_moves import Key
from xeforge.propose.search_moves import Point
from xeforge.propose.search_moves import neighbours
from xeforge.propose.search_moves import value_of
from xeforge.propose.search_reasons import reason
from xeforge.propose.search_starts import starts
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import Knob
from xeforge.source.knobs import find_knobs
from xeforge.source.knobs import set_knobs

_MOST_STARTS = 16
_FEW_STARTS = 4
"""For the costliest kernel of a file, and for each further one."""
_ROOFLINE_SHARE = 0.95
"""A kernel that reaches this share of the physical floor is not searched any further."""


class ConfigSearch:
    """Proposes legal settings that were not tried yet."""

    name = "config_search"

    def propose(self, assignment: Assignment) -> tuple[Proposal, ...]:
        """Return the next batch; empty when every step around the incumbent was tried."""
        if _is_at_roofline(assignment):
            return ()
        source = assignment.parent.source
        groups = _by_cost(find_knobs(source))
        limits = limits_of(assignment.problem, assignment.device)
        points = _points(assignment)
        seen = [dict(each.values) for each in points]
        sources = {each.source for each, _ in assignment.tried} | {source}
        sources.add(assignment.problem.kernel.text)
        found: list[Proposal] = []
        timed = [each for each in groups if _is_timed(each[0].kernel, assignment)]
        for knobs, values in _wishes(timed, limits, points):
            if len(found) == assignment.limit:
                break
            settings = _predicted(groups, knobs, values)
            if settings in seen:
                continue
            changed = set_knobs(source, knobs[0].kernel, values)
            if changed in sources:
                continue
            sources.add(changed)
            seen.append(settings)
            named = _named(knobs, values, len(groups))
            found.append(Proposal(changed, reason(knobs, values), named))
        return tuple(found)


def _wishes(
    groups: Sequence[tuple[Knob, ...]], limits: Limits, points: Sequence[Point]
) -> Iterator[tuple[tuple[Knob, ...], dict[str, int]]]:
    for number, knobs in enumerate(groups):
        for values in starts(knobs, limits)[: _MOST_STARTS if number == 0 else _FEW_STARTS]:
            yield knobs, values
    for knobs in groups:
        for values in neighbours(knobs, limits, points):
            yield knobs, values


def _is_timed(kernel: str, assignment: Assignment) -> bool:
    """Say whether a timed workload launches a kernel; a file may choose its kernels by shape."""
    builds = assignment.parent_builds
    launched = {each.kernel for each in builds.reports} if builds else set()
    return not launched or kernel in launched


def _by_cost(knobs: Sequence[Knob]) -> list[tuple[Knob, ...]]:
    """Group knobs by kernel: products first, then kernels with tiles, then launch order."""
    groups: dict[str, list[Knob]] = {}
    for each in knobs:
        groups.setdefault(each.kernel, []).append(each)
    found = [tuple(each) for each in groups.values()]
    return sorted(found, key=lambda group: -_weight({each.role for each in group}))


def _weight(roles: set[Role]) -> int:
    return 2 * bool(roles & {Role.M, Role.N, Role.K}) + bool(roles & {Role.BLOCK, Role.ROWS})


def _settings(source: str) -> dict[Key, int]:
    return {(each.kernel, each.name): value_of(each) for each in find_knobs(source)}


def _predicted(
    groups: Sequence[tuple[Knob, ...]], knobs: tuple[Knob, ...], values: Mapping[str, int]
) -> dict[Key, int]:
    """Return the settings after a change, knobs that share a literal with it included."""
    settings = {(each.kernel, each.name): value_of(each) for group in groups for each in group}
    for knob in knobs:
        if knob.name not in values:
            continue
        settings[knob.kernel, knob.name] = values[knob.name]
        for group in groups:
            for other in group:
                is_same = (other.line, other.kind, other.value) == (
                    knob.line,
                    knob.kind,
                    knob.value,
                )
                if other.kernel in knob.shared_with and is_same:
                    settings[other.kernel, other.name] = values[knob.name]
    return settings


def _named(knobs: tuple[Knob, ...], values: dict[str, int], kernels: int) -> dict[str, int]:
    return {
        each.name if kernels == 1 else f"{each.kernel}.{each.name}": values[each.name]
        for each in knobs
        if each.name in values
    }


def _points(assignment: Assignment) -> tuple[Point, ...]:
    """Return every setting of this search with its speed relative to the submitted kernel."""
    speeds = {BASELINE_ID: 0.0}
    for candidate, trial in assignment.tried:
        if trial.ratio is not None and trial.ratio.estimate > 0:
            base = speeds.get(trial.against, 0.0)
            speeds[candidate.id] = base + math.log(trial.ratio.estimate)
    sources = {candidate.id: candidate.source for candidate, _ in assignment.tried}
    sources[BASELINE_ID] = assignment.problem.kernel.text
    sources[assignment.parent.id] = assignment.parent.source
    by_id = {candidate.id: candidate for candidate, _ in assignment.tried}
    root = _root(assignment.parent.id, by_id)
    own = [
        candidate
        for candidate, trial in assignment.tried
        if candidate.proposer == ConfigSearch.name
        and trial.verdict.outcome is not Outcome.VOID
        and _root(candidate.id, by_id) == root
    ]
    starting = [each.parent for each in own]
    wanted = dict.fromkeys([*starting, assignment.parent.id, *(each.id for each in own)])
    return tuple(
        Point(_settings(sources[each]), speeds.get(each)) for each in wanted if each in sources
    )


def _root(identity: str, by_id: Mapping[str, Candidate]) -> str:
    """Return the rewrite, or the submitted kernel, whose settings a candidate varies.

    What a setting is worth in one source says little about another: a tile that was too large
    for float32 operands may be the best one for 16-bit ones.
    """
    while identity in by_id and by_id[identity].proposer == ConfigSearch.name:
        identity = by_id[identity].parent
    return identity


def _is_at_roofline(assignment: Assignment) -> bool:
    trials = (trial for _, trial in assignment.tried if trial.candidate == assignment.parent.id)
    trial = next(trials, None)
    return (
        trial is not None
        and bool(trial.results)
        and all(
            each.floor_seconds is not None
            and each.floor_seconds >= _ROOFLINE_SHARE * each.candidate_seconds
            for each in trial.results
        )
    )
