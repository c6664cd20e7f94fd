"""Has a kernel's launches lowered for an Intel target in the optional second environment."""

import dataclasses
import os
import sys
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_workers.host.builds import Worker
from bench_workers.host.builds import device_facts
from bench_workers.sandbox.policy import Policy
from xeforge.domain.device import Device
from xeforge.domain.lowering import LaunchLowering
from xeforge.domain.lowering import Lowered
from xeforge.domain.lowering import Native
from xeforge.domain.lowering import Strength
from xeforge.domain.lowering import broken_limits
from xeforge.domain.lowering import lowering_doubts
from xeforge.domain.lowering import native_doubts
from xeforge.domain.problem import Workload
from xeforge.errors import BadRequest
from xeforge.errors import CandidateDied
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import PlatformError
from xeforge.errors import ToolchainMissing

SUFFIX = "-intel"
VARIABLE = "XEFORGE_INTEL_ENV"
REMEDY = "make intel-check"
_DESCRIBE_SECONDS = 120.0
_LOWER_SECONDS = 180.0

DECLARED: Mapping[str, Mapping[str, Any]] = {
    "intel-b580": {
        "name": "bmg",
        "has_fp64": True,
        "has_subgroup_matrix_multiply_accumulate": True,
        "has_subgroup_matrix_multiply_accumulate_tensor_float32": False,
        "has_subgroup_2d_block_io": True,
        "has_bfloat16_conversions": True,
    }
}
"""What a driver would say of each target: our statement, from published device dumps."""


def environment() -> Path:
    """Return where the second environment is, or would be: beside the first, `-intel` appended."""
    return Path(os.environ.get(VARIABLE) or f"{sys.prefix}{SUFFIX}")


def installed_version(folder: Path) -> str | None:
    """Return the version of triton-xpu in an environment; None: it is not there."""
    found = sorted(folder.glob("lib/python3*/site-packages/triton_xpu-*.dist-info"))
    is_whole = bool(found) and (folder / "bin" / "python").exists()
    return (
        found[0].name.removeprefix("triton_xpu-").removesuffix(".dist-info") if is_whole else None
    )


def second_policy(first: Policy, folder: Path) -> Policy:
    """Return the first environment's rules, with the second one's interpreter and packages.

    Raises:
        ToolchainMissing: The environment is not there.
    """
    if installed_version(folder) is None:
        raise ToolchainMissing(
            f"the structural check needs triton-xpu in an environment of its own; "
            f"there is none in {folder}",
            remedy=f"{REMEDY} (optional, about 750 MB)",
        )
    python = folder / "bin" / "python"
    bases = {Path(os.path.realpath(python)).parents[1], _home(folder).parent}
    return dataclasses.replace(
        first,
        python=python,
        readable=(folder, *sorted(each for each in bases if not each.is_relative_to("/usr"))),
        search_paths=(),
    )


def _home(folder: Path) -> Path:
    """Return where the environment's interpreter was taken from."""
    lines = (folder / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    named = (line.partition("=")[2].strip() for line in lines if line.startswith("home"))
    return Path(next(named))


def structure(
    launch_first: Callable[[], Worker],
    launch_second: Callable[[], Worker],
    source: str,
    workloads: Sequence[Workload],
    device: Device,
    *,
    configs_limit: int = 6,
) -> tuple[tuple[LaunchLowering, ...], tuple[str, ...]]:
    """Describe every launch at its real shapes and lower each; return them, and notes.

    Args:
        launch_first: Starts a child of role ``build`` in the first environment.
        launch_second: Starts a child of role ``lower`` in the second one.
        source: Kernel file.
        workloads: Their real shapes are used.
        device: One of `DECLARED`.
        configs_limit: Most autotune configurations per launch.

    Raises:
        BadRequest: Nothing is declared about the device.
        CandidateError: The source does not get as far as a launch.
    """
    properties = declared_properties(device)
    target = {"backend": "xpu", "arch": properties, "warp_size": min(device.lane_counts)}
    payload = {
        "source": source,
        "workloads": [dataclasses.asdict(each) for each in workloads],
        "target": target,
        "facts": device_facts(device),
        "configs_limit": configs_limit,
    }
    first = launch_first()
    try:
        answer = first.request("describe", payload, deadline_seconds=_DESCRIBE_SECONDS)
    finally:
        first.close()
    if answer["message"]:
        raise CandidateRaised(str(answer["message"]), line=answer["line"])
    lowering = Lowering(launch_second, properties, device)
    try:
        launches = tuple(lowering.of(each) for each in answer["reports"])
    finally:
        lowering.close()
    return launches, tuple(str(each) for each in answer["skipped"])


def declared_properties(device: Device) -> dict[str, Any]:
    """Return a device as Triton's Intel back-end wants it described.

    Raises:
        BadRequest: Nothing is declared about it.
    """
    if device.name not in DECLARED:
        known = ", ".join(DECLARED)
        raise BadRequest(
            f"no structural check for {device.name}", field="--target", remedy=f"use {known}"
        )
    return {
        **DECLARED[device.name],
        "sub_group_sizes": list(device.lane_counts),
        "max_work_group_size": device.threads_per_group,
        "max_num_sub_groups": max(device.num_warps),
        "gpu_subslice_count": device.compute_units,
    }


class Lowering:
    """Lowers one launch after the other in a child that is replaced when it dies."""

    def __init__(
        self, launch: Callable[[], Worker], properties: Mapping[str, Any], device: Device
    ) -> None:
        self._launch = launch
        self._properties = properties
        self._device = device
        self._child: Worker | None = None

    def of(self, described: Mapping[str, Any]) -> LaunchLowering:
        """Lower one launch; whatever becomes of it is told in the result."""
        payload = {"launch": described, "properties": dict(self._properties)}
        try:
            self._child = self._child or self._launch()
            answer = self._child.request("lower", payload, deadline_seconds=_LOWER_SECONDS)
        except CandidateError as error:
            self.close()
            died = isinstance(error, CandidateDied)
            reason = f"the compiler died: {error.message}" if died else error.message
            answer = {"refused": reason, "lowered": None, "native": None}
        return read_lowering(described, answer, self._device)

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.close()
            self._child = None


def read_lowering(
    described: Mapping[str, Any], answer: Mapping[str, Any], device: Device
) -> LaunchLowering:
    """Read both children's words about a launch, believing nothing about their form.

    Raises:
        PlatformError: They have the wrong form.
    """
    try:
        lowered = None if answer["lowered"] is None else _lowered(answer["lowered"])
        native = None if answer["native"] is None else _native(answer["native"])
        limits = broken_limits(lowered, device) if lowered else ()
        doubts = lowering_doubts(lowered, device) if lowered else ()
        more = native_doubts(lowered, native) if lowered and native else ()
        reached = Strength.PARSED if lowered is None or doubts else Strength.LOWERED
        if native is not None and reached is Strength.LOWERED and not more:
            reached = Strength.NATIVE
        return LaunchLowering(
            kernel=str(described["kernel"]),
            workload=str(described["workload"]),
            constants={str(name): str(each) for name, each in described["constants"].items()},
            lowered=lowered,
            native=native,
            refused=str(answer["refused"]),
            broken_limits=limits,
            lowering_doubts=doubts,
            native_doubts=more,
            reached=reached,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PlatformError(f"a child's answer has the wrong form: {error!r}") from error


def _lowered(given: Mapping[str, Any]) -> Lowered:
    texts = {"dpas_layouts", "dpas_operands"}
    values: dict[str, Any] = {}
    for field in dataclasses.fields(Lowered):
        value = given[field.name]
        if field.name in texts:
            values[field.name] = tuple(str(each) for each in value)
        else:
            values[field.name] = str(value) if field.name == "grf_mode" else int(value)
    return Lowered(**values)


def _native(given: Mapping[str, Any]) -> Native:
    if given["fault"]:
        return Native(str(given["fault"]))
    width, count = given["simd_width"], given["grf_count"]
    return Native(
        fault="",
        simd_width=None if width is None else int(width),
        grf_count=None if count is None else int(count),
        spilled=int(given["spilled"]),
        has_dpas=bool(given["has_dpas"]),
        undefined=tuple(str(each) for each in given["undefined"]),
    )
