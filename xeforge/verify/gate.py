"""Reads a candidate before anything of it is run."""

from xeforge.domain.device import Device
from xeforge.domain.evidence import Finding
from xeforge.domain.problem import Problem
from xeforge.errors import BadKernel
from xeforge.verify.gates import GATES
from xeforge.verify.gates import syntax
from xeforge.verify.reading import GateContext


def gate(problem: Problem, source: str, device: Device) -> tuple[Finding, ...]:
    """Return what each static rule says about a source; nothing of it is run.

    Where a rule is relative, the submitted kernel is the measure: what it does may stay.

    Args:
        problem: Holds the submitted kernel.
        source: Candidate.
        device: Gives legal launch settings.
    """
    try:
        context = GateContext.of(problem, source, device)
    except BadKernel as error:
        return (syntax.unreadable(error),)
    return tuple(finding for _, inspect in GATES for finding in inspect(context))
