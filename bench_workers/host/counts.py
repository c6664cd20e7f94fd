"""Has the work of a source's launches counted in a sandboxed child."""

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from bench_workers.host.builds import Worker
from bench_workers.host.builds import device_facts
from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import KernelWork
from xeforge.errors import CandidateRaised

DEADLINE_SECONDS = 120.0
_CHILD_SHARE = 0.8


def count(
    launch_child: Callable[[], Worker],
    problem: Problem,
    source: str,
    workloads: Sequence[Workload],
    device: Device | None = None,
    *,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> tuple[tuple[KernelWork, ...], ...]:
    """Count what one call does on each workload, in launch order, library operators included.

    An autotuned kernel is counted with the first configuration that its own rules leave. Values
    are not computed: what depends on the contents of tensors (gathered rows, data-dependent trip
    counts) is counted as if they were zero. Library operators are named ``"aten::mm"`` and so on;
    their grids are guesses.

    Args:
        launch_child: Starts a child of role ``count``; it is closed here.
        problem: Names the target in messages.
        source: Kernel file.
        workloads: Their real shapes are used; nothing of that size is allocated.
        device: Model whose number of compute units host code is told; None: one unit.
        deadline_seconds: For everything together.

    Raises:
        CandidateError: The source cannot be interpreted that far.
    """
    payload: dict[str, Any] = {
        "source": source,
        "workloads": [dataclasses.asdict(each) for each in workloads],
        "seconds": _CHILD_SHARE * deadline_seconds,
    }
    if device is not None:
        payload["facts"] = device_facts(device)
        if device.compile_target is not None:
            payload["target"] = dataclasses.asdict(device.compile_target)
    child = launch_child()
    try:
        answer = child.request("count", payload, deadline_seconds=deadline_seconds)
    finally:
        child.close()
    try:
        works = tuple(tuple(_work(each) for each in launches) for launches in answer["works"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"the child's counts for {problem.target} have the wrong form: {error}"
        raise CandidateRaised(message, kind=type(error).__name__) from error
    if len(works) != len(workloads):
        message = f"the child counted {len(works)} workloads, asked were {len(workloads)}"
        raise CandidateRaised(message, kind="ValueError")
    return works


def _work(given: Mapping[str, Any]) -> KernelWork:
    """Read one launch, believing nothing about its form."""
    warps = given.get("num_warps")
    return KernelWork(
        kernel=str(given["kernel"]),
        programs=int(given["programs"]),
        loaded_bytes=float(given["loaded_bytes"]),
        stored_bytes=float(given["stored_bytes"]),
        unique_bytes=float(given["unique_bytes"]),
        dot_flops={str(name): float(value) for name, value in given["dot_flops"].items()},
        vector_flops={str(name): float(value) for name, value in given["vector_flops"].items()},
        num_warps=None if warps is None else int(warps),
    )
