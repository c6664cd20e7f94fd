"""Forbidden constructs are refused; their honest look-alikes are not."""

import pytest

from xeforge.domain.verdict import Reason

BODY = "        y = torch.empty_like(x)\n"


def adding(ask, code, *, top=""):
    body = "".join(f"        {each}\n" for each in code.splitlines())
    found = ask((BODY, body + BODY), ("import math\n", f"import math\n{top}"))
    assert not any(each.check == "syntax" for each in found)
    return [each for each in found if each.check == "policy"]


@pytest.mark.parametrize(
    "top",
    [
        "import subprocess",
        "import socket as s",
        "import ctypes",
        "import importlib",
        "import threading",
        "import inspect",
        "import gc",
        "import sys",
        "import time",
        "import numpy",
        "from os import environ",
        "from subprocess import run",
        "from . import sibling",
        "from .oracle import answer",
        "import torch.utils.cpp_extension",
        "from torch.utils import cpp_extension",
        "from torch import distributed",
        "import torch.multiprocessing as mp",
        "import triton.testing",
    ],
)
def test_imports_beyond_the_list_are_refused(ask, top):
    found = adding(ask, "pass", top=top + "\n")
    assert found
    assert {each.reason for each in found} == {Reason.POLICY_VIOLATION}
    assert found[0].line == 3


@pytest.mark.parametrize(
    "top",
    [
        "from __future__ import annotations",
        "from typing import Any",
        "import functools, itertools",
        "from dataclasses import dataclass",
        "from torch import nn as layers",
        "import triton.language.extra",
        "import os",
        "from triton.language.extra import libdevice",
    ],
)
def test_usual_imports_and_those_of_the_submission_pass(ask, top):
    assert adding(ask, "pass", top=top + "\n") == []


@pytest.mark.parametrize(
    "code",
    [
        "exec('y = 1')",
        "eval('1 + 1')",
        "compile('1', 'f', 'eval')",
        "__import__('os')",
        "open('/etc/passwd')",
        "globals()['x'] = 1",
        "run = eval",
        "eval = eval",
        "os.environ['A']",
        "os.system('ls')",
        "torch.cuda.Stream()",
        "torch.cuda.CUDAGraph()",
        "torch.cuda.graph(None)",
        "torch.load('w')",
        "torch.manual_seed(0)",
        "x.__globals__",
        "getattr(x, '__code__')",
        "getattr(x, 'da' + 'ta')",
        "setattr(x, name, 1)",
        "__builtins__['open']",
        "().__class__.__base__.__subclasses__()",
    ],
)
def test_constructs_that_reach_around_are_refused(ask, code):
    found = adding(ask, code)
    assert found
    assert {each.reason for each in found} == {Reason.POLICY_VIOLATION}
    assert found[0].line is not None


@pytest.mark.parametrize(
    "code",
    [
        "self.eval()",
        "x.open = 1",
        "# exec(eval(open('subprocess')))",
        "'os.environ and __globals__ and exec()'",
        "executed = evaluate = opened = compiled = 1",
        "self.compile(1)",
        "input = x",
        "vars = [x]",
        "fn = torch.no_grad",
        "getattr(x, 'stride')(0)",
        "setattr(self, 'width', 3)",
        "getattr(x)",
        "math.sqrt(2.0)",
        "seen = set()\nseen.add(1)",
        "self.__class__.__name__",
        "table = {}\ntable['torch'] = 1",
        "torch.cuda.current_device()",
        "a, b = 1, 2",
        "class Inner:\n    pass",
        "try:\n    pass\nexcept ValueError:\n    pass",
    ],
)
def test_honest_look_alikes_pass(ask, code):
    assert adding(ask, code) == []


def test_what_the_submission_does_itself_may_stay(ask, kernel):
    own = kernel.replace(BODY, "        self.stream = torch.cuda.Stream()\n" + BODY)
    assert ask(source=own, kernel=own) == []
    assert len(ask(source=own)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "next(steps).gi_frame.f_back",
        "error.__traceback__",
        "error.tb_frame",
        "typing.get_type_hints(note)",
        "triton.runtime.build.compile_module_from_src('', 'native')",
        "helper = torch.utils\nhelper.cpp_extension.load_inline('')",
        "triton.knobs.runtime.interpret",
        "torch.overrides._get_current_function_mode()",
        "getattr(steps, 'gi_frame')",
        "class Later(torch.Tensor):\n    pass",
        "class Later:\n    def __reduce__(self):\n        return 1",
        "class Later:\n    def __torch_function__(self):\n        return 1",
    ],
)
def test_ways_to_the_caller_and_to_native_code_are_refused(ask, code):
    found = adding(ask, code, top="import typing\n")
    assert found
    assert {each.reason for each in found} == {Reason.POLICY_VIOLATION}


@pytest.mark.parametrize(
    "code",
    [
        "n = triton.runtime.driver.active.utils.get_device_properties(0)['max_shared_mem']",
        "self.f_size = 1\nself.frame = self.f_size",
        "class Inner:\n    def __eq__(self, other):\n        return True",
        "class Inner(nn.Module):\n    pass",
        "kind = typing.Optional[torch.Tensor]",
        "jit = triton.jit",
    ],
)
def test_honest_neighbours_of_those_pass(ask, code):
    assert adding(ask, code, top="import typing\n") == []


@pytest.mark.parametrize(
    "code",
    ["torch.os._exit(0)", "m = torch.sys.modules", "math.sys.modules", "torch._utils.sys.exit()"],
)
def test_a_module_reached_through_another_is_refused(ask, code):
    (found,) = adding(ask, code)
    assert not found.passed
    assert found.reason == Reason.POLICY_VIOLATION
    assert "reaches another module through" in found.message
