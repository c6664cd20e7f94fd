import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import device_host_sync

FRAME = """
@triton.jit
def k(p):
    p.item()

class Model(nn.Module):
    def __init__(self, gain):
        self.gain = torch.tensor(gain).item()

    def forward(self, x, flag=1):
        y = torch.empty_like(x)
        %s
        return self.finish(y)

    def finish(self, y):
        return y

    def debug(self, y):
        return y.cpu()
"""


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("n = x[0].item()", "fetches a number"),
        ("n = x.tolist()", "fetches a tensor"),
        ("y = y.cpu()", "copies a tensor"),
        ("y = y.to('cpu')", "copies a tensor"),
        ("y = y.detach().numpy()", "copies a tensor"),
        ("torch.xpu.synchronize()", "waits"),
        ("torch.cuda.current_stream().synchronize()", "waits"),
        ("n = float(x.max())", "fetches a number"),
        ("n = int(x[0])", "fetches a number"),
        ("n = float(torch.max(x))", "fetches a number"),
        ("print(x)", "fetches a tensor"),
        ("assert torch.isfinite(x).all()", "decided on the host"),
        ("if (x < 0).any(): y = x", "decided on the host"),
    ],
)
def test_waiting_places(detect, blamed, statement, why):
    source = FRAME % statement
    (issue,) = detect(device_host_sync, source)
    assert why in issue.message
    assert issue.severity is Severity.SPEED
    assert blamed(source, issue) == statement


@pytest.mark.parametrize(
    "statement",
    [
        "n = x.numel()",
        "items = {}.items()",
        "n = int(x.shape[0])",
        "n = float(self.gain)",
        "n = int(x.stride(0))",
        "print('size', x.shape)",
        "ok = all(each > 0 for each in x.shape)",
        "assert x.is_contiguous()",
        "y = x.to(torch.float32)",
        "y = x.sum()",
        '"""Never call x.item() or x.cpu() here."""',
    ],
)
def test_look_alikes(detect, statement):
    assert detect(device_host_sync, FRAME % statement) == ()


def test_methods_called_from_forward_count(detect):
    source = FRAME.replace(
        "        return y\n\n    def debug", "        return y.cpu()\n\n    def debug"
    )
    (issue,) = detect(device_host_sync, source % "pass")
    assert "y.cpu()" in issue.message
