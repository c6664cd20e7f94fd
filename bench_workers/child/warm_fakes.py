"""Imported ahead of need: the first operator on a fake tensor loads two large packages.

On a tensor that claims to be on the host, so that no device is asked whether it is there.
"""

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

import lazy_dynamo
import torch

lazy_dynamo.install()

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

_ASK_THE_DRIVER: tuple[tuple[Any, str, Any], ...] = (
    (torch.cuda, "is_available", False),
    (torch._C, "_ensureCUDADeviceGuardSet", None),  # noqa: SLF001
)
"""What fake tensors call at once, and the answer until somebody needs a device."""


@contextlib.contextmanager
def no_driver() -> Iterator[None]:
    """Let nothing wake the driver: its thread would keep a zygote from forking.

    Children ask again, each for itself.
    """
    before = [getattr(owner, name) for owner, name, _ in _ASK_THE_DRIVER]
    for owner, name, answer in _ASK_THE_DRIVER:
        setattr(owner, name, lambda answer=answer: answer)
    try:
        yield
    finally:
        for (owner, name, _), original in zip(_ASK_THE_DRIVER, before, strict=True):
            setattr(owner, name, original)


if torch.distributed.is_available():
    importlib.import_module("torch.distributed.tensor")  # torch asks it about every fake tensor
with no_driver(), FakeTensorMode(allow_non_fake_inputs=True):
    torch.empty(1).add(1)
