"""What a function needs of its file comes along, and nothing else."""

from xeforge.source.carried import carried

FILE = """import math
import torch

ROWS = 4
COLUMNS = 2 * ROWS
UNUSED = 3


class Model(torch.nn.Module):
    pass


def _width():
    return COLUMNS + math.floor(1.5)


def get_inputs():
    # two of them
    return [torch.rand(ROWS, _width())]


def get_init_inputs():
    return []
"""


def test_constants_imports_and_functions_are_followed():
    text = carried(FILE, ("get_inputs", "get_init_inputs", "no_such"))
    kept = {}
    exec(text, kept)
    assert tuple(kept["get_inputs"]()[0].shape) == (4, 9)
    assert kept["get_init_inputs"]() == []
    assert "UNUSED" not in kept
    assert "Model" not in kept
    assert "# two of them" in text


def test_names_assigned_together_and_decorators_come_along():
    file = "A, B = 1, 2\n\ndef deco(f):\n    return f\n\n@deco\ndef get_inputs():\n    return [B]\n"
    kept = {}
    exec(carried(file, ("get_inputs",)), kept)
    assert kept["get_inputs"]() == [2]


def test_a_file_without_them_gives_nothing():
    assert carried("x = 1\n", ("get_inputs",)) == ""
