"""Surrounds memory with bands of a known pattern, so that writes beside it show afterwards."""

from dataclasses import dataclass
from dataclasses import field
from typing import Any

import torch

BAND_BYTES = 4096
_PATTERN = 0xFF
"""NaN in every floating-point format and -1 in integers: reads beside the memory show as well."""


@dataclass(frozen=True, slots=True)
class Band:
    """One guarded allocation: raw bytes, how many of them are the tensor's, and its name."""

    raw: torch.Tensor
    size: int
    name: str


@dataclass(slots=True)
class Guards:
    """All guarded memory of one call."""

    bands: list[Band] = field(default_factory=list)

    def surround(self, tensor: torch.Tensor, name: str) -> torch.Tensor:
        """Return a copy of a tensor, same strides, with bands before and after it."""
        storage = tensor.untyped_storage()
        size = storage.nbytes()
        raw = torch.full(
            (size + 2 * BAND_BYTES,), _PATTERN, dtype=torch.uint8, device=tensor.device
        )
        inner = raw[BAND_BYTES : BAND_BYTES + size]
        whole = torch.empty(0, dtype=torch.uint8, device=tensor.device)
        whole.set_(storage, 0, (size,), (1,))
        inner.copy_(whole)
        self.bands.append(Band(raw, size, name))
        offset = tensor.storage_offset()
        return inner.view(tensor.dtype).as_strided(
            tuple(tensor.shape), tensor.stride(), offset + BAND_BYTES // tensor.element_size()
        )

    def faults(self) -> list[dict[str, Any]]:
        """Return one fault for each band that was written to."""
        return [fault for band in self.bands for fault in _broken(band)]


def _broken(band: Band) -> list[dict[str, Any]]:
    before = (band.raw[:BAND_BYTES] != _PATTERN).nonzero()
    after = (band.raw[BAND_BYTES + band.size :] != _PATTERN).nonzero()
    offsets = []
    if before.numel():
        offsets.append(int(before[-1]) - BAND_BYTES)
    if after.numel():
        offsets.append(band.size + int(after[0]))
    return [
        {
            "access": "write",
            "kernel": "",
            "line": None,
            "argument": band.name,
            "program": [],
            "offset_bytes": offset,
        }
        for offset in offsets
    ]
