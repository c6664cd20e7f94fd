"""What is reached under no name of its own is refused; its honest look-alikes are not."""

import pytest

from xeforge.verify.gates import reach

BODY = "        y = torch.empty_like(x)\n"


def adding(ask, code, *, top="", name=reach.NAME):
    body = "".join(f"        {each}\n" for each in code.splitlines())
    found = ask((BODY, body + BODY), ("import math\n", f"import math\n{top}"))
    assert not any(each.check == "syntax" for each in found)
    return [each for each in found if each.check == name]


@pytest.mark.parametrize(
    "code",
    [
        "z = [torch][0].load('w')",
        "z = (torch if x else None).load('w')",
        "for t in (torch,):\n    z = t.load('w')",
        "z = (lambda t: t.load('w'))(torch)",
        "self.library = torch",
        "t = torch\nt = torch",
        "class Kept:\n    t = torch",
        "z = (t := torch)",
        "match torch:\n    case t:\n        pass",
        "z = [torch.special][0].expm1(x)",
    ],
)
def test_a_module_is_no_value(ask, code):
    (found, *_) = adding(ask, code)
    assert "hands the module torch" in found.message
    assert found.line is not None


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("g = getattr", "looks names up through getattr"),
        ("z = map(getattr, [x], ['T'])", "looks names up through getattr"),
        ("z = getattr(*(x, 'T'))", "looks names up through getattr"),
        ("z = locals()", "looks names up through locals"),
        ("z = vars()", "looks names up through vars"),
        ("z = __loader__.get_data('f')", "uses __loader__"),
        ("z = __spec__", "uses __spec__"),
        ("z = type('T', (), {})", "makes a class from parts"),
        ("class T(type(x)):\n    pass", "makes the class T of type(x)"),
        ("z = add_kernel.fn(x)", "uses .fn"),
        ("add_kernel._unsafe_update_src('')", "uses ._unsafe_update_src"),
        ("z = F.torch.load('w')", "reaches a module through .torch"),
        ("z = self.make().os", "reaches a module through .os"),
        ("z = math.nope._hidden", "reaches behind math through math.nope._hidden"),
        ("z = torch.cuda._compile_kernel('')", "through torch.cuda._compile_kernel"),
        ("z = torch.glob.glob('*')", "reaches behind torch through torch.glob"),
        ("match x:\n    case object(__globals__=g):\n        pass", ""),
        ("z = torch.cuda.streams.Stream()", "uses .Stream"),
        ("try:\n    torch.nope\nexcept AttributeError as e:\n    z = e.obj", "uses .obj"),
        ("z = (i for i in x).gi_code.co_names", "uses .co_names"),
        ("triton = self", "gives the name triton to something else"),
        ("def jit(f):\n    return f\n@jit\ndef k(x):\n    return x", ""),
        ("@triton.jit\n@self.keep\ndef k(x):\n    return x", "hands the kernel k to self.keep"),
    ],
)
def test_ways_without_a_name_are_refused(ask, code, words):
    name = reach.NAME if words else "policy"
    top = "from triton import jit\n" if "@jit" in code else ""
    if top:
        name, words = reach.NAME, "gives the name jit to something else"
    found = adding(ask, code, top=top, name=name)
    assert found
    assert any(words in each.message for each in found)


@pytest.mark.parametrize(
    "top",
    [
        "from torch import *\n",
        "from triton.runtime.jit import *\n",
        "from dataclasses import types\n",
        "from dataclasses import FunctionType\n",
        "from typing import operator\n",
        "import triton._C.libtriton as c\n",
        "import torch._refs\n",
        "from typing import _eval_type\n",
    ],
)
def test_imports_of_hidden_parts_are_refused(ask, top):
    assert adding(ask, "pass", top=top)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import torch as m\nimport math as m", "imports both torch and math as m"),
        ("from torch import softmax as m\nfrom math import exp as m", "torch.softmax and math.exp"),
        ("import math as torch", "imports both torch and math as torch"),
    ],
)
def test_an_imported_name_has_one_meaning(ask, code, words):
    found = adding(ask, code)
    assert any(words in each.message for each in found)


@pytest.mark.parametrize(
    "top",
    [
        "def f(x: \"__import__('os').system('ls')\"):\n    pass\n",
        "def f(x) -> \"list[eval('1')]\":\n    pass\n",
        "a: \"__import__('os')\" = 1\n",
        "async def f(x: \"__import__('os')\"):\n    pass\n",
    ],
)
def test_code_in_quoted_annotations_is_read(ask, top):
    assert adding(ask, "pass", top=top, name="policy")


@pytest.mark.parametrize(
    ("code", "top"),
    [
        ("back = torch.xpu if x.is_xpu else torch.cuda\nback.synchronize()", ""),
        ("f = torch.empty\nlanguage = tl.float32", ""),
        ("ok = hasattr(torch, 'xpu') and isinstance(x, torch.Tensor)", ""),
        ("size = getattr(x, 'shape')[0]\nself.fn = None\nself.fn", ""),
        ("names = vars(self)", ""),
        ("kernel = add_kernel\nkernel.warmup", ""),
        ("def f(x: 'torch.Tensor', note: 'a text') -> 'torch.Tensor | None':\n    return x", ""),
        ("match x.dim():\n    case 1 | 2:\n        pass\n    case _:\n        pass", ""),
        ("kind = type(x)\nt = torch.float32\nt = torch.float16", ""),
        ("v = __name__, __file__, torch.__version__", "__all__ = ['Model']\n"),
        ("pass", "from triton.language.extra import libdevice\n"),
        ("pass", "from triton.tools.tensor_descriptor import TensorDescriptor\n"),
        ("pass", "try:\n    import triton\nexcept ImportError:\n    triton = None\n"),
        ("pass", "from torch.types import Device\n"),
        ("pass", "from triton.language.math import exp2\nfrom triton.language import exp2\n"),
        ("import torch.xpu\nimport torch.nn as nn", ""),
        ("pass", "jit = triton.jit\n"),
    ],
)
def test_honest_neighbours_pass(ask, code, top):
    assert adding(ask, code, top=top) == []


def test_what_the_submission_does_itself_may_stay(ask, kernel):
    own = kernel.replace(BODY, "        z = [torch][0]\n" + BODY)
    assert ask(source=own, kernel=own) == []
    assert len(ask(source=own)) == 1
