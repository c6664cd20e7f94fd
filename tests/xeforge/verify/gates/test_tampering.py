"""Changes to libraries and to foreign classes are refused, however they are written."""

import pytest

from xeforge.domain.verdict import Reason

BODY = "        y = torch.empty_like(x)\n"


def adding(ask, code):
    body = "".join(f"        {each}\n" for each in code.splitlines())
    found = ask((BODY, body + BODY))
    assert not any(each.check == "syntax" for each in found)
    return [each for each in found if each.check == "tampering"]


@pytest.mark.parametrize(
    "code",
    [
        "torch.allclose = lambda *a: True",
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "triton.runtime.driver.active = None",
        "math.pi += 1",
        "del torch.mm",
        "tl.arange: int = 3",
        "torch.__dict__['mm'] = 1",
        "torch.mm, width = 1, 2",
        "for torch.mm in (1, 2):\n    pass",
        "setattr(torch, 'mm', 1)",
        "delattr(torch, 'mm')",
        "vars(torch)['mm'] = 1",
        "vars(torch).update(mm=1)",
        "getattr(torch, 'cuda').synchronize = None",
        "library = torch\nlibrary.mm = 1",
        "library = torch\nother = library.cuda\nother.synchronize = 1",
        "library = torch\nlibrary = torch\nlibrary.mm = 1",
        "type(x).sum = 1",
        "x.__class__.sum = 1",
        "setattr(type(x), 'sum', 1)",
        "add_kernel.src = 'def add_kernel(): pass'",
        "setattr(add_kernel, 'run', print)",
    ],
)
def test_changes_are_refused(ask, code):
    found = adding(ask, code)
    assert {each.reason for each in found} == {Reason.HARNESS_TAMPERING}
    assert found[0].line is not None


@pytest.mark.parametrize(
    "code",
    [
        "x.open = 1",
        "table = {}\ntable['torch'] = 1",
        "setattr(self, 'width', 3)",
        "self.cache = {}\nself.cache['a'] = 1",
        "self.__class__.calls = 1",
        "type(self).calls = 1",
        "Model.calls = 1",
        "names = vars(self)",
        "kind = type(x)",
        "dtype = torch.float16",
        "y = x[0]\ny[0] = 1",
        "a, b = 1, 2",
    ],
)
def test_honest_neighbours_pass(ask, code):
    assert adding(ask, code) == []


def test_what_the_submission_changes_may_stay(ask, kernel):
    own = kernel.replace(BODY, "        torch.backends.flag = 1\n" + BODY)
    assert ask(source=own, kernel=own) == []
    (found,) = ask(source=own)
    assert found.message == "changes torch.backends.flag"
