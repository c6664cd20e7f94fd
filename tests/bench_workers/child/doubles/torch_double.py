"""Doubles of torch and of torch.cuda or torch.xpu that record what they are asked.

Sent to a child as text. Tensors are real ones on the CPU; memory, events and the sleep kernel are
played. A name that the real module does not have, or that belongs to the other vendor, raises.
"""

import time
import weakref
from types import SimpleNamespace

import torch

CUDA_UNIT = {
    "name": "Some NVIDIA Card",
    "total_memory": 1 << 34,
    "L2_cache_size": 1 << 20,
    "multi_processor_count": 132,
    "uuid": "11112222",
}
XPU_UNIT = {
    "name": "Some Intel Card",
    "total_memory": 1 << 34,
    "last_level_cache_size": 1 << 20,
    "gpu_subslice_count": 20,
    "driver_version": "1.2",
    "uuid": "33334444",
}


class Vendor:
    """One vendor's module: what it offers, and what it was asked for."""

    def __init__(self, backend, unit, *, backwards=False, leaks=False, never_done=False):
        self.asked = []
        self._backend = backend
        self._unit = unit
        self._is_done = True
        self._slept = 0.0
        self._taken = 0
        self._cached = 0
        self._leaks = leaks
        vendor = self

        class Event:
            def __init__(self, *, enable_timing=False):
                assert enable_timing

            def record(self):
                vendor._is_done = False
                now = time.perf_counter() + vendor._slept
                self.at = -now if backwards else now

            def query(self):
                return vendor._is_done and not never_done

            def elapsed_time(self, end):
                assert vendor._is_done, "asked for a time before synchronising"
                return (end.at - self.at) * 1e3

        offered = {
            "Event": Event,
            "synchronize": self._synchronize,
            "empty_cache": self._empty_cache,
            "memory_allocated": lambda: self._taken,
            "memory_reserved": lambda: self._taken + self._cached,
            "is_available": lambda: True,
            "is_initialized": lambda: True,
            "device_count": lambda: 2,
            "get_device_properties": lambda _index: SimpleNamespace(**self._unit),
        }
        if backend == "cuda":
            runtime = SimpleNamespace(
                cudaHostRegister=lambda *words: self.asked.append(("register", words)) or 0,
                cudaHostUnregister=lambda *words: self.asked.append(("unregister", words)),
            )
            offered["_sleep"] = self._played_sleep
            offered["cudart"] = lambda: runtime
        self._offered = offered

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._offered:
            raise AttributeError(f"torch.{self._backend} has no {name}")
        self.asked.append(name)
        return self._offered[name]

    def _synchronize(self):
        self._is_done = True

    def _played_sleep(self, cycles):
        self._slept += cycles / 2e9

    def _empty_cache(self):
        self._cached = 0

    def take(self, tensor):
        """Count the memory of a tensor until it ends."""
        size = tensor.untyped_storage().nbytes()
        self._taken += size
        if not self._leaks:
            weakref.finalize(tensor, self._give_back, size)

    def _give_back(self, size):
        self._taken -= size
        self._cached += size


class Untouchable:
    """The other vendor's module: nothing may be asked of it."""

    def __init__(self, backend):
        self._backend = backend

    def __getattr__(self, name):
        raise AssertionError(f"torch.{self._backend}.{name} was asked for on another device")


class Torch:
    """torch itself, with tensors of the played device on the CPU."""

    def __init__(self, backend, **faults):
        unit = {**(XPU_UNIT if backend == "xpu" else CUDA_UNIT), **faults.pop("unit", {})}
        self.precisions = []
        self.vendor = Vendor(backend, unit, **faults)
        self.cuda = self.vendor if backend == "cuda" else Untouchable("cuda")
        self.xpu = self.vendor if backend == "xpu" else Untouchable("xpu")

    def __getattr__(self, name):
        return getattr(torch, name)

    def set_float32_matmul_precision(self, name):
        self.precisions.append(name)

    def _made(self, maker, words, device, options):
        assert device in ("cpu", "cuda:0", "xpu:0")
        tensor = maker(*words, device="cpu", **options)
        self.vendor.take(tensor)
        return tensor

    def empty(self, *words, device, **options):
        return self._made(torch.empty, words, device, options)

    def ones(self, *words, device, **options):
        return self._made(torch.ones, words, device, options)

    def zeros(self, *words, device, **options):
        return self._made(torch.zeros, words, device, options)


def double(backend, **faults):
    """Return a session device on a double, and the double."""
    from device import SessionDevice

    made = Torch(backend, **faults)
    played = SessionDevice(backend, made)
    played.name = "cpu"
    return played, made
