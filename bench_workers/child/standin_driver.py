"""Stands in for the driver of a device that is not here.

Triton asks its driver which target to compile for and which device is current. With these
answers a jit function specialises its arguments and forms its cache keys exactly as it would on
the device, and the autotuner can be asked for its configurations.
"""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class StandInUtilities:
    """Answers what persistent kernels ask before they choose their grid.

    Args:
        facts: ``compute_units`` and ``shared_bytes_per_group``; missing: not known.
    """

    def __init__(self, facts: Mapping[str, Any], warp_size: int) -> None:
        self._facts = facts
        self._warp_size = warp_size

    def get_device_properties(self, _device: int = 0) -> dict[str, int]:
        """Return properties by the names that Triton's own drivers use."""
        return {
            "multiprocessor_count": int(self._facts.get("compute_units") or 1),
            "max_shared_mem": int(self._facts.get("shared_bytes_per_group") or 0),
            "max_num_regs": int(self._facts.get("registers_per_unit") or 65536),
            "warpSize": self._warp_size,
        }


class StandInDriver(DriverBase):
    """Driver without a device.

    Args:
        target: What to compile for.
        facts: Numbers of the device model, see `StandInUtilities`.
        device: What tensors of the candidate call their device.
    """

    def __init__(self, target: GPUTarget, facts: Mapping[str, Any], device: torch.device) -> None:
        super().__init__()
        self._target = target
        self._device = device
        self.utils = StandInUtilities(facts, target.warp_size)

    @classmethod
    def is_active(cls) -> bool:
        """Say that this driver may be chosen."""
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Return the type unchanged: no launcher is ever generated."""
        return ty

    def get_current_target(self) -> GPUTarget:
        """Return what to compile for."""
        return self._target

    def get_active_torch_device(self) -> torch.device:
        """Return what tensors of the candidate call their device."""
        return self._device

    def get_current_device(self) -> int:
        """Return the only device there is."""
        return 0

    def set_current_device(self, _device: int) -> None:
        """Accept any choice: there is only one."""

    def get_current_stream(self, _device: int | None = None) -> int:
        """Return the default stream."""
        return 0

    def get_device_capability(self, _device: int | None = None) -> tuple[int, int]:
        """Return major and minor version of an NVIDIA target; zeros elsewhere."""
        arch = self._target.arch
        return divmod(arch, 10) if isinstance(arch, int) else (0, 0)

    def get_device_interface(self) -> Any:
        """Return the module that synchronises; nothing here needs it."""
        return torch.cpu

    def get_benchmarker(self) -> Callable[..., Any]:
        """Return a benchmark that runs nothing and finds everything equally fast."""

        def bench(_call: Callable[[], Any], quantiles: Sequence[float] = (), **_: Any) -> Any:
            return [1.0] * len(quantiles) if quantiles else 1.0

        return bench

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        """Return a buffer for benchmarks that flush the cache."""
        return torch.empty(1)

    def clear_cache(self, _cache: Any) -> None:
        """Do nothing: no cache is ever filled."""


def install(target: Mapping[str, Any], facts: Mapping[str, Any], device: torch.device) -> None:
    """Make Triton believe that the target's device is the current one.

    Args:
        target: ``backend``, ``arch`` and ``warp_size``.
        facts: Numbers of the device model.
        device: What tensors of the candidate call their device.
    """
    described = GPUTarget(target["backend"], target["arch"], target["warp_size"])
    triton.runtime.driver.set_active(StandInDriver(described, facts, device))
