"""Tensors that have shapes, strides and addresses, but no memory.

A model of tens of gigabytes is built and called in milliseconds: torch's fake tensors answer
everything about a tensor except its values. Addresses are made up so that Triton specialises
pointer arguments as it does for tensors fresh from a device's allocator.
"""

import contextlib
import sys
from collections.abc import Iterator
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import lazy_dynamo
import protocol
import torch
from redirect import Redirect
from redirect import stand_ins
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.fake_tensor import UnsupportedFakeTensorException
from torch._subclasses.fake_tensor import UnsupportedOperatorException

HOST = "cpu"
ALIGNMENT_BYTES = 1 << 21
FIRST_ADDRESS = 1 << 40


class ValueRead(Exception):
    """Host code asked for the values of a tensor that has none."""


_OUR_WORDS = ("faketensor", "fake tensor", "meta tensor", "not compiled with", "no nvidia driver")

READS_VALUES = (ValueRead, DataDependentOutputException, DynamicOutputShapeException)
"""Raised where host code asks for a value, or for a shape that depends on values."""


def is_our_limit(error: BaseException) -> bool:
    """Say whether code failed that would have run with real tensors on the device."""
    limits = (*READS_VALUES, UnsupportedFakeTensorException, UnsupportedOperatorException)
    if isinstance(error, (*limits, NotImplementedError)):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(word in text for word in _OUR_WORDS)


class AddressBook:
    """Gives every storage an address of its own, aligned as device allocators do."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Any]] = {}
        self._next = FIRST_ADDRESS

    def address(self, tensor: torch.Tensor) -> int:
        """Return where a tensor's first element would be."""
        storage = tensor.untyped_storage()
        key = storage._cdata  # noqa: SLF001 the identity that views of one storage share
        if key not in self._known:
            # The storage is kept, so that its identity cannot be given to another one.
            self._known[key] = (self._next, storage)
            self._next += (storage.nbytes() // ALIGNMENT_BYTES + 2) * ALIGNMENT_BYTES
        return self._known[key][0] + tensor.storage_offset() * tensor.element_size()


def claimed_device(target: Mapping[str, Any]) -> torch.device:
    """Return what tensors on a target's device call their device."""
    return torch.device("xpu" if target["backend"] == "xpu" else "cuda", 0)


@contextlib.contextmanager
def fake_tensors(target: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[None]:
    """Make all tensors fake, and all questions about the device answered as on the target's.

    Args:
        target: ``backend``, ``arch`` and ``warp_size``.
        facts: Numbers of the device model, e.g. ``compute_units``.
    """
    lazy_dynamo.install()
    claimed = claimed_device(target)
    redirect = Redirect(HOST, pretend=True, claim=claimed.type)
    with (
        stand_ins(HOST, redirect.replaced),
        _device_facts(target, facts),
        _fake_answers(claimed),
        _replaced(torch.nn.Module, {"_apply": _apply}),
        FakeTensorMode(allow_non_fake_inputs=True),
        redirect,
        torch.no_grad(),
    ):
        yield


def _apply(module: Any, convert: Any, recurse: bool = True) -> Any:  # noqa: FBT001, FBT002 theirs
    """Convert a module's tensors in place.

    Torch's own way swaps the tensors, which it refuses for fake ones; parameters must stay the
    same objects, since models keep lists of them.
    """
    for child in module.children() if recurse else ():
        child._apply(convert)  # noqa: SLF001 this is that method
    for parameter in module._parameters.values():  # noqa: SLF001
        if parameter is not None and (converted := convert(parameter)) is not parameter:
            parameter.data = converted
    for name, buffer in module._buffers.items():  # noqa: SLF001
        if buffer is not None:
            module._buffers[name] = convert(buffer)  # noqa: SLF001
    return module


@contextlib.contextmanager
def _fake_answers(claimed: torch.device) -> Iterator[None]:
    """Give fake tensors an address, and a device to show to the candidate."""
    book = AddressBook()
    honest: Any = FakeTensor.__dict__["device"]

    def device(tensor: Any) -> Any:
        # The candidate compares devices and asserts on them; torch must not be lied to.
        asker = sys._getframe(1).f_code.co_filename  # noqa: SLF001 nothing else tells them apart
        return claimed if asker in protocol.CANDIDATE_FILES else honest.fget(tensor)

    def refuse(*_: Any, **__: Any) -> Any:
        raise ValueRead

    answers = {
        "data_ptr": lambda tensor: book.address(tensor),  # noqa: PLW0108 a bound method would not bind
        "device": property(device, honest.fset),
        "numpy": refuse,
        "tolist": refuse,
    }
    with _replaced(FakeTensor, answers):
        yield


@contextlib.contextmanager
def _device_facts(target: Mapping[str, Any], facts: Mapping[str, Any]) -> Iterator[None]:
    """Answer ``torch.cuda.get_device_properties`` and its like with the device model's numbers."""
    arch = target["arch"]
    major, minor = divmod(arch, 10) if isinstance(arch, int) else (0, 0)
    units = int(facts.get("compute_units") or 1)
    shared = int(facts.get("shared_bytes_per_group") or 0)
    unit = SimpleNamespace(
        name=str(facts.get("title") or ""),
        major=major,
        minor=minor,
        multi_processor_count=units,
        gpu_subslice_count=units,
        max_compute_units=units,
        shared_memory_per_block=min(shared, 49152),
        shared_memory_per_block_optin=shared,
        shared_memory_per_multiprocessor=int(facts.get("shared_bytes_per_unit") or shared),
        regs_per_multiprocessor=int(facts.get("registers_per_unit") or 65536),
        max_threads_per_multi_processor=int(facts.get("threads_per_unit") or 2048),
        warp_size=target["warp_size"],
        L2_cache_size=int(facts.get("l2_bytes") or 0),
        total_memory=1 << 40,
    )
    answers = {
        "get_device_properties": lambda *_: unit,
        "get_device_name": lambda *_: unit.name,
        "get_device_capability": lambda *_: (major, minor),
    }
    with _replaced(torch.cuda, answers), _replaced(torch.xpu, answers):
        yield


@contextlib.contextmanager
def _replaced(owner: Any, values: Mapping[str, Any]) -> Iterator[None]:
    """Set attributes, and put back what was there."""
    missing = object()
    before = {name: owner.__dict__.get(name, missing) for name in values}
    for name, value in values.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
