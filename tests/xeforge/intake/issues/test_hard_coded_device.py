import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import hard_coded_device

FRAME = """
DEVICE = "xpu"
CHOSEN = "cuda" if torch.cuda.is_available() else "cpu"

@triton.jit
def k(p): pass

def helper(x, device="cuda"):
    %s
    return x

class Model(nn.Module):
    def forward(self, x):
        return helper(x, device=x.device)
"""


@pytest.mark.parametrize(
    "statement",
    [
        'x = x.to("xpu")',
        'y = torch.empty(3, device="cuda:0")',
        "y = torch.empty(3, device=DEVICE)",
        'where = torch.device("xpu"); x = x.to(where)',
        "x = x.cuda()",
        "x = x.xpu()",
        'assert x.device.type == "xpu"',
    ],
)
def test_places_that_insist_on_a_device(detect, blamed, statement):
    source = FRAME % statement
    (issue,) = detect(hard_coded_device, source)
    assert issue.severity is Severity.WARNING
    assert statement.startswith(blamed(source, issue)[:8])
    assert "run on the chosen device" in issue.message


@pytest.mark.parametrize(
    "statement",
    [
        "y = torch.empty(3, device=x.device)",
        "y = torch.empty(3, device=device)",
        "y = torch.empty(3, device=CHOSEN)",
        'y = torch.empty(3, device="cpu")',
        'fast = x.device.type == "cuda"',
        '"""Never use device="xpu" or x.to("xpu")."""',
        "torch.cuda.synchronize()",
        "x = x.to(torch.float16)",
    ],
)
def test_look_alikes(detect, statement):
    assert detect(hard_coded_device, FRAME % statement) == ()


def test_code_that_forward_does_not_reach_is_left_alone(detect):
    source = FRAME % "pass" + "\ndef get_inputs():\n    return [torch.rand(3, device='cuda')]\n"
    assert detect(hard_coded_device, source) == ()


def test_several_places_are_one_issue(detect):
    source = FRAME % 'x = x.to("xpu")\n    y = torch.empty(3, device="xpu")'
    (issue,) = detect(hard_coded_device, source)
    assert "(again on line 14)" in issue.message
