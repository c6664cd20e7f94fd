import ast

import pytest

from xeforge.source.imports import read_imports


def dotted(imports, expression):
    table = read_imports(ast.parse(imports))
    return table.dotted(ast.parse(expression, mode="eval").body)


@pytest.mark.parametrize(
    ("imports", "expression", "expected"),
    [
        ("import triton.language as tl", "tl.dot", "triton.language.dot"),
        ("import triton.language", "triton.language.dot", "triton.language.dot"),
        ("from triton import language as L", "L.dot", "triton.language.dot"),
        ("from triton.language import dot", "dot", "triton.language.dot"),
        ("from torch import nn", "nn.Module", "torch.nn.Module"),
        ("from triton import *", "jit", "triton.jit"),
        ("try:\n    import triton as t\nexcept ImportError:\n    t = None", "t.jit", "triton.jit"),
        ("", "tl.dot", "triton.language.dot"),
        ("import numpy as tl", "tl.dot", "numpy.dot"),
        ("from . import kernels", "kernels.k", "kernels.k"),
        ("", "f().dot", None),
    ],
)
def test_dotted_names_follow_the_imports(imports, expression, expected):
    assert dotted(imports, expression) == expected


def test_members_of_triton_and_torch():
    table = read_imports(ast.parse("from triton import jit\nfrom torch import nn"))
    assert table.is_triton(ast.Name("jit"), "jit", "dot")
    assert not table.is_triton(ast.Name("triton"), "triton")
    assert table.is_torch(ast.parse("nn.Parameter", mode="eval").body, "nn.Parameter")
    assert not table.is_torch(ast.parse("Parameter", mode="eval").body, "nn.Parameter")
