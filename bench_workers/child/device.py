"""One face for cuda, xpu and cpu: what a session needs from the device it runs on.

Nothing else of ours names ``torch.cuda`` or ``torch.xpu``. What only one of them offers (a sleep
kernel, pinning of foreign memory) is asked for by name here and has a stated fallback.
"""

import contextlib
import ctypes
import functools
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import torch

DELAY_CYCLES_PER_SECOND = 2_000_000_000
UNUSED_BYTES = 1 << 30
UNUSED_SHARE = 32
"""More than this, or this part of the device's memory where that is more, is given back between
requests: asking the driver for it again takes milliseconds."""
_PERSISTING_LIMIT = 0x06
"""``CU_LIMIT_PERSISTING_L2_CACHE_SIZE`` of the CUDA driver API."""
_READ_ONLY = 0x08
"""CUDA's flag for host memory that the device only reads."""


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

    Attributes:
        torch: Makes tensors.
        module: ``torch.cuda`` or ``torch.xpu``; None for cpu.
        name: As tensors take it.
    """

    def __init__(self, backend: str, torch_module: Any = torch) -> None:
        self.backend = backend
        self.torch = torch_module
        self.module: Any = getattr(torch_module, backend, None) if backend != "cpu" else None
        self.name = backend if backend == "cpu" else f"{backend}:0"
        self._pinned: set[int] = set()

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
        unused = self.module.memory_reserved() - self.module.memory_allocated()
        if unused > max(UNUSED_BYTES, self._memory_bytes // UNUSED_SHARE):
            self.module.empty_cache()

    @functools.cached_property
    def _memory_bytes(self) -> int:
        return int(self.properties()["memory_bytes"])

    def delay(self) -> Callable[[float], None] | None:
        """Return a function that keeps the queue busy for some seconds without touching memory."""
        sleep = getattr(self.module, "_sleep", None)
        if sleep is None:
            return None
        return lambda seconds: sleep(int(seconds * DELAY_CYCLES_PER_SECOND))

    def pin(self, address: int, size: int, *, writable: bool) -> str | None:
        """Register host memory, so that copies run at the bus's speed.

        Returns:
            Why it is not registered, so that copies take longer; empty when it is, or when there
            is nothing to copy to; None while the device is not open.
        """
        if self.module is None:
            return ""
        if not self.module.is_initialized():
            return None
        runtime = getattr(self.module, "cudart", None)
        if runtime is None:
            return f"shared memory is not pinned: torch.{self.backend} cannot register it"
        flags = 0 if writable else _READ_ONLY
        status = int(runtime().cudaHostRegister(address, size, flags))
        if status == 0:
            self._pinned.add(address)
            return ""
        with contextlib.suppress(RuntimeError):  # takes the error off the driver's record
            self.torch.zeros(1, device=self.name).add_(1)
            self.synchronize()
        return f"shared memory is not pinned (cudaHostRegister: {status})"

    def unpin(self, address: int) -> None:
        """Take back a registration; memory that was not registered is left alone."""
        if address in self._pinned:
            self._pinned.discard(address)
            self.module.cudart().cudaHostUnregister(address)

    def allow_no_persisting_cache(self) -> None:
        """Reserve nothing of the last-level cache for lines that are marked to stay in it."""
        if self._driver is not None:
            self._driver.cuCtxSetLimit(_PERSISTING_LIMIT, ctypes.c_size_t(0))

    def reset_persisting_cache(self) -> None:
        """Let lines that were marked to stay in the last-level cache go like all others."""
        if self._driver is not None:
            self._driver.cuCtxResetPersistingL2Cache()

    @functools.cached_property
    def _driver(self) -> Any:
        """Return CUDA's driver library, for what torch does not pass on; None elsewhere."""
        if self.backend != "cuda":
            return None
        try:
            return ctypes.CDLL("libcuda.so.1")
        except OSError:  # not a CUDA build of the driver's usual kind: nothing can persist
            return None

    @contextlib.contextmanager
    def fast_products(self) -> Iterator[None]:
        """Let float32 operands use the matrix units' nearest format (TF32) on every backend."""
        before = self.torch.get_float32_matmul_precision()
        self.torch.set_float32_matmul_precision("high")
        try:
            yield
        finally:
            self.torch.set_float32_matmul_precision(before)

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
