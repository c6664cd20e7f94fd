"""Counts what the launches of ``forward`` do at real shapes, by interpreting a few programs."""

import os
import sys
import time
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEFAULT_SECONDS = 60.0
_NO_TARGET = {"backend": "cuda", "arch": 90, "warp_size": 32}


def setup(_options: dict[str, Any]) -> None:
    """Choose the interpreter.

    Raises:
        RuntimeError: Triton was imported for compiling.
    """
    import interpret

    is_late = "triton" in sys.modules and os.environ.get(interpret.VARIABLE) != "1"
    if is_late:
        raise RuntimeError("triton was imported before the interpreter was chosen")
    interpret.switch_on()


def count(payload: dict[str, Any]) -> dict[str, Any]:
    """Count every launch and every library operator of one call per workload.

    Args:
        payload: ``source``, ``workloads`` (fields of ``Workload``), ``target``, ``facts`` of the
            device model and ``seconds`` for everything.

    Returns:
        ``works``: for each workload the fields of ``KernelWork`` in launch order; ``notes``.

    Raises:
        Exception: Whatever the candidate raises.
    """
    import counting_builder
    import fakes
    import libdevice_stand_ins
    import loading
    import model_call
    import standin_driver
    import tensor_methods
    from counting_launches import LaunchCounter
    from library_work import LibraryWork

    target, facts = payload.get("target") or _NO_TARGET, payload.get("facts") or {}
    is_nvidia = target["backend"] == "cuda"
    counting_builder.install("tf32" if is_nvidia else "ieee")
    libdevice_stand_ins.install()
    tensor_methods.install()
    standin_driver.install(target, facts, fakes.claimed_device(target))
    limit = float(payload.get("seconds", DEFAULT_SECONDS))
    counter = LaunchCounter(ends_at_seconds=time.perf_counter() + limit)
    counter.install()
    answer = []
    with fakes.fake_tensors(target, facts):
        loaded = model_call.load_candidate(payload["source"], Path.cwd())
        for workload in payload["workloads"]:
            model, inputs = model_call.prepare(loaded, workload)
            counter.works = []
            try:
                with LibraryWork(counter.works):
                    model(*inputs)
            except fakes.READS_VALUES as error:
                line = loading.line_in(error, loaded.path)
                raise fakes.ValueRead(f"host code reads device data at line {line}") from error
            answer.append(counter.works)
    return {"works": answer, "notes": counter.notes}


OPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"count": count}
