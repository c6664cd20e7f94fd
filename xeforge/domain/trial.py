"""A candidate with its verdict and the numbers behind it."""

from dataclasses import dataclass

from xeforge.domain.evidence import BuildReport
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Verdict


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """Speed on one workload against the incumbent of that moment.

    Attributes:
        workload: Workload name.
        weight: Its share in the geometric mean.
        incumbent_seconds, candidate_seconds: Median device time, or modelled time.
        ratio: Incumbent over candidate; low = estimate = high when modelled.
        floor_seconds: Physical floor, when known.
    """

    workload: str
    weight: float
    incumbent_seconds: float
    candidate_seconds: float
    ratio: Interval
    floor_seconds: float | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One judged candidate.

    Attributes:
        candidate: Candidate id.
        against: Candidate id of the incumbent it was compared with.
        verdict: The decision.
        findings: Everything the checks said, worst first.
        builds: Compiler reports.
        ratio: Weighted geometric mean over workloads, incumbent over candidate; None when no
            speed was compared.
        results: Per workload.
    """

    candidate: str
    against: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    builds: tuple[BuildReport, ...] = ()
    ratio: Interval | None = None
    results: tuple[WorkloadResult, ...] = ()
