"""Shared memory with the host: tensors cross as records of place and layout."""

import mmap
import os
import warnings
from typing import Any

import torch

ALIGNMENT_BYTES = 256


class ArenaFull(Exception):
    """The host gave less room than the tensors need; it makes more and asks again."""

    def __init__(self, needed_bytes: int) -> None:
        super().__init__(f"{needed_bytes} bytes needed")
        self.needed_bytes = needed_bytes


class Arena:
    """One inherited memory file, mapped on demand.

    Args:
        descriptor: File descriptor number as inherited.
        writable: Whether this child may write.
        device: Pins the mapping; None: it is left as it is.

    Attributes:
        note: Why the mapping is not pinned; empty when it is or need not be.
    """

    def __init__(self, descriptor: int, *, writable: bool, device: Any = None) -> None:
        self.descriptor = descriptor
        self.writable = writable
        self.note = ""
        self._device = device
        self._is_settled = False
        self._bytes: torch.Tensor | None = None
        self._map: mmap.mmap | None = None

    def _mapped(self) -> torch.Tensor:
        """Return the whole file as bytes, mapped again when the host has made it larger."""
        size = os.fstat(self.descriptor).st_size
        if self._bytes is None or self._bytes.numel() != size:
            self._forget()
            access = mmap.ACCESS_WRITE if self.writable else mmap.ACCESS_READ
            self._map = mmap.mmap(self.descriptor, size, access=access)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a read-only buffer is what we want
                self._bytes = torch.frombuffer(self._map, dtype=torch.uint8)
            self._is_settled = False
        if not self._is_settled:
            self._pin()
        return self._bytes

    def _forget(self) -> None:
        if self._device is not None and self._bytes is not None:
            self._device.unpin(self._bytes.data_ptr())
        self._bytes = None
        self._map = None  # unmapped when its last tensor is gone

    def _pin(self) -> None:
        """Have the mapping pinned where the device can; say so where it cannot.

        A device that is not open yet is asked again at the next use.
        """
        if self._device is None or self._bytes is None:
            self._is_settled = True
            return
        address, size = self._bytes.data_ptr(), self._bytes.numel()
        note = self._device.pin(address, size, writable=self.writable)
        self._is_settled = note is not None
        self.note = note or ""

    def map_ahead(self) -> None:
        """Map and pin what is there now, which takes long enough to be done ahead of need."""
        self._mapped()

    def take(self, record: dict[str, Any]) -> torch.Tensor:
        """Return the tensor a record describes, still in shared memory."""
        dtype = getattr(torch, record["dtype"])
        shape, strides = tuple(record["shape"]), tuple(record["strides"])
        size = span(shape, strides) * dtype.itemsize
        offset = int(record["offset"])
        if size == 0:
            return torch.empty(shape, dtype=dtype)
        flat = self._mapped()[offset : offset + size].view(dtype)
        return flat.as_strided(shape, strides)

    def copy_out(self, record: dict[str, Any], device: str) -> torch.Tensor:
        """Return a copy on the device with the same strides and storage of its own."""
        return own_copy(self.take(record), device)

    def put(
        self, tensor: torch.Tensor, offset: int, *, keep_strides: bool
    ) -> tuple[dict[str, Any], int]:
        """Write a tensor and return its record and the next free offset.

        Args:
            tensor: On any device.
            offset: First byte that may be used.
            keep_strides: Copy memory as it lies; otherwise values only, in row-major order.

        Raises:
            ArenaFull: The file is too small.
        """
        tensor = tensor.detach()
        flat = memory_of(tensor) if keep_strides else tensor.contiguous().reshape(-1)
        start = -(-offset // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        end = start + flat.numel() * flat.element_size()
        room = self._mapped()
        if end > room.numel():
            raise ArenaFull(end)
        if flat.numel():
            room[start:end].view(flat.dtype).copy_(flat)
        contiguous = tensor.contiguous() if not keep_strides else tensor
        record = {
            "offset": start,
            "shape": list(tensor.shape),
            "strides": list(contiguous.stride()),
            "dtype": str(tensor.dtype).removeprefix("torch."),
        }
        return record, end


def span(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Return how many elements lie between first and last, both included."""
    if any(size == 0 for size in shape):
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def memory_of(tensor: torch.Tensor) -> torch.Tensor:
    """View the memory a tensor spans as one row, gaps and overlaps as they are."""
    elements = span(tuple(tensor.shape), tensor.stride())
    if elements == 0:
        return tensor.reshape(-1)
    return tensor.as_strided((elements,), (1,))


def own_copy(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """Copy a tensor to a device with its strides, into storage that nothing else shares."""
    row = memory_of(tensor)
    fresh = torch.empty(row.shape, dtype=row.dtype, device=device)
    fresh.copy_(row)
    if row.numel() == 0:
        return fresh.reshape(tensor.shape)
    return fresh.as_strided(tuple(tensor.shape), tensor.stride())
