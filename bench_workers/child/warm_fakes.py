"""Imported ahead of need: the first operator on a fake tensor loads two large packages.

On a tensor that claims to be on the host, so that no device is asked whether it is there.
"""

import importlib

import lazy_dynamo
import torch

lazy_dynamo.install()

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

if torch.distributed.is_available():
    importlib.import_module("torch.distributed.tensor")  # torch asks it about every fake tensor
# Torch asks whether there is a card; the driver's answer starts a thread, and what has threads
# cannot fork. Children ask again, each for itself.
_asks = torch.cuda.is_available
torch.cuda.is_available = lambda: False
try:
    with FakeTensorMode(allow_non_fake_inputs=True):
        torch.empty(1).add(1)
finally:
    torch.cuda.is_available = _asks
