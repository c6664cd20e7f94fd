"""Composite functions and their definitions by primitive ones mean the same."""

import numpy as np
import pytest

from xeforge.fusion.affine import axis
from xeforge.fusion.expand import expand
from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import call
from xeforge.fusion.functions import children
from xeforge.fusion.interpret import interpret
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt

NUMBERS = {"softplus": (1.5, 4.0), "leaky_relu": (0.1,), "elu": (1.2, 0.9, 1.1)}
COMPOSITE = [each.name for each in FUNCTIONS.values() if not each.is_primitive]
VALUES = np.array([*np.linspace(-9, 9, 145), 0.0, -0.0, np.inf, np.nan, 1e-9])


def names_in(value):
    own = {value.function} if isinstance(value, Call) else set()
    return own.union(*map(names_in, children(value)))


@pytest.mark.parametrize("name", COMPOSITE)
def test_a_definition_means_the_same(name):
    at = (axis("i"),)
    x = Read(Access("x", at), "float64")
    body = call(name, x, *(Const(each, "float64") for each in NUMBERS.get(name, ())))
    axes = (Axis("i", VALUES.size),)
    program = Program(
        (
            Array("x", VALUES.shape, "float64", "input"),
            Array("y", VALUES.shape, "float64", "output"),
            Array("z", VALUES.shape, "float64", "output"),
        ),
        (Stmt("y", axes, Access("y", at), body), Stmt("z", axes, Access("z", at), expand(body))),
        ("x",),
        ("y", "z"),
    )
    found = interpret(program, {"x": VALUES})
    np.testing.assert_allclose(found["z"], found["y"], rtol=1e-13, atol=1e-15)
    assert all(FUNCTIONS[each].is_primitive for each in names_in(expand(body)))


def test_calls_of_unknown_functions_are_refused():
    x = Read(Access("x", (axis("i"),)), "float64")
    for name, count in (("sigma", 1), ("add", 1), ("cast", 1)):
        with pytest.raises(ValueError, match=name):
            call(name, *([x] * count))
