"""The compiler, its cache, and calls with arrays."""

import threading

import numpy as np
import pytest

from tests.xeforge.fusion.emit.c.programs import QUICK
from tests.xeforge.fusion.emit.c.programs import TARGET
from tests.xeforge.fusion.samples import PROGRAM
from xeforge.errors import BadRequest
from xeforge.errors import ToolchainMissing
from xeforge.fusion.emit.c import build as builder
from xeforge.fusion.emit.c.build import CompilerFailed
from xeforge.fusion.emit.c.build import build
from xeforge.fusion.emit.c.build import cache_folder
from xeforge.fusion.emit.c.build import compile_text
from xeforge.fusion.emit.c.load import load
from xeforge.fusion.emit.c.source import emit
from xeforge.fusion.emit.c.target import AVX2
from xeforge.fusion.emit.c.target import AVX512
from xeforge.fusion.emit.c.target import find_target
from xeforge.fusion.interpret import interpret
from xeforge.fusion.plan import unfused

FLAGS = (*QUICK, "-fopenmp")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    source = emit(unfused(PROGRAM), TARGET)
    return load(build(source, folder=tmp_path_factory.mktemp("cache")), source)


def values(seed=0):
    random = np.random.default_rng(seed)
    return {
        "a": random.random((4, 5), dtype=np.float32),
        "b": random.random((5, 6), dtype=np.float32),
    }


def test_a_file_is_compiled_once(tmp_path, monkeypatch):
    first = compile_text("int f(void) { return 1; }", FLAGS, folder=tmp_path)
    monkeypatch.setattr(builder.subprocess, "run", None)
    assert compile_text("int f(void) { return 1; }", FLAGS, folder=tmp_path) == first
    assert sorted(each.suffix for each in tmp_path.iterdir()) == [".c", ".so"]


def test_other_text_and_other_flags_are_other_libraries(tmp_path):
    first = compile_text("int f(void) { return 1; }", FLAGS, folder=tmp_path)
    assert compile_text("int f(void) { return 2; }", FLAGS, folder=tmp_path) != first
    assert compile_text("int f(void) { return 1; }", (*FLAGS, "-g"), folder=tmp_path) != first


def test_what_the_compiler_says_is_in_the_error(tmp_path):
    with pytest.raises(CompilerFailed, match="not_there") as caught:
        compile_text("int f(void) { return not_there; }", FLAGS, folder=tmp_path)
    assert caught.value.source.exists()
    assert not list(tmp_path.glob("*.so"))


def test_no_compiler_is_a_typed_error_with_a_remedy(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainMissing, match="apt-get install gcc"):
        compile_text("int f(void) { return 1; }", FLAGS, folder=tmp_path)


def test_the_cache_is_in_the_home_folder_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("XEFORGE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "fusion_c"
    monkeypatch.delenv("XEFORGE_HOME")
    assert tmp_path not in cache_folder().parents


def test_a_call_computes_every_output(compiled):
    given = values()
    wanted = interpret(PROGRAM, given)
    found = compiled(given)
    assert set(found) == {"y", "s"}
    for name, each in found.items():
        np.testing.assert_allclose(each, wanted[name], rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": None}, "no numpy array"),
        ({"a": np.zeros((4, 6), np.float32)}, r"float32\[4, 6\] is not float32\[4, 5\]"),
        ({"a": np.zeros((4, 5))}, "float64"),
        ({"a": np.zeros((5, 4), np.float32).T}, "do not lie one after the other"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(compiled, change, message):
    with pytest.raises(BadRequest, match=message):
        compiled({**values(), **change})


def test_calls_from_several_threads_do_not_disturb_each_other(compiled):
    found = {}

    def call(seed):
        found[seed] = [compiled(values(seed))["s"] for _ in range(50)]

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for seed in range(4):
        wanted = interpret(PROGRAM, values(seed))["s"]
        np.testing.assert_allclose(found[seed], [wanted] * 50, rtol=1e-5)


def test_files_say_what_they_need():
    text = emit(unfused(PROGRAM), AVX512).text
    assert text.startswith("/* Needs avx512f")
    assert "-march=x86-64-v4" in text.partition("*/")[0]


def test_the_statements_stand_above_their_function():
    text = emit(unfused(PROGRAM), AVX2).text
    assert "y[i, j] = gelu(p[i, j])" in text
    assert text.index("y[i, j] = gelu") < text.index("xf_run_1_bent(")


def test_targets_go_by_name():
    assert find_target("avx2") is AVX2
    assert find_target("cpu").name in {"avx512", "avx2", "x86-64"}
    with pytest.raises(BadRequest, match="no CPU target 'sse9'"):
        find_target("sse9")


def test_wider_registers_compile_too(tmp_path):
    source = emit(unfused(PROGRAM), AVX512)
    flags = ("-std=gnu11", *QUICK, f"-march={AVX512.march}", "-fopenmp")
    assert compile_text(source.text, flags, folder=tmp_path).exists()
