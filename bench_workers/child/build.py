"""Finds what ``forward`` launches at real shapes and compiles it ahead of time, with no device."""

import os
import time
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CACHE_FOLDER = "cache"
DEFAULT_SECONDS = 100.0
_MESSAGE_LIMIT = 1000


def setup(_options: dict[str, Any]) -> None:
    """Direct Triton's cache to the child's own folder and see that kernels are compiled."""
    os.environ.setdefault("TRITON_CACHE_DIR", str(Path.cwd() / CACHE_FOLDER))
    os.environ.pop("TRITON_INTERPRET", None)


def build(payload: dict[str, Any]) -> dict[str, Any]:
    """Compile every distinct launch of all workloads.

    Args:
        payload: ``source``, ``workloads`` (fields of ``Workload``), ``also`` (more of them, not
            reported), ``target``, ``facts`` of the device model, ``configs_limit`` and ``seconds``.

    Returns:
        Fields of ``BuildEvidence``.
    """
    import fakes
    import model_call
    import standin_driver
    from launch_compiler import LaunchCompiler

    target, facts = payload["target"], payload.get("facts") or {}
    if (reason := _missing_backend(target)) is not None:
        return {"reports": [], "message": "", "line": None, "skipped": [f"not compiled: {reason}"]}
    compiler = LaunchCompiler(
        configs_limit=int(payload.get("configs_limit", 6)),
        ends_at_seconds=time.perf_counter() + float(payload.get("seconds", DEFAULT_SECONDS)),
    )
    standin_driver.install(target, facts, fakes.claimed_device(target))
    compiler.is_linking = bool(payload.get("also"))
    with fakes.fake_tensors(target, facts), compiler.active():
        loaded = model_call.load_candidate(payload["source"], Path.cwd())
        answer = _called(compiler, loaded, payload["workloads"])
        if compiler.reports:
            _compile_more(compiler, loaded, payload.get("also") or [])
    return answer


def describe(payload: dict[str, Any]) -> dict[str, Any]:
    """Describe every distinct launch of all workloads, for a compiler that is not here.

    Args:
        payload: As for `build`; ``also`` and ``seconds`` are of no use here.

    Returns:
        As `build`, but the reports are those of `launch_describer`.
    """
    import math

    import fakes
    import model_call
    import standin_driver
    from launch_describer import LaunchDescriber

    target, facts = payload["target"], payload.get("facts") or {}
    describer = LaunchDescriber(int(payload.get("configs_limit", 6)), ends_at_seconds=math.inf)
    standin_driver.install(target, facts, fakes.claimed_device(target))
    with fakes.fake_tensors(target, facts), describer.active():
        loaded = model_call.load_candidate(payload["source"], Path.cwd())
        return _called(describer, loaded, payload["workloads"])


def _called(compiler: Any, loaded: Any, workloads: list[dict[str, Any]]) -> dict[str, Any]:
    """Call ``forward`` on every workload; return what was found out about its launches."""
    import fakes
    import model_call

    message, line = "", None
    for workload in workloads:
        compiler.workload = workload["name"]
        try:
            model, inputs = model_call.prepare(loaded, workload)
            model(*inputs)
        except Exception as error:
            words, place = _host_failure(error, loaded.path)
            compiler.note(f"{workload['name']}: {words}")
            if not compiler.reports and not fakes.is_our_limit(error):
                message, line = words, place
    return {
        "reports": compiler.reports,
        "message": "" if compiler.reports else message,
        "line": None if compiler.reports else line,
        "skipped": compiler.skipped,
    }


def _compile_more(compiler: Any, loaded: Any, workloads: list[dict[str, Any]]) -> None:
    """Fill the cache for further shapes; what fails here will say so when it is run."""
    import contextlib

    import model_call

    compiler.is_quiet = True
    for workload in workloads:
        if time.perf_counter() > compiler.ends_at_seconds:
            return
        with contextlib.suppress(Exception):
            model, inputs = model_call.prepare(loaded, workload)
            model(*inputs)


def _missing_backend(target: Mapping[str, Any]) -> str | None:
    """Say which back-end this Triton lacks; None when it has one for the target."""
    from triton.backends import backends
    from triton.backends.compiler import GPUTarget

    wanted = GPUTarget(target["backend"], target["arch"], target["warp_size"])
    if any(each.compiler.supports_target(wanted) for each in backends.values()):
        return None
    vendor = {"xpu": "Intel", "hip": "AMD", "cuda": "NVIDIA"}.get(target["backend"])
    return f"no {vendor or target['backend']} back-end in this Triton"


def _host_failure(error: Exception, path: str) -> tuple[str, int | None]:
    """Say why host code did not come to its end."""
    import fakes
    import loading

    if isinstance(error, loading.Fault):
        return error.message, error.line
    line = loading.line_in(error, path)
    if isinstance(error, fakes.READS_VALUES):
        message = f"host code reads device data at line {line}; launches after it are not compiled"
        return message, line
    place = "" if line is None else f" at line {line}"
    where = " with tensors that hold no values" if fakes.is_our_limit(error) else ""
    text = f"{type(error).__name__}{place}: {str(error)[:_MESSAGE_LIMIT]}"
    return f"host code raised{where} {text}", line


OPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "build": build,
    "describe": describe,
}
