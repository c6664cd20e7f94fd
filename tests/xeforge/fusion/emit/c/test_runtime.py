"""Accuracy of the emitted functions, against the C library in double precision."""

import ctypes
import math

import numpy as np
import pytest

from tests.xeforge.fusion.emit.c.programs import TARGET
from xeforge.fusion.emit.c.build import compile_text
from xeforge.fusion.emit.c.runtime import HEAD
from xeforge.fusion.emit.c.runtime import PIECES
from xeforge.fusion.emit.c.runtime import used_by
from xeforge.fusion.emit.c.runtime_math import MATH
from xeforge.fusion.emit.c.source import FLAGS
from xeforge.fusion.functions import FUNCTIONS

NAMES = ("exp", "expm1", "log", "log1p", "tanh", "erf")
SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e-45, -1e-40, 88.8, 3e38, -3e38)
SMALLEST = -87.33


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    calls = [
        f"void all_{name}(const float *x, float *y, int64_t n)\n"
        f"{{\n    for (int64_t i = 0; i < n; i++) y[i] = xf_{name}_f32(x[i]);\n}}\n"
        for name in NAMES
    ]
    text = HEAD + used_by("\n".join(calls)) + "\n".join(calls)
    flags = (*FLAGS, f"-march={TARGET.march}", "-fopenmp")
    return ctypes.CDLL(str(compile_text(text, flags, folder=tmp_path_factory.mktemp("math"))))


def computed(library, name, x):
    y = np.empty_like(x)
    function = getattr(library, f"all_{name}")
    function(
        x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(x.size)
    )
    return y


def meant(name, x):
    with np.errstate(all="ignore"):
        if name == "erf":
            return np.array([math.erf(float(each)) for each in x])
        return getattr(np, name)(x.astype(np.float64))


def units_off(found, wanted):
    with np.errstate(all="ignore"):
        rounded = wanted.astype(np.float32)
        off = np.abs(found.astype(np.float64) - wanted) / np.spacing(np.abs(rounded))
    return np.where((found == rounded) | (np.isnan(found) & np.isnan(rounded)), 0.0, off)


@pytest.mark.parametrize("name", NAMES)
def test_a_dense_sample_is_within_three_units(library, name):
    size = np.geomspace(1e-30, 80.0, 200_001).astype(np.float32)
    near = np.linspace(-4.0, 4.0, 200_001, dtype=np.float32)
    x = np.concatenate([size, -size, near])
    if name in {"log", "log1p"}:
        x = x[x > (0.0 if name == "log" else -1.0)]
    if name == "exp":
        x = x[x > SMALLEST]
    wanted = meant(name, x)
    assert units_off(computed(library, name, x), wanted).max() <= 3.0


def test_exp_is_zero_where_it_would_be_below_the_normal_numbers(library):
    x = np.array([SMALLEST - 0.01, -90.0, -200.0, -3e38], dtype=np.float32)
    assert computed(library, "exp", x).tolist() == [0.0] * 4


@pytest.mark.parametrize("name", NAMES)
def test_infinities_zeros_and_nan(library, name):
    x = np.array(SPECIAL, dtype=np.float32)
    found, wanted = computed(library, name, x), meant(name, x)
    assert units_off(found, wanted).max() <= 3.0, list(zip(x, found, wanted, strict=True))


def test_each_function_of_the_table_has_a_form_in_c():
    arithmetic = {*("neg", "add", "sub", "mul", "div", "and", "or", "not", "where", "cast")}
    arithmetic |= {"lt", "le", "gt", "ge", "eq", "ne"}
    renamed = {"minimum": "min", "maximum": "max"}
    wanted = {renamed.get(name, name) for name in set(FUNCTIONS) - arithmetic}
    for suffix in ("f32", "f64"):
        assert {f"xf_{name}_{suffix}" for name in wanted} <= set(PIECES)


def test_only_what_a_text_uses_comes_with_it():
    assert used_by("xf_floor_div(a, b)").count("static") == 1
    assert used_by("xf_gelu_f32(x)").index("xf_exp_f32") < used_by("xf_gelu_f32(x)").index("gelu")
    assert set(MATH) <= set(PIECES)
