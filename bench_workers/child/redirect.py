"""Sends hard-coded devices to the chosen one and says which names it replaced."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import protocol
import torch
from torch.overrides import TorchFunctionMode

ACCELERATORS = ("cuda", "xpu")
_HERE = str(Path(__file__).resolve().parent)
_PRETENDED_UNITS = 4
_PRETENDED_SHARED_BYTES = 65536
_SHARED_NAMES = (
    "is_available",
    "device_count",
    "current_device",
    "synchronize",
    "empty_cache",
    "get_device_properties",
    "current_stream",
    "device",
    "Stream",
    "Event",
    "stream",
    "get_device_name",
    "get_device_capability",
    "set_device",
    "mem_get_info",
)
"""Functions that every device module has."""


class Redirect(TorchFunctionMode):
    """Maps every accelerator named in a torch call to the chosen device.

    Args:
        chosen: Device name that all work goes to.
        pretend: Answer ``is_cuda``, ``device`` and their like as on a device, for code that
            asserts them where the interpreter stands in for one.
        claim: Device type to answer with then.
    """

    def __init__(self, chosen: str, *, pretend: bool, claim: str = "cuda") -> None:
        super().__init__()
        self.chosen = chosen
        self.backend = chosen.partition(":")[0]
        self.pretend = pretend
        self.claim = claim
        self.told = torch.device(claim, 0)
        self.replaced: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace device arguments, then call on."""
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in ACCELERATORS and args and name != self.backend:
            self.replaced.add(name)
            return args[0].to(self.chosen)
        if self.pretend and name == "__get__" and func in _PROPERTIES:
            return self._pretended(func, args[0])
        args = tuple(self._mapped(each) for each in args)
        kwargs = {key: self._mapped(value) for key, value in kwargs.items()}
        if kwargs.get("pin_memory") and not torch.cuda.is_available():
            kwargs["pin_memory"] = False
        return func(*args, **kwargs)

    def _pretended(self, func: Any, tensor: Any) -> Any:
        """Answer as a tensor on the device the file was written for would."""
        if _asker() not in protocol.CANDIDATE_FILES:
            return func(tensor)
        is_cuda, is_xpu, is_cpu, _ = _PROPERTIES
        if func in (is_cuda, is_xpu, is_cpu):
            return (self.claim == "cuda", self.claim == "xpu", False)[_PROPERTIES.index(func)]
        return self.told

    def _mapped(self, value: Any) -> Any:
        if isinstance(value, torch.device):
            named = value.type
        elif isinstance(value, str):
            named = value.partition(":")[0]
        else:
            return value
        if named not in ACCELERATORS or named == self.backend:
            return value
        # Code that hands back what we told it names no device itself.
        if not (self.pretend and value == self.told):
            self.replaced.add(named)
        return torch.device(self.chosen) if isinstance(value, torch.device) else self.chosen


_PROPERTIES = tuple(
    getattr(torch.Tensor, name).__get__ for name in ("is_cuda", "is_xpu", "is_cpu", "device")
)


def _asker() -> str:
    """Return the file of the innermost frame that is not one of ours."""
    frame: Any = sys._getframe(1)  # noqa: SLF001
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return "" if frame is None else str(frame.f_code.co_filename)


@contextlib.contextmanager
def stand_ins(chosen: str, replaced: set[str]) -> Iterator[None]:
    """Answer ``torch.cuda`` and ``torch.xpu`` calls of user code for the chosen device.

    Args:
        chosen: Device name that all work goes to.
        replaced: Names that were replaced are added here.
    """
    backend = chosen.partition(":")[0]
    undo: list[tuple[Any, str, Any]] = []
    for name in ACCELERATORS:
        module = getattr(torch, name, None)
        if name == backend or module is None:
            continue
        target = getattr(torch, backend) if backend != "cpu" else None
        for key, value in _answers(target, name, replaced).items():
            if hasattr(module, key):
                undo.append((module, key, getattr(module, key)))
                setattr(module, key, value)
    try:
        yield
    finally:
        for module, key, value in undo:
            setattr(module, key, value)


def _answers(target: Any, name: str, replaced: set[str]) -> dict[str, Any]:
    """Return functions that stand in for those of a module whose device is not here."""
    if target is not None:
        return {
            key: _noted(getattr(target, key), name, replaced)
            for key in _SHARED_NAMES
            if hasattr(target, key)
        }
    unit = SimpleNamespace(
        name="Triton interpreter",
        multi_processor_count=_PRETENDED_UNITS,
        gpu_subslice_count=_PRETENDED_UNITS,
        max_compute_units=_PRETENDED_UNITS,
        gpu_eu_count=8 * _PRETENDED_UNITS,
        shared_memory_per_block=_PRETENDED_SHARED_BYTES,
        shared_memory_per_block_optin=_PRETENDED_SHARED_BYTES,
        regs_per_multiprocessor=65536,
        warp_size=32,
        total_memory=2**34,
        L2_cache_size=2**22,
        major=9,
        minor=0,
    )
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "synchronize": lambda *_args, **_kwargs: None,
        "empty_cache": lambda: None,
        "set_device": lambda *_args: None,
        "device": lambda *_args: contextlib.nullcontext(),
        "get_device_name": lambda *_args: unit.name,
        "get_device_capability": lambda *_args: (unit.major, unit.minor),
        "get_device_properties": lambda *_args: unit,
        "current_stream": lambda *_args: SimpleNamespace(
            cuda_stream=0, sycl_queue=0, synchronize=lambda: None
        ),
    }


def _noted(function: Any, name: str, replaced: set[str]) -> Any:
    """Wrap a function so that its use under another device's name is known."""
    if isinstance(function, type):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        replaced.add(name)
        plain = [0 if isinstance(each, (str, torch.device)) else each for each in args]
        return function(*plain, **kwargs)

    return call


class Widen(TorchFunctionMode):
    """Evaluates in float64 what the code asks for in a narrower floating-point format."""

    _NARROW = (torch.float16, torch.bfloat16, torch.float32)
    _CASTS = ("float", "half", "bfloat16")

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Replace narrow dtypes, then call on."""
        name = getattr(func, "__name__", "")
        if name in self._CASTS and args and isinstance(args[0], torch.Tensor):
            return args[0].double()
        args = tuple(self._wide(each) for each in args)
        kwargs = {key: self._wide(value) for key, value in (kwargs or {}).items()}
        return func(*args, **kwargs)

    def _wide(self, value: Any) -> Any:
        is_narrow = isinstance(value, torch.dtype) and value in self._NARROW
        return torch.float64 if is_narrow else value
