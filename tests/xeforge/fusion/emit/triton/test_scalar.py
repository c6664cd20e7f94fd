"""Every scalar function against its meaning, special values included."""

from pathlib import Path

import numpy as np
import pytest

from tests.xeforge.fusion.emit.triton.interpreted import printed_by
from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import all_functions
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.scalar import HELPERS
from xeforge.fusion.emit.triton.scalar import INFIX
from xeforge.fusion.emit.triton.scalar import MEMBERS
from xeforge.fusion.emit.triton.scalar import SHORT
from xeforge.fusion.emit.triton.scalar import helper_name
from xeforge.fusion.emit.triton.scalar import helper_source
from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.plan import unfused

CHILD = Path(__file__).with_name("function_values.py")
TOLERANCES = {"float64": 1e-13, "float32": 3e-6, "float16": 6e-4}
"""Of float16: half of the last place is 4.9e-4, and short forms may add 1e-4 to it."""
SMALLEST = {"float64": 1e-14, "float32": 3e-7, "float16": 6e-8}
"""Absolute; of float16 the smallest number that it has."""
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
        close = np.isclose(got, wanted, rtol=tolerance, atol=SMALLEST[dtype], equal_nan=True)
        if not close.all():
            place = int(np.flatnonzero(~close)[0])
            wrong[name] = (each["at"][place], wanted[place], got[place])
    assert wrong == {}


def test_every_function_has_a_form():
    known = set(INFIX) | set(MEMBERS) | WORDS
    missing = {name for name in FUNCTIONS if name not in known and not helper_name(name, "float32")}
    assert missing == set()


def test_few_digits_need_shorter_forms():
    short = {name for name in FUNCTIONS if helper_name(name, "float32", is_short=True) in SHORT}
    assert short == {"log1p", "expm1", "tanh", "gelu"}
    assert helper_name("gelu", "float32") == "gelu"
    assert helper_name("tanh", "float64", is_short=True) == "tanh_wide"
    assert helper_name("relu", "float32", is_short=True) == "relu"


@pytest.mark.parametrize(
    ("stored", "is_short"), [("float16", True), ("bfloat16", True), ("float32", False)]
)
def test_short_forms_are_taken_where_halves_are_stored(stored, is_short):
    text = emit(unfused(all_functions(stored, 8)), (), TARGET)
    assert ("def _gelu_short(" in text) is is_short
    assert ("def _gelu(" in text) is not is_short


def test_helpers_stand_behind_what_they_need():
    text = "\n".join(helper_source({"elu", "hardswish", "softplus"}))
    for name in ("expm1", "log1p", "hardsigmoid"):
        defined = text.index(f"def _{name}(")
        assert text.index(f"_{name}(") == defined + len("def ")
    assert set(HELPERS) >= {"relu", "gelu", "tanh_wide"}
