"""Emitted files are cut up, renamed and added to as text."""

import ast
from textwrap import indent

import pytest

from knowledge.load import find_device
from tests.xeforge.propose.fused_graphs import graph
from tests.xeforge.propose.fused_graphs import workload
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.propose.emitted_file import Given
from xeforge.propose.emitted_file import cut_up
from xeforge.propose.emitted_file import edited
from xeforge.propose.emitted_file import numbers_in
from xeforge.propose.emitted_file import renamed


@pytest.fixture(scope="module")
def sources():
    made = compile_graph(graph(workload()), find_device("nvidia-h200"), Options(proofs=False))
    return {each.name: each.source for each in made.built}


def test_a_file_of_the_compiler_is_cut_into_all_it_needs(sources):
    file = cut_up(sources["fused"])
    assert file.arguments == ("x",)
    assert file.given == (
        Given("x", "x", "(8192, 4096)", "torch.float16"),
        Given("w", "self.lin.weight", "(4096, 4096)", "torch.float16"),
    )
    assert len(file.kernels) == 1
    assert all(text.startswith("@triton.jit\ndef ") for text in file.kernels.values())
    assert all(f"{name}[" not in text for name, text in file.helpers.items())
    ast.parse("def host():\n" + indent(file.body, "    "))
    assert file.body.startswith("device = ")
    assert file.body.rstrip().splitlines()[-1].startswith("return ")
    assert "_given(" not in file.body


def test_each_statement_has_a_kernel_where_nothing_is_fused(sources):
    file = cut_up(sources["unfused"])
    assert len(file.kernels) > 1
    assert all(f"{name}[" in file.body for name in file.kernels)


@pytest.mark.parametrize(
    "source",
    ["x = 1\n", "class Model:\n    def forward(self, x):\n        other[(1,)](x)\n"],
    ids=["no class", "a kernel from elsewhere"],
)
def test_what_the_compiler_did_not_write_is_refused(source):
    with pytest.raises(ValueError, match="emitted file"):
        cut_up(source)


def test_names_are_replaced_where_they_are_names():
    text = "def one(x):\n    # one\n    return one(x.one) + 'one'"
    expected = "def two(x):\n    # one\n    return two(x.one) + 'one'"
    assert renamed(text, {"one": "two"}) == expected


def test_pieces_are_replaced_whatever_their_order():
    assert edited("abcdef", [(0, 1, "AA"), (4, 6, ""), (2, 2, "-")]) == "AAb-cd"


def test_numbers_are_found_in_the_order_of_the_text():
    text = "a = 12 + x[3]\nb = -4.5 if True else 'six'"
    assert [each for _, _, each in numbers_in(text)] == ["12", "3", "4.5"]
    assert all(text[start:end] == word for start, end, word in numbers_in(text))
