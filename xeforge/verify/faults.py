"""Names the faults of the submitted kernel on one case, or in one compilation."""

from collections.abc import Iterator
from dataclasses import dataclass

from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.issue import Severity
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import is_base
from xeforge.verify.places import describe_case
from xeforge.verify.places import describe_fault
from xeforge.verify.places import describe_wrong
from xeforge.verify.places import listed

_REMEDIES = {
    "unwritten": "make grid and block sizes cover the whole output, autotuned blocks included",
    "memory_safety": "mask the access, or clamp the offset to the tensor",
    "mutation": "write to a fresh tensor",
    "incorrect": "compare with the reference at the place named",
    "nan": "subtract the maximum before exp; divide by something that cannot be zero",
    "contract": "return what the reference returns",
    "constructor_argument": "use the argument in the kernel instead of a constant",
    "determinism": "avoid atomics on floats and unsynchronised writes to one place",
    "aliasing": "return a fresh tensor",
    "stale": "allocate the output inside forward",
    "build": "mend what the compiler says",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong on one case.

    Attributes:
        type: Name of the check that found it.
        severity: Error on a workload's own shapes, warning elsewhere.
        message: With numbers and places; starts with the case.
        line: One-based line in the kernel file.
        remedy: What to do.
        group: Faults of one type, severity and group are told as one.
        spoils: The case's answer cannot be asked of candidates.
    """

    type: str
    severity: Severity
    message: str
    line: int | None = None
    remedy: str = ""
    group: str = ""
    spoils: bool = True


def case_faults(
    case: CaseEvidence,
    planned: Case | None,
    build: BuildEvidence | None,
    *,
    has_reference: bool,
    is_interpreted: bool,
) -> Iterator[Fault]:
    """Yield everything wrong on one case.

    Args:
        case: What happened.
        planned: What was asked; None when unknown.
        build: Tells block sizes, for tile coordinates.
        has_reference: Otherwise the kernel is its own oracle, and only faults that no oracle
            is needed for are named.
        is_interpreted: A time-out says nothing about the kernel.
    """
    if case.status in (CaseStatus.UNCHECKED, CaseStatus.REFERENCE_RAISED):
        return
    if case.status is not CaseStatus.RAN:
        if not (is_interpreted and case.status is CaseStatus.TIMED_OUT):
            yield _ended(case)
        return
    yield from _memory_faults(case)
    yield from _output_faults(case, planned, build, has_reference=has_reference)
    yield from _call_faults(case)


def build_faults(build: BuildEvidence) -> Iterator[Fault]:
    """Yield launches that do not compile: an error when no configuration of a kernel does."""
    for kernel in dict.fromkeys(each.kernel for each in build.reports):
        reports = [each for each in build.reports if each.kernel == kernel]
        broken = [each for each in reports if each.error]
        if broken:
            is_all = len(broken) == len(reports)
            yield Fault(
                "build",
                Severity.ERROR if is_all else Severity.WARNING,
                f"{kernel}: {len(broken)} of {len(reports)} launches do not compile for the "
                f"target ({_settings(broken[0])}): {broken[0].error}",
                broken[0].line,
                _REMEDIES["build"],
                group=kernel,
            )


def _settings(report: BuildReport) -> str:
    constants = ", ".join(f"{name}={value}" for name, value in report.constants.items())
    return f"{constants}, {report.num_warps} warps".removeprefix(", ")


def _severity(case: CaseEvidence) -> Severity:
    return Severity.ERROR if is_base(case.kind) else Severity.WARNING


def _fault(
    case: CaseEvidence,
    name: str,
    message: str,
    *,
    severity: Severity | None = None,
    line: int | None = None,
    spoils: bool = True,
) -> Fault:
    """Build a fault of a case; one on another constructor argument is about that argument."""
    if case.kind == CaseKind.ARGUMENT and name in ("incorrect", "unwritten", "nan"):
        argument = case_key(case.case).rpartition("/")[2]
        text = f"{argument}: the kernel does not follow this constructor argument: {message}"
        name, message = "constructor_argument", text
        return Fault(name, Severity.ERROR, message, line, _REMEDIES[name], group=argument)
    return Fault(
        name,
        severity or _severity(case),
        f"{describe_case(case)}: {message}",
        line,
        _REMEDIES.get(name, ""),
        # Each way of failing elsewhere is told on its own: NaN for large values is not NaN for 0.
        group="" if is_base(case.kind) else f"{case.kind}/{case.fill}",
        spoils=spoils,
    )


def _ended(case: CaseEvidence) -> Fault:
    words = {
        CaseStatus.RAISED: "raised",
        CaseStatus.TIMED_OUT: "did not end in time",
        CaseStatus.DIED: "its process died",
    }
    message = f"{words[case.status]}: {case.message}" if case.message else words[case.status]
    return _fault(case, "ran", message, line=case.line)


def _memory_faults(case: CaseEvidence) -> Iterator[Fault]:
    for access in ("write", "read"):
        faults = [each for each in case.memory_faults if each.access == access]
        if faults:
            text = listed(describe_fault(each) for each in faults)
            yield _fault(case, "memory_safety", text, line=faults[0].line)


def _output_faults(
    case: CaseEvidence,
    planned: Case | None,
    build: BuildEvidence | None,
    *,
    has_reference: bool,
) -> Iterator[Fault]:
    if has_reference and case.output_count != case.expected_output_count:
        text = f"returns {case.output_count} outputs, expected {case.expected_output_count}"
        yield _fault(case, "contract", text)
    for output in case.outputs:
        if output.unwritten_count:
            text = f"{output.unwritten_count:,} elements are never written; "
            yield _fault(case, "unwritten", text + describe_wrong(output, build))
        elif has_reference:
            yield from _value_faults(case, planned, output, build)
        elif output.nan_count:
            text = f"{output.nan_count:,} elements are NaN"
            yield _fault(case, "nan", text, severity=Severity.WARNING)


def _value_faults(
    case: CaseEvidence, planned: Case | None, output: OutputEvidence, build: BuildEvidence | None
) -> Iterator[Fault]:
    name = f"output {output.index}"
    if output.shape != output.expected_shape:
        text = f"{name} has shape {list(output.shape)}, expected {list(output.expected_shape)}"
        yield _fault(case, "contract", text)
        return
    if output.dtype != output.expected_dtype:
        text = f"{name} is {output.dtype}, expected {output.expected_dtype}"
        yield _fault(case, "contract", text)
    elif output.strides != output.expected_strides:
        text = (
            f"{name} has strides {list(output.strides)}, the reference's has "
            f"{list(output.expected_strides)}"
        )
        yield _fault(case, "contract", text, severity=Severity.WARNING, spoils=False)
    tolerance = f" (tolerance {planned.atol:g} + {planned.rtol:g} of it)" if planned else ""
    if output.nan_count > output.expected_nan_count:
        extra = output.nan_count - output.expected_nan_count
        text = f"{extra:,} elements are NaN where the reference has numbers; "
        yield _fault(case, "nan", text + describe_wrong(output, build))
    elif output.wrong_count:
        yield _fault(case, "incorrect", describe_wrong(output, build) + tolerance)


def _call_faults(case: CaseEvidence) -> Iterator[Fault]:
    if case.mutated_inputs:
        yield _fault(case, "mutation", f"changes its inputs {', '.join(case.mutated_inputs)}")
    if case.aliased_outputs:
        which = ", ".join(str(each) for each in case.aliased_outputs)
        text = f"outputs {which} share memory with an input; the reference's do not"
        yield _fault(case, "aliasing", text, severity=Severity.WARNING, spoils=False)
    if case.stale_outputs:
        text = "an earlier output changes when the kernel is called again"
        yield _fault(case, "stale", text, severity=Severity.WARNING, spoils=False)
    if case.differs_between_runs and not case.reference_differs_between_runs:
        text = "two calls on the same inputs gave different bits"
        yield _fault(case, "determinism", text, severity=Severity.WARNING, spoils=False)
