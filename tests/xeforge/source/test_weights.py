import ast

import pytest

from xeforge.source.imports import read_imports
from xeforge.source.weights import is_weight
from xeforge.source.weights import weight_attributes

SOURCE = """
import torch
from torch import nn

def __init__(self, size):
    self.weight = nn.Parameter(torch.randn(size))
    self.linear = nn.Linear(size, size)
    self.register_buffer("scale", torch.ones(size))
    self.size = int(size)
    self.table = make(size)
"""


@pytest.fixture(scope="module")
def weights():
    tree = ast.parse(SOURCE)
    return weight_attributes(tree.body[-1], read_imports(tree))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self.weight", True),
        ("self.linear.bias", True),
        ("self.scale", True),
        ("held", True),
        ("self.size", False),
        ("self.table", False),
        ("other.weight", False),
        ("self.linear", False),
        ("self.weight.t()", False),
        ("x", False),
    ],
)
def test_weights_and_names_that_hold_them(weights, text, expected):
    assert is_weight(ast.parse(text, mode="eval").body, {"held"}, weights) is expected
