"""Importing ahead of need wakes no driver: what has threads cannot fork."""

import pytest

from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy

_RECORDED = """
import torch
asked = []
originals = (torch.cuda.is_available, torch._C._ensureCUDADeviceGuardSet)
torch.cuda.is_available = watched_available = lambda: bool(asked.append("is_available"))
torch._C._ensureCUDADeviceGuardSet = watched_guard = lambda: asked.append("guard")
import warm_fakes
answer["restored"] = (
    torch.cuda.is_available is watched_available
    and torch._C._ensureCUDADeviceGuardSet is watched_guard
)
answer["asked"] = list(asked)
torch.cuda.is_available, torch._C._ensureCUDADeviceGuardSet = originals
"""
_FIRST_OPERATOR = """
from fakes import FakeTensorMode
torch.cuda.is_available = lambda: bool(asked.append("is_available"))
with FakeTensorMode(allow_non_fake_inputs=True):
    torch.empty(1).add(1)
answer["asked"] = list(asked)
torch.cuda.is_available = originals[0]
"""


@pytest.fixture
def fresh_child():
    """Run lines in a child that has not imported the module under test yet."""
    policy = default_policy("cpu", layer=best_layer())
    with launch("echo", policy, options={"preload": ["torch"]}) as child:

        def run(lines):
            return child.request("run", {"source": lines}, deadline_seconds=120)

        yield run


def test_nothing_asks_the_driver_while_it_is_imported(fresh_child):
    found = fresh_child(_RECORDED)

    assert found == {"restored": True, "asked": []}


def test_an_operator_on_a_fake_tensor_does_ask(fresh_child):
    """So the test above would see it."""
    found = fresh_child(_RECORDED + _FIRST_OPERATOR)

    assert "is_available" in found["asked"]
