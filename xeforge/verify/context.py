"""Everything a check may look at: recorded facts, nothing that runs."""

from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import PairedSamples
from xeforge.domain.verdict import Reason
from xeforge.verify.inputs import case_by_key
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import is_base

_NOT_RUN = Evidence(cases=())


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What is known about one candidate and about the baseline it must match.

    Attributes:
        problem: The question.
        device: Model that is optimized for.
        build: Compiler reports; None when not built.
        parent_build: The same of the kernel it was made from or compared with, when known.
        evidence: Of its runs; without cases when it was not run.
        samples: Paired times, "first" being the incumbent; empty when not timed.
        audit: Evidence of the submitted kernel.
        ceilings: Measured limits of the card, when there is one.
        trusted: Keys of the cases the submitted kernel gets right.
        plan: Case by key, for shapes and formats.
    """

    problem: Problem
    device: Device
    build: BuildEvidence | None
    parent_build: BuildEvidence | None
    evidence: Evidence
    samples: tuple[PairedSamples, ...]
    audit: Evidence
    ceilings: Ceilings | None
    trusted: frozenset[str]
    plan: dict[str, Case]

    @classmethod
    def of(
        cls,
        *,
        problem: Problem,
        device: Device,
        build: BuildEvidence | None,
        evidence: Evidence | None,
        audit: Evidence,
        trusted: Collection[str],
        parent_build: BuildEvidence | None = None,
        samples: Sequence[PairedSamples] = (),
        ceilings: Ceilings | None = None,
    ) -> "CheckContext":
        """Collect the facts and work out the plan behind the case names."""
        return cls(
            problem=problem,
            device=device,
            build=build,
            parent_build=parent_build,
            evidence=evidence or _NOT_RUN,
            samples=tuple(samples),
            audit=audit,
            ceilings=ceilings,
            trusted=frozenset(trusted),
            plan=case_by_key(problem, interpreted=audit.interpreted),
        )

    def cases(self) -> Iterator[CaseEvidence]:
        """Yield what happened on the cases that count: those the baseline gets right."""
        for each in self.evidence.cases:
            if case_key(each.case) in self.trusted:
                yield each

    def shown(self) -> Iterator[CaseEvidence]:
        """Yield cases a candidate could be made for: timed workloads' own and unusual values."""
        for each in self.cases():
            if not self.is_unshown(each):
                yield each

    def unshown(self) -> Iterator[CaseEvidence]:
        """Yield cases that only show on other shapes: ragged ones and untimed workloads."""
        for each in self.cases():
            if self.is_unshown(each):
                yield each

    def is_unshown(self, case: CaseEvidence) -> bool:
        """Say whether a case has shapes that are never timed."""
        if case.kind == CaseKind.RAGGED:
            return True
        return is_base(case.kind) and not self._is_timed(case)

    def outputs(self) -> Iterator[tuple[CaseEvidence, OutputEvidence]]:
        """Yield every compared output of the cases that count."""
        for case in self.cases():
            for output in case.outputs:
                yield case, output

    def baseline_case(self, case: CaseEvidence) -> CaseEvidence | None:
        """Return what the submitted kernel did on the same case, other seeds included."""
        key = case_key(case.case)
        for each in self.audit.cases:
            if case_key(each.case) == key and each.status is CaseStatus.RAN:
                return each
        return None

    def baseline_output(self, case: CaseEvidence, index: int) -> OutputEvidence | None:
        """Return the submitted kernel's output on the same case."""
        baseline = self.baseline_case(case)
        outputs = baseline.outputs if baseline is not None else ()
        return next((each for each in outputs if each.index == index), None)

    def planned(self, case: CaseEvidence) -> Case | None:
        """Return the plan behind a case name, for its shapes and formats."""
        return self.plan.get(case_key(case.case))

    def workload(self, name: str) -> Workload | None:
        """Return a workload by name."""
        return next((each for each in self.problem.workloads if each.name == name), None)

    def _is_timed(self, case: CaseEvidence) -> bool:
        planned = self.planned(case)
        workload = self.workload(planned.workload) if planned is not None else None
        return workload is None or workload.is_timed


def passed(check: str, message: str = "") -> Finding:
    """Build a finding without complaint."""
    return Finding(check, passed=True, message=message)


def passed_timed(context: CheckContext, check: str, message: str = "") -> Finding:
    """Build a finding without complaint about timed calls, and say where there were none."""
    return passed(check, message if context.samples else "not asked: nothing was timed")


def failed(
    check: str,
    reason: Reason,
    message: str,
    *,
    line: int | None = None,
    numbers: dict[str, float] | None = None,
) -> Finding:
    """Build a complaint."""
    return Finding(
        check, passed=False, reason=str(reason), message=message, line=line, numbers=numbers
    )
