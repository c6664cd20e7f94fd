"""Hard-coded devices are sent to the chosen one and named; what we told a file is not."""

import pytest

MAKERS = """
import torch

def from_input(x):
    return torch.empty(3, device=x.device)

def by_name(x):
    return torch.empty(3, device="cuda")

def moved(x):
    return x.to("xpu")
"""
LINES = """
import redirect
makers = file("makers")
mode = redirect.Redirect("cpu", pretend=True)
with mode:
    made = getattr(makers, payload["which"])(torch.ones(3))
answer = {"device": made.device.type, "replaced": sorted(mode.replaced)}
"""


@pytest.mark.parametrize(
    ("which", "replaced"), [("from_input", []), ("by_name", ["cuda"]), ("moved", ["xpu"])]
)
def test_only_devices_named_by_the_file_are_reported(interpreter, which, replaced):
    answer = interpreter(LINES, kernels={"makers": MAKERS}, which=which)
    assert answer == {"device": "cpu", "replaced": replaced}
