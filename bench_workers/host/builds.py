"""Has a source compiled ahead of time in a sandboxed child, and keeps what was compiled."""

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from typing import Protocol

from bench_workers.host.kernel_cache import CACHE_FOLDER
from bench_workers.host.kernel_cache import carry_cache
from xeforge.domain.device import Device
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import CandidateTimeout

DEADLINE_SECONDS = 120.0
_CHILD_SHARE = 0.8
"""Of the deadline, after which the child starts no further configuration."""


class Worker(Protocol):
    """What is needed of a sandboxed child."""

    @property
    def directory(self) -> Path:
        """Private directory of the child, as this side sees it."""
        ...

    def request(
        self, op: str, payload: Mapping[str, Any], *, deadline_seconds: float
    ) -> dict[str, Any]:
        """Perform an operation; see `bench_workers.sandbox.launch`."""
        ...

    def close(self) -> None:
        """End the child."""
        ...


def build(
    launch_child: Callable[[], Worker],
    problem: Problem,
    source: str,
    workloads: Sequence[Workload],
    device: Device,
    *,
    also: Sequence[Workload] = (),
    keep_cache: Path | None = None,
    configs_limit: int = 6,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> BuildEvidence:
    """Compile every launch that `source` makes on the workloads, without a device.

    Args:
        launch_child: Starts a child of role ``build``; it is closed here.
        problem: Names the target in messages.
        source: Kernel file.
        workloads: Their real shapes are used; nothing of that size is allocated.
        device: Model to compile for.
        also: More shapes to compile for, without a report, and with what Triton puts between
            Python and the driver: what the device would else have to wait for.
        keep_cache: Folder that the compiled kernels are copied into; see `carry_cache`.
        configs_limit: Most autotune configurations compiled per launch.
        deadline_seconds: For everything together.

    Returns:
        Faults of the source are evidence, too; nothing is raised for them.
    """
    if device.compile_target is None:
        reason = f"not compiled: Triton cannot compile for {problem.target}"
        return BuildEvidence((), skipped=(reason,))
    payload = {
        "source": source,
        "workloads": [dataclasses.asdict(each) for each in workloads],
        "also": [dataclasses.asdict(each) for each in also],
        "target": dataclasses.asdict(device.compile_target),
        "facts": device_facts(device),
        "configs_limit": configs_limit,
        "seconds": _CHILD_SHARE * deadline_seconds,
    }
    return _built(launch_child(), payload, keep_cache, deadline_seconds)


def _built(
    child: Worker, payload: Mapping[str, Any], keep_cache: Path | None, deadline_seconds: float
) -> BuildEvidence:
    """Ask the child and end it; whatever becomes of it is evidence."""
    try:
        answer = child.request("build", payload, deadline_seconds=deadline_seconds)
        if keep_cache is not None:
            carry_cache(child.directory / CACHE_FOLDER, keep_cache, seen_as=keep_cache)
        return _evidence(answer)
    except CandidateTimeout:
        return BuildEvidence((), f"compiling passed its deadline of {deadline_seconds:g} s")
    except CandidateError as error:
        line = error.line if isinstance(error, CandidateRaised) else None
        return BuildEvidence(reports=(), message=error.message, line=line)
    finally:
        child.close()


def device_facts(device: Device) -> dict[str, Any]:
    """Return the numbers of a device model that host code may ask the device for."""
    names = (
        "title",
        "compute_units",
        "shared_bytes_per_group",
        "shared_bytes_per_unit",
        "registers_per_unit",
        "threads_per_unit",
        "l2_bytes",
    )
    return {name: getattr(device, name) for name in names}


def _evidence(answer: Mapping[str, Any]) -> BuildEvidence:
    """Read a child's answer, believing nothing about its form."""
    try:
        line = answer["line"]
        return BuildEvidence(
            reports=tuple(_report(each) for each in answer["reports"]),
            message=str(answer["message"]),
            line=None if line is None else int(line),
            skipped=tuple(str(each) for each in answer["skipped"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"the child's answer has the wrong form: {type(error).__name__}: {error}"
        return BuildEvidence(reports=(), message=message)


def _report(given: Mapping[str, Any]) -> BuildReport:
    def number(name: str) -> int | None:
        return None if given.get(name) is None else int(given[name])

    return BuildReport(
        kernel=str(given["kernel"]),
        workload=str(given["workload"]),
        constants={str(name): str(value) for name, value in given["constants"].items()},
        num_warps=int(given["num_warps"]),
        num_stages=int(given["num_stages"]),
        registers=number("registers"),
        spill_bytes=number("spill_bytes"),
        shared_bytes=int(given["shared_bytes"]),
        error=str(given.get("error", "")),
        line=number("line"),
        seconds=float(given["seconds"]),
        matrix_instructions=number("matrix_instructions"),
        is_tuned=bool(given.get("is_tuned", False)),
    )
