import ast

import pytest

from xeforge.source.contents import read_contents
from xeforge.source.host_code import host_functions
from xeforge.source.host_code import integer
from xeforge.source.host_code import local_values

SOURCE = """
import torch, triton

@triton.jit
def k(p): pass

def launch(x):
    prepare(x)
    k[(1,)](x)

def prepare(x): pass

def unused(x): pass

class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): launch(x)
    @staticmethod
    def backward(ctx, g): unused(g)

class Block(torch.nn.Module):
    def forward(self, x): return self.inner(x)
    def inner(self, x): pass

class Base(torch.nn.Module):
    def finish(self, x): pass
    def forward(self, x):
        def local(y): return y
        return self.finish(self.block(Multiply.apply(local(x))))

class Model(Base):
    def __init__(self):
        self.block = Block()
    def finish(self, x): return x

def get_inputs(): return []
"""


def test_functions_that_forward_may_run():
    contents = read_contents(SOURCE, "k.py")
    names = [each.name for each in host_functions(ast.parse(SOURCE), contents)]
    assert names[0] == "Base.forward"
    assert set(names) == {
        "Base.forward",
        "Base.forward.local",
        "Block.forward",
        "Block.inner",
        "Multiply.forward",
        "launch",
        "prepare",
        "Model.finish",
    }


def test_file_without_a_model_runs_nothing():
    source = "import triton\n@triton.jit\ndef k(p): pass\ndef run(x): pass\n"
    assert host_functions(ast.parse(source), read_contents(source, "k.py")) == ()


FUNCTION = """
def run(x, GIVEN, SIZE=3):
    block = 64
    M, N = 128, TOP
    again = 1
    again = 2
    for i in range(3):
        pass
    alias = block
    loop = loop2
    loop2 = loop
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("block", 64),
        ("M", 128),
        ("N", 512),
        ("alias", 64),
        ("TOP", 512),
        ("again", None),
        ("i", None),
        ("GIVEN", None),
        ("SIZE", None),
        ("loop", None),
        ("unknown", None),
    ],
)
def test_integers_that_names_certainly_have(name, expected):
    function = ast.parse(FUNCTION).body[0]
    constants = {"TOP": 512, "GIVEN": 7, "SIZE": 8, "again": 9}
    assert integer(ast.Name(name), local_values(function, constants)) == expected


def test_truth_values_and_floats_are_no_integers():
    assert integer(ast.Constant(value=True), {}) is None
    assert integer(ast.Constant(value=2.0), {}) is None
    assert integer(ast.Name("A"), {"A": True}) is None
