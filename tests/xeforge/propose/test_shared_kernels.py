"""Kernels of several sizes become one function; what differs must be numbers and no more."""

import ast

import pytest

from xeforge.propose.shared_kernels import form_of
from xeforge.propose.shared_kernels import share

KERNEL = """@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < {count}
    x = tl.load(x_ptr + at % {width}, mask=inside)
    tl.store(y_ptr + at, x * {factor} + {width}, mask=inside)"""


def kernel(count, width, factor="0.5"):
    return KERNEL.format(count=count, width=width, factor=factor)


def test_numbers_that_differ_become_parameters_and_equal_ones_one_parameter():
    shared = share([kernel(4096, 64), kernel(48, 16)])
    assert "FIXED_1: tl.constexpr, FIXED_2: tl.constexpr)" in shared.text
    assert "at < FIXED_1" in shared.text
    assert shared.text.count("FIXED_2") == 3, "both uses of the width, and the parameter"
    assert "x * 0.5" in shared.text, "what is the same everywhere stays a number"
    assert shared.values == (
        {"FIXED_1": "4096", "FIXED_2": "64"},
        {"FIXED_1": "48", "FIXED_2": "16"},
    )


def test_putting_the_values_back_gives_the_kernels_again():
    texts = [kernel(4096, 64, "1.5"), kernel(48, 16, "0.25"), kernel(48, 64, "1.5")]
    shared = share(texts)
    for text, values in zip(texts, shared.values, strict=True):
        tree = ast.parse(shared.text)
        (function,) = tree.body
        function.args.args = [each for each in function.args.args if each.arg not in values]
        for node in ast.walk(tree):
            for name, old in ast.iter_fields(node):
                if isinstance(old, ast.Name) and old.id in values:
                    setattr(node, name, ast.parse(values[old.id], mode="eval").body)
            if isinstance(node, ast.Compare):
                node.comparators = [
                    ast.parse(values.get(ast.unparse(each), ast.unparse(each)), mode="eval").body
                    for each in node.comparators
                ]
        assert ast.unparse(tree) == ast.unparse(ast.parse(text))


def test_one_kernel_alone_stays_as_it_is():
    shared = share([kernel(48, 16)])
    assert shared.text == kernel(48, 16)
    assert shared.values == ({},)


def test_a_parameter_on_a_line_of_its_own_is_followed_by_lines():
    texts = [
        f"def kernel(\n    x_ptr,\n    BLOCK: tl.constexpr,\n):\n    use({size})" for size in (1, 2)
    ]
    assert "    BLOCK: tl.constexpr,\n    FIXED_1: tl.constexpr,\n):" in share(texts).text


def test_names_that_are_taken_are_left_alone():
    texts = [f"def kernel(FIXED_1):\n    return FIXED_1 + {size}" for size in (1, 2)]
    assert "FIXED_1 + FIXED_VALUE_1" in share(texts).text


@pytest.mark.parametrize(
    "other",
    [
        KERNEL.replace(", mask=inside", "").format(count=48, width=16, factor="0.5"),
        kernel(48, 16, "2"),
        kernel(48, 16).replace("* 0.5", "- 0.5"),
    ],
    ids=["without masks", "a whole number for a float", "another operator"],
)
def test_kernels_that_differ_in_more_than_numbers_are_not_one(other):
    assert form_of(other) != form_of(kernel(48, 16))
    with pytest.raises(ValueError, match="different forms"):
        share([kernel(48, 16), other])
