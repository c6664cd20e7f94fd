"""One face for cuda, xpu and cpu: what a session needs from the device it runs on."""

import time
from collections.abc import Callable
from typing import Any

import torch

DELAY_CYCLES_PER_SECOND = 2_000_000_000
UNUSED_BYTES = 1 << 30
"""More than this is given back between requests."""


class HostEvent:
    """Stands in for a device event where work is done before the call returns."""

    def __init__(self) -> None:
        self.at_seconds = 0.0

    def record(self) -> None:
        """Remember the time."""
        self.at_seconds = time.perf_counter()

    def elapsed_time(self, end: "HostEvent") -> float:
        """Return milliseconds from this event to `end`."""
        return (end.at_seconds - self.at_seconds) * 1e3


class SessionDevice:
    """The device of one child.

    Args:
        backend: Torch device type.
        torch_module: Supplies ``torch.cuda`` or ``torch.xpu``; a double in tests.
    """

    def __init__(self, backend: str, torch_module: Any = torch) -> None:
        self.backend = backend
        self.module: Any = getattr(torch_module, backend, None) if backend != "cpu" else None
        self.name = backend if backend == "cpu" else f"{backend}:0"

    @property
    def is_accelerator(self) -> bool:
        """Whether work runs beside the host."""
        return self.backend != "cpu"

    def synchronize(self) -> None:
        """Wait until everything enqueued on any stream of the device is done."""
        if self.module is not None:
            self.module.synchronize()

    def event(self) -> Any:
        """Return a new timing event."""
        return HostEvent() if self.module is None else self.module.Event(enable_timing=True)

    def empty_cache(self) -> None:
        """Give unused device memory back."""
        if self.module is not None:
            self.module.empty_cache()

    def trim(self) -> None:
        """Give unused device memory back once there is much of it: siblings share the card."""
        if self.module is None or not hasattr(self.module, "memory_reserved"):
            return
        if self.module.memory_reserved() - self.module.memory_allocated() > UNUSED_BYTES:
            self.module.empty_cache()

    def delay(self) -> Callable[[float], None] | None:
        """Return a function that keeps the queue busy for some seconds without touching memory."""
        sleep = getattr(self.module, "_sleep", None)
        if sleep is None:
            return None
        return lambda seconds: sleep(int(seconds * DELAY_CYCLES_PER_SECOND))

    def all_properties(self) -> list[dict[str, Any]]:
        """Say what the driver reports about every unit; empty where there is none."""
        if self.module is None or not self.module.is_available():
            return []
        return [self.properties(index) for index in range(self.module.device_count())]

    def properties(self, index: int = 0) -> dict[str, Any]:
        """Say what the driver reports about one unit."""
        answer: dict[str, Any] = {
            "backend": self.backend,
            "product": "",
            "uuid": "",
            "driver": "",
            "memory_bytes": 0,
            "l2_bytes": 0,
            "compute_units": 1,
        }
        if self.module is None:
            return answer
        found = self.module.get_device_properties(index)
        answer["product"] = str(getattr(found, "name", ""))
        answer["uuid"] = str(getattr(found, "uuid", "") or "")
        answer["driver"] = str(getattr(found, "driver_version", "") or "")
        answer["memory_bytes"] = int(getattr(found, "total_memory", 0))
        answer["l2_bytes"] = int(
            getattr(found, "L2_cache_size", 0) or getattr(found, "last_level_cache_size", 0)
        )
        answer["compute_units"] = int(
            getattr(found, "multi_processor_count", 0) or getattr(found, "gpu_subslice_count", 0)
        )
        return answer
