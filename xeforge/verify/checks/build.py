"""Refuse what does not compile for the target, or needs more of it than there is."""

from collections.abc import Iterator

from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.verify.checks.ran import reason_in_words
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed

NAME = "build"
_BUDGET_WORDS = ("deadline", "budget", "timed out", "time limit")
_ENDED_WORDS = ("ended by itself", "killed by sig", "closed its channel", "answered something")
"""What the sandbox says of a child that is gone; a compiler that crashes is no memory fault of the
kernel."""


def check(context: CheckContext) -> Finding:
    """Compare compiler reports with the limits of the device.

    Triton's autotuner passes over configurations that cannot be launched, so one good
    configuration of each kernel and workload is enough.
    """
    build = context.build
    if build is None:
        return passed(NAME, "not built here")
    if build.message:
        reason = _compile_reason(build.message)
        return failed(NAME, reason, f"before any launch: {build.message}", line=build.line)
    for reports in _launches(build):
        complaints = [_complaint(each, context) for each in reports]
        broken = [each for each in complaints if each is not None]
        if len(broken) == len(complaints):
            return broken[0]
    return passed(NAME, _summary(build))


def _launches(build: BuildEvidence) -> Iterator[list[BuildReport]]:
    """Yield the configurations of each kernel on each workload."""
    groups: dict[tuple[str, str], list[BuildReport]] = {}
    for each in build.reports:
        groups.setdefault((each.kernel, each.workload), []).append(each)
    yield from groups.values()


def _complaint(report: BuildReport, context: CheckContext) -> Finding | None:
    if report.error:
        reason = _compile_reason(report.error)
        return failed(NAME, reason, f"{report.kernel}: {report.error}", line=report.line)
    limit = context.device.shared_bytes_per_group
    if limit is not None and report.shared_bytes > limit:
        return failed(
            NAME,
            Reason.RESOURCE_LIMIT,
            f"{report.kernel} needs {report.shared_bytes:,} bytes of on-chip memory, "
            f"{context.device.name} has {limit:,}",
            numbers={"shared_bytes": report.shared_bytes, "limit_bytes": limit},
        )
    return _spills(report, context)


def _spills(report: BuildReport, context: CheckContext) -> Finding | None:
    limit, spilled = context.device.spill_bytes_per_thread, report.spill_bytes
    if limit is None or spilled is None or spilled <= limit:
        return None
    parent = _parent_spills(report.workload, context.parent_build)
    if parent is not None and spilled <= parent:
        return None
    before = "" if parent is None else f", the kernel it was made from {parent:,}"
    return failed(
        NAME,
        Reason.RESOURCE_LIMIT,
        f"{report.kernel} spills {spilled:,} bytes per thread (limit {limit:,}{before})",
        numbers={"spill_bytes": spilled, "limit_bytes": limit},
    )


def _parent_spills(workload: str, parent: BuildEvidence | None) -> int | None:
    """Return the most the parent spills on a workload; kernels may have new names."""
    reports = parent.reports if parent is not None else ()
    spills = [
        each.spill_bytes
        for each in reports
        if each.workload == workload and each.spill_bytes is not None and not each.error
    ]
    return max(spills, default=None)


def _compile_reason(message: str) -> Reason:
    text = message.lower()
    if any(word in text for word in _BUDGET_WORDS):
        return Reason.COMPILE_BUDGET
    if any(word in text for word in _ENDED_WORDS):
        return Reason.NO_RESULT
    return reason_in_words(message) or Reason.RUNTIME_ERROR


def _summary(build: BuildEvidence) -> str:
    good = [each for each in build.reports if not each.error]
    if not good:
        return ""
    registers = max((each.registers or 0 for each in good), default=0)
    spilled = max((each.spill_bytes or 0 for each in good), default=0)
    shared = max(each.shared_bytes for each in good)
    return (
        f"{len(good)} launches: at most {registers} registers, {spilled:,} bytes spilled, "
        f"{shared:,} bytes on chip"
    )
