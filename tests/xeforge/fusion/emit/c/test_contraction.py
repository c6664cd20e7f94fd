"""Products of odd shapes with what may come before and after, for several kinds of registers."""

from dataclasses import replace

import numpy as np
import pytest

from tests.xeforge.fusion.emit.c.programs import TARGET
from tests.xeforge.fusion.emit.c.programs import build_all
from tests.xeforge.fusion.emit.c.programs import faults
from tests.xeforge.fusion.emit.c.programs import fused
from tests.xeforge.fusion.emit.c.programs import in_dtype
from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.emit.c.micro import choose
from xeforge.fusion.emit.c.micro import micro_text
from xeforge.fusion.emit.c.target import AVX2
from xeforge.fusion.emit.c.target import AVX512
from xeforge.fusion.emit.c.target import X86

NARROW = replace(TARGET, vector_bytes=16, march=X86.march)


def product(recorder, rows, depth, columns, *, batch=(), op="matmul"):
    x = recorder.input(*batch, rows, depth)
    shape = (columns, depth) if op == "linear" else (*batch, depth, columns)
    return recorder.op(op, x, recorder.parameter(*shape))


def with_bias(recorder, value):
    return recorder.op("add", value, recorder.parameter(recorder.value(value).shape[-1]))


def normed(recorder, value, groups):
    wide = recorder.value(value).shape[1]
    pair = (recorder.parameter(wide), recorder.parameter(wide))
    return recorder.op("group_norm", value, groups, *pair, 1e-2, False)


def turned(recorder):
    x = recorder.op("permute", recorder.input(29, 13), [1, 0])
    return recorder.op("matmul", x, recorder.op("permute", recorder.parameter(37, 29), [1, 0]))


CASES = {
    "plain": lambda r: product(r, 35, 29, 41),
    "linear": lambda r: product(r, 35, 29, 41, op="linear"),
    "few rows": lambda r: with_bias(r, product(r, 2, 50, 70, op="linear")),
    "narrow": lambda r: product(r, 50, 30, 3),
    "batch": lambda r: product(r, 9, 12, 25, batch=(2, 3)),
    "turned": turned,
    "gelu": lambda r: r.op("gelu", with_bias(r, product(r, 26, 17, 33))),
    "softmax": lambda r: r.op("softmax", with_bias(r, product(r, 26, 17, 50)), 1),
    "largest": lambda r: r.op("amax", product(r, 26, 17, 33, op="linear"), [1], False),
    "sum of columns": lambda r: r.op("sum", product(r, 26, 17, 33), [0], True),
    "group norm": lambda r: normed(r, with_bias(r, product(r, 26, 17, 60)), 4),
    "batched softmax": lambda r: r.op("softmax", product(r, 9, 12, 25, batch=(4,)), 2),
}


@pytest.fixture(
    scope="module", params=[("float32", TARGET), ("float64", TARGET), ("float32", NARROW)]
)
def made(request, tmp_path_factory):
    dtype, target = request.param
    recorders = {name: Recorder(dtype) for name in CASES}
    programs = {name: program_of(each, CASES[name](each)) for name, each in recorders.items()}
    plans = [fused(each) for each in programs.values()]
    runs = build_all(plans, tmp_path_factory.mktemp("products"), target=target)
    return {
        name: (programs[name], plan, run, recorders[name].given())
        for name, plan, run in zip(CASES, plans, runs, strict=True)
    }


def test_products_are_right_and_in_one_group(made):
    for name, (program, plan, run, given) in made.items():
        assert [each.family for each in plan.groups] == ["contraction"], name
        assert faults(program, run, given) == [], name


def test_infinities_and_nan_of_one_row_stay_in_it(made):
    program, _, run, given = made["plain"]
    (name,) = program.inputs
    x = np.array(given[name])
    x[3, 5], x[34, 0] = np.inf, np.nan
    assert faults(program, run, {**given, name: x}) == []


def test_sums_in_halves_are_kept_wider_or_rounded_at_each_step(tmp_path):
    recorders = {name: Recorder() for name in ("plain", "few rows")}
    programs = [
        in_dtype(program_of(each, CASES[name](each)), "bfloat16")
        for name, each in recorders.items()
    ]
    runs = build_all([fused(each) for each in programs], tmp_path)
    for program, run, each in zip(programs, runs, recorders.values(), strict=True):
        assert program.statements[0].reduce.dtype == "bfloat16"
        assert faults(program, run, each.given()) == []


@pytest.mark.parametrize("target", [AVX512, AVX2, X86])
@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_the_tile_of_sums_fits_the_registers(target, suffix):
    for rows in (1, 2, 5, 16, 1000):
        for columns in (1, 5, 1000):
            found = choose(target, suffix, rows, columns)
            assert 1 <= found.rows <= max(rows, 1)
            assert found.rows * found.vectors + found.vectors + 1 <= target.vector_registers
            assert micro_text(found.name).count("+= a[") == found.rows * found.vectors


def test_tiles_leave_few_rows_empty():
    assert choose(AVX2, "f32", 16, 1000).rows == 4
    assert choose(AVX2, "f32", 1000, 1000).rows == 6
    assert choose(AVX2, "f32", 7, 1000).rows == 4
