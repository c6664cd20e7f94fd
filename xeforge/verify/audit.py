"""Turns what was seen of the submitted kernel into issues, before anything is optimized."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.case import Fill
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.verify.faults import Fault
from xeforge.verify.faults import build_faults
from xeforge.verify.faults import case_faults
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import is_base
from xeforge.verify.inputs import is_interpreted_key
from xeforge.verify.places import describe_case
from xeforge.verify.tolerance import error_bound

_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.SPEED)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What the submitted kernel gets right and wrong.

    Attributes:
        issues: Errors first.
        trusted_cases: Keys of the cases it gets right; candidates must get the same right.
        unchecked: What could not be checked here, and why.
    """

    issues: tuple[Issue, ...]
    trusted_cases: tuple[str, ...]
    unchecked: tuple[str, ...]


def findings(
    problem: Problem,
    cases: Sequence[Case],
    evidence: Evidence,
    build: BuildEvidence,
    static_issues: Sequence[Issue],
) -> AuditReport:
    """Judge the submitted kernel.

    Faults on a workload's own shapes with ordinary values are errors. Faults on ragged shapes
    or unusual values are warnings, and those cases are not asked of candidates. What could not
    be checked counts as neither.

    Args:
        problem: Without a reference only self-evident faults can be found.
        cases: The plan behind the evidence.
        evidence: What happened.
        build: Compiler reports for the target.
        static_issues: What reading the source showed.
    """
    planned = {each.id: each for each in cases}
    found: list[Fault] = []
    blamed: set[str] = set()
    for each in evidence.cases:
        faults = tuple(
            case_faults(
                each,
                planned.get(each.case),
                build,
                has_reference=problem.reference is not None,
                is_interpreted=_is_interpreted(each, evidence),
            )
        )
        found += faults
        if any(fault.spoils for fault in faults):
            blamed.add(case_key(each.case))
    found += _whole_faults(evidence, static_issues)
    found += build_faults(build)
    found += _never_ended(evidence)
    found += _imprecise(evidence, planned)
    issues = [*_merged(found), *static_issues]
    issues.sort(key=lambda issue: _SEVERITIES.index(issue.severity))
    return AuditReport(
        issues=tuple(issues),
        trusted_cases=tuple(_trusted(evidence, blamed)),
        unchecked=tuple(dict.fromkeys(_unchecked(evidence, build))),
    )


def _never_ended(evidence: Evidence) -> Iterator[Fault]:
    """Yield a fault when time ran out on a plain case and no case at all ended.

    A single slow case in the interpreter proves nothing; when nothing ends, nothing can be
    claimed about the kernel, and going on would only repeat the waiting.
    """
    ended = {CaseStatus.RAN, CaseStatus.RAISED}
    hung = [each for each in evidence.cases if each.status is CaseStatus.TIMED_OUT]
    if hung and not any(each.status in ended for each in evidence.cases):
        yield Fault(
            "ran",
            Severity.ERROR,
            f"it never ended: {hung[0].message}, tried on {len(hung)} cases",
            remedy="look for a loop that does not end; if it is only slow, add a small variant "
            "such as ci to the spec",
        )


def _imprecise(evidence: Evidence, planned: Mapping[str, Case]) -> Iterator[Fault]:
    """Yield a warning for the answer that is right by a wide tolerance alone.

    It stays the user's kernel and the user's tolerance; a candidate may be as inaccurate, and no
    more. Cases with huge inputs are left out, as for candidates.
    """
    worst: tuple[float, str] = (1.0, "")
    for each in evidence.cases:
        if each.fill == Fill.LARGE:
            continue
        for output in each.outputs:
            bound = error_bound(output, planned.get(each.case), None)
            if not bound or not output.error > bound or output.wrong_count:
                continue
            text = (
                f"{describe_case(each)}: relative error against float64 is {output.error:.3g}, "
                f"where twice the reference's own allows {bound:.3g}; within the tolerance only"
            )
            worst = max(worst, (output.error / bound, text))
    if worst[1]:
        yield Fault(
            "precision",
            Severity.WARNING,
            worst[1],
            remedy="tighten rtol and atol, or keep sums and products in float32",
            spoils=False,
        )


def _trusted(evidence: Evidence, blamed: set[str]) -> Iterator[str]:
    """Yield keys of which every draw ran and none was wrong."""
    ended: dict[str, list[CaseEvidence]] = {}
    for each in evidence.cases:
        ended.setdefault(case_key(each.case), []).append(each)
    for key, draws in ended.items():
        has_run = all(each.status is CaseStatus.RAN for each in draws)
        if has_run and key not in blamed and draws[0].kind != CaseKind.ARGUMENT:
            yield key


def _unchecked(evidence: Evidence, build: BuildEvidence) -> Iterator[str]:
    for each in evidence.cases:
        key = case_key(each.case)
        if each.status is CaseStatus.UNCHECKED:
            yield f"{key}: {each.message}"
        elif each.status is CaseStatus.TIMED_OUT and _is_interpreted(each, evidence):
            yield f"{key}: too slow for Triton's interpreter ({each.message})"
        elif each.status is CaseStatus.REFERENCE_RAISED and is_base(each.kind):
            yield f"{key}: the reference refuses these inputs ({each.message})"
    if build.message:
        yield f"not compiled for the target: {build.message}"
    for skipped in build.skipped:
        yield f"not compiled for the target: {skipped}"


def _is_interpreted(case: CaseEvidence, evidence: Evidence) -> bool:
    return evidence.interpreted or is_interpreted_key(case.case)


def _whole_faults(evidence: Evidence, static_issues: Sequence[Issue]) -> Iterator[Fault]:
    """Yield what concerns the file and no single case."""
    if evidence.state_mismatch:
        yield Fault(
            "state",
            Severity.ERROR,
            f"parameters differ from the reference's: {evidence.state_mismatch}",
            remedy="name and shape the module's parameters as the reference does",
        )
    devices = sorted({name for each in evidence.cases for name in each.redirected_devices})
    if devices and not any(each.type == "hard_coded_device" for each in static_issues):
        yield Fault(
            "hard_coded_device",
            Severity.WARNING,
            f"the file names the device {', '.join(devices)}; it was run on the chosen one",
            remedy="take the device from the inputs: x.device",
        )
    has_run = any(each.status is CaseStatus.RAN for each in evidence.cases)
    if has_run and not evidence.launches:
        yield Fault(
            "own_kernels",
            Severity.ERROR,
            "no Triton kernel was launched by forward",
            remedy="call the jit function from forward",
        )


def _merged(faults: Iterable[Fault]) -> Iterator[Issue]:
    """Yield one issue for each kind of fault, naming the first place and counting the others."""
    groups: dict[tuple[str, Severity, str], list[Fault]] = {}
    faults = tuple(faults)
    errors = {fault.type for fault in faults if fault.severity is Severity.ERROR}
    for fault in faults:
        # What is wrong on plain inputs is no news on ragged ones.
        if fault.severity is Severity.ERROR or fault.type not in errors:
            groups.setdefault((fault.type, fault.severity, fault.group), []).append(fault)
    for (name, severity, _), members in groups.items():
        first = members[0]
        others = len({each.message for each in members}) - 1
        more = f" (and in {others} more case{'s' if others > 1 else ''})" if others else ""
        yield Issue(name, severity, first.message + more, first.line, first.remedy)
