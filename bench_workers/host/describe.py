"""Imports the user's files, constructs both models and says what was found, or what is wrong."""

import math
from collections.abc import Mapping
from typing import Any

from bench_workers.host.oracle import REFERENCE
from bench_workers.host.oracle import SUBMITTED
from bench_workers.host.oracle import payload_of
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Session
from bench_workers.host.sessions import Sessions
from xeforge.domain.case import Fill
from xeforge.domain.dtype import find_dtype
from xeforge.domain.events import Described
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import BadKernel
from xeforge.errors import BadSpec
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import UserError

_CHEAP_BYTES = 64 << 20
_CHEAP_FLOPS = 2e10
_REMEDIES: Mapping[str, str] = {
    "no_model": "name the module's class Model",
    "arguments": "make the spec's inits, or get_init_inputs(), match the constructor",
    "no_inputs": "define get_inputs() that returns a list of tensors, or give a spec",
}
_REMEDY = "run the file by itself and mend what it reports"


def describe(sessions: Sessions, problem: Problem, deadlines: Deadlines, room: int) -> Described:
    """Try the files in a child without a device.

    Args:
        sessions: Starts the child.
        problem: Supplies files and workloads.
        deadlines: For its requests.
        room: Bytes of memory inputs may take on the device that runs them.

    Raises:
        BadKernel: The kernel file cannot be used.
        UserError: The reference cannot be used, or the spec asks for more than fits.
    """
    for workload in problem.workloads:
        _check_room(workload, room)
    smallest = min(problem.workloads, key=input_bytes)
    session = sessions.start("prepare")
    try:
        return _Tried(session, problem, deadlines).run(smallest)
    finally:
        session.close()


class _Tried:
    """One child with both files."""

    def __init__(self, session: Session, problem: Problem, deadlines: Deadlines) -> None:
        self._session = session
        self._problem = problem
        self._deadlines = deadlines

    def run(self, workload: Workload) -> Described:
        """Construct kernel and reference on a workload; call the reference where it is cheap."""
        problem, notes = self._problem, []
        kernel, reference = problem.kernel, problem.reference
        self._ask(kernel, "load", {"name": SUBMITTED, "text": kernel.text})
        if reference is not None:
            self._ask(reference, "load", {"name": REFERENCE, "text": reference.text})
        fields = payload_of(workload, fill=Fill.RANDOM, seed=problem.seed)
        fields["dims"] = dict(workload.dims)
        fields["fallback"] = SUBMITTED if reference is None else REFERENCE
        found = self._ask(kernel, "describe", {**fields, "name": SUBMITTED})
        if reference is not None:
            is_cheap = is_affordable(workload)
            payload = {**fields, "name": REFERENCE, "fallback": SUBMITTED, "evaluate": is_cheap}
            other = self._ask(reference, "describe", payload)
            if not is_cheap:
                notes.append("the reference is first evaluated at the audit: its shapes are large")
            if other["parameters"] != found["parameters"]:
                notes.append(
                    "kernel and reference have different parameters: "
                    f"{_listed(found['parameters'])} against {_listed(other['parameters'])}"
                )
        shapes = tuple(_shapes(each, found) for each in problem.timed)
        return Described(shapes, tuple(found["parameters"]), tuple(notes))

    def _ask(self, file: SourceFile, op: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return self._session.ask(op, payload, seconds=self._deadlines.load)
        except CandidateError as error:
            raise self._refusal(file, error) from error

    def _refusal(self, file: SourceFile, error: CandidateError) -> UserError:
        is_kernel = file == self._problem.kernel
        kind = error.kind if isinstance(error, CandidateRaised) else ""
        line = error.line if isinstance(error, CandidateRaised) else None
        error_class = BadKernel if is_kernel else UserError
        remedy = _REMEDIES.get(kind, _REMEDY)
        return error_class(error.message, file=file.path, line=line, remedy=remedy)


def is_affordable(workload: Workload) -> bool:
    """Whether calling a reference on the processor takes a second at most."""
    if workload.from_file:
        return True
    return input_bytes(workload) <= _CHEAP_BYTES and (workload.flops or 0.0) <= _CHEAP_FLOPS


def input_bytes(workload: Workload) -> int:
    """Return the size of a workload's inputs."""
    return sum(map(_tensor_bytes, workload.inputs))


def _tensor_bytes(spec: TensorSpec) -> int:
    known = find_dtype(spec.dtype)
    return math.prod(spec.shape) * (8 if known is None else known.size_bytes)


def _check_room(workload: Workload, room: int) -> None:
    needed = input_bytes(workload)
    if needed > room:
        raise BadSpec(
            f"the inputs of {workload.name} take {needed / 2**30:.1f} GiB, "
            f"{room / 2**30:.1f} GiB can be used here",
            field=f"{workload.name}.dims",
            remedy="use smaller dimensions",
        )


def _shapes(workload: Workload, found: Mapping[str, Any]) -> str:
    if workload.from_file:
        return ", ".join(found["shapes"])
    return ", ".join(f"{each.dtype}[{_sizes(each)}]" for each in workload.inputs)


def _sizes(spec: TensorSpec) -> str:
    return ", ".join(map(str, spec.shape))


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
