import ast

from xeforge.source.constructor import constructor_node
from xeforge.source.constructor import stored_arguments
from xeforge.source.constructor import unused_arguments
from xeforge.source.contents import read_contents

SOURCE = """
import torch

class Model(torch.nn.Module):
    def __init__(self, a, b, c, d, *rest):
        self.one = a
        self.two = float(b)
        self.three = tuple(c)
        self.three: object = c

    def forward(self, x):
        return x * self.two
"""


def test_arguments_kept_in_attributes_and_those_without_influence():
    tree = ast.parse(SOURCE)
    contents = read_contents(SOURCE, "r.py", require_kernel=False)
    constructor = constructor_node(tree, contents)
    assert constructor.lineno == 5
    assert stored_arguments(constructor) == {"a": "one", "b": "two", "c": "three"}
    assert unused_arguments(tree, contents) == ("a", "d")


def test_file_without_a_constructor():
    source = "import torch\nclass Model(torch.nn.Module): pass\n"
    contents = read_contents(source, "r.py", require_kernel=False)
    assert constructor_node(ast.parse(source), contents) is None
    assert unused_arguments(ast.parse(source), contents) == ()
