"""Refuse what the knowledge packs' rules about the device forbid, and tell what they advise."""

from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from xeforge.domain.device import Constraint
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.facts import FileFacts
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.gates.facts import kinds_of
from xeforge.verify.gates.predicate import Predicate
from xeforge.verify.gates.predicate import read_predicate
from xeforge.verify.gates.sites import Site
from xeforge.verify.gates.sites import sites_of
from xeforge.verify.reading import GateContext

NAME = "constraints"


@dataclass(frozen=True, slots=True)
class Judged:
    """One constraint asked of one site.

    Attributes:
        constraint: The rule.
        site: What it was asked of.
        holds: Whether it does; None: not known.
        missing: Facts that would decide, where it is not known.
    """

    constraint: Constraint
    site: Site
    holds: bool | None
    missing: tuple[str, ...] = ()


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Ask every rule of the device of every launch, kernel and call of the candidate.

    Autotuners pass over what cannot be launched, so a kernel with one legal configuration is
    fine. A rule that needs a number nobody knows is not judged, and the finding says so.
    """
    rules = [each for each in context.device.constraints if each.gate == NAME]
    if not rules or not context.candidate.contents.jit_functions:
        return (passed(NAME),)
    file = FileFacts(context.candidate.contents, context.candidate.tree)
    found = tuple(judged(rules, sites_of(file, context.device, context.problem.workloads)))
    broken = [each for each in found if each.holds is False and each.constraint.refuses]
    complaints = [each for each in broken if not _has_way_out(each, found)]
    if complaints:
        return tuple(_refusal(each) for each in _once(complaints))
    return (passed(NAME, "; ".join(_remarks(found))),)


def judged(rules: Iterable[Constraint], sites: Iterable[Site]) -> Iterator[Judged]:
    """Yield every rule with every site in its scope to which it applies, or may apply."""
    by_scope: dict[str, list[Site]] = {}
    for site in sites:
        by_scope.setdefault(site.scope, []).append(site)
    for rule in rules:
        when, require = predicates_of(rule)
        for site in by_scope.get(rule.scope, ()):
            applies = when.holds(site.facts)
            if applies is False:
                continue
            holds = require.holds(site.facts)
            if applies is None and holds is not True:
                holds = None
            missing = {*when.missing(site.facts), *require.missing(site.facts)}
            yield Judged(rule, site, holds, tuple(sorted(missing)) if holds is None else ())


def predicates_of(rule: Constraint) -> tuple[Predicate, Predicate]:
    """Return where a rule applies and what it requires there."""
    return _read(rule.when, rule.scope), _read(rule.require, rule.scope)


@lru_cache(maxsize=4096)
def _read(text: str, scope: str) -> Predicate:
    return read_predicate(text, kinds_of(scope))


def _has_way_out(complaint: Judged, found: tuple[Judged, ...]) -> bool:
    """Say whether the kernel has a launch or configuration that breaks no rule."""
    if complaint.site.scope != "launch":
        return False
    broken = {id(each.site) for each in found if each.holds is False and each.constraint.refuses}
    return any(
        each.site.scope == "launch"
        and each.site.kernel == complaint.site.kernel
        and id(each.site) not in broken
        for each in found
    )


def _once(complaints: Iterable[Judged]) -> Iterator[Judged]:
    """Keep the first complaint of each rule about each line."""
    seen = set()
    for each in complaints:
        key = (each.constraint.id, each.site.line)
        if key not in seen:
            seen.add(key)
            yield each


def _refusal(each: Judged) -> Finding:
    rule = each.constraint
    text = f"{each.site.kernel}: {rule.says} ({rule.id}, {rule.strength}). {rule.remedy}"
    return failed(NAME, Reason.RESOURCE_LIMIT, text, line=each.site.line)


def _remarks(found: tuple[Judged, ...]) -> Iterator[str]:
    told: set[str] = set()
    for each in found:
        rule = each.constraint
        if rule.id in told:
            continue
        unknown = [name for name in each.missing if name.startswith("device.")]
        if each.holds is False and not rule.refuses:
            told.add(rule.id)
            yield f"line {each.site.line}: {rule.says} ({rule.id})"
        elif each.holds is None and unknown:
            told.add(rule.id)
            yield f"{rule.id} is not judged: {', '.join(unknown)} is not known"
