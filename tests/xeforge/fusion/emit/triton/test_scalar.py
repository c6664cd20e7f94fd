"""Every scalar function against its meaning, special values included."""

from pathlib import Path

import numpy as np
import pytest

from tests.xeforge.fusion.emit.triton.interpreted import printed_by
from xeforge.fusion.emit.triton.scalar import HELPERS
from xeforge.fusion.emit.triton.scalar import INFIX
from xeforge.fusion.emit.triton.scalar import MEMBERS
from xeforge.fusion.emit.triton.scalar import helper_name
from xeforge.fusion.emit.triton.scalar import helper_source
from xeforge.fusion.functions import FUNCTIONS

CHILD = Path(__file__).with_name("function_values.py")
TOLERANCES = {"float64": 1e-13, "float32": 3e-6, "float16": 3e-3}
WORDS = {"neg", "not", "cast"}
"""Written by the emitter itself."""


@pytest.fixture(scope="module")
def values():
    return printed_by(CHILD)


@pytest.mark.parametrize("dtype", sorted(TOLERANCES))
def test_functions_mean_what_they_should(values, dtype):
    wrong = {}
    limit = {"float16": 65504.0, "float32": 3.4e38}.get(dtype, np.inf)
    for name, each in values.items():
        if not name.startswith(dtype):
            continue
        wanted, got = np.array(each["wanted"]), np.array(each["got"])
        wanted = np.where(np.abs(wanted) > limit, np.copysign(np.inf, wanted), wanted)
        tolerance = TOLERANCES[dtype]
        close = np.isclose(got, wanted, rtol=tolerance, atol=tolerance * 1e-1, equal_nan=True)
        if not close.all():
            place = int(np.flatnonzero(~close)[0])
            wrong[name] = (each["at"][place], wanted[place], got[place])
    assert wrong == {}


def test_every_function_has_a_form():
    known = set(INFIX) | set(MEMBERS) | WORDS
    missing = {name for name in FUNCTIONS if name not in known and not helper_name(name, "float32")}
    assert missing == set()


def test_helpers_stand_behind_what_they_need():
    text = "\n".join(helper_source({"elu", "hardswish", "softplus"}))
    for name in ("expm1", "log1p", "hardsigmoid"):
        defined = text.index(f"def _{name}(")
        assert text.index(f"_{name}(") == defined + len("def ")
    assert set(HELPERS) >= {"relu", "gelu", "tanh_wide"}
