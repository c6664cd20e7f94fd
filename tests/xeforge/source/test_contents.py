import textwrap

import pytest

from xeforge.errors import BadKernel
from xeforge.source.contents import KernelContents
from xeforge.source.contents import parse
from xeforge.source.contents import read_contents

HEAD = """\
import torch
import triton
import triton.language as tl
"""


def read(body: str, *, head: str = HEAD) -> KernelContents:
    return read_contents(head + textwrap.dedent(body), "k.py")


MATMUL = """
BLOCKS = [64, 128]

@triton.autotune(
    configs=[
        triton.Config({"BM": bm, "BN": 64, "grf_mode": "256"}, num_warps=w, num_stages=3)
        for bm in BLOCKS
        for w in (4, 8)
        if bm * w <= 512
    ],
    key=["M", "N"],
    reset_to_zero=["c"],
)
@triton.heuristics({"EVEN": lambda args: args["M"] % 2 == 0})
@triton.jit
def matmul(a, b, c, M, N, BM: tl.constexpr, BN: "tl.constexpr", EVEN: tl.constexpr = True):
    accumulate(a, b)


@triton.jit
def accumulate(a, b):
    return tl.dot(a, b)


@triton.jit
def scale(a, FACTOR: triton.language.constexpr):
    pass


def run(a, b, c):
    grid = lambda META: (triton.cdiv(a.shape[0], META["BM"]),)
    matmul[grid](a, b, c, a.shape[0], N=b.shape[1], num_warps=4)


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        scale[(1, 2)](*a, FACTOR=2)


class Model(torch.nn.Module):
    def __init__(self, size, gain=1.0, *, bias=False):
        super().__init__()

    def forward(self, x):
        launch = scale[(x.numel(),)]
        launch(x, 3)


def get_inputs(self=None):
    return []
"""


@pytest.fixture(scope="module")
def contents() -> KernelContents:
    return read(MATMUL)


def test_configs_of_a_comprehension_over_literal_lists_are_evaluated(contents):
    autotune = contents.jit_function("matmul").autotune
    assert [(dict(c.values), c.num_warps, c.num_stages) for c in autotune.configs] == [
        ({"BM": 64, "BN": 64}, 4, 3),
        ({"BM": 64, "BN": 64}, 8, 3),
        ({"BM": 128, "BN": 64}, 4, 3),
    ]
    assert autotune.configs[0].options == {"grf_mode": "256"}
    assert autotune.configs[0].line == 9
    assert autotune.key == ("M", "N")
    assert autotune.keywords == {"reset_to_zero": "['c']"}
    assert autotune.varied == {"BM"}
    assert not autotune.is_dynamic


def test_jit_functions_with_lines_heuristics_and_dots(contents):
    matmul, accumulate, scale = contents.jit_functions
    assert (matmul.first_line, matmul.line, matmul.end_line) == (7, 19, 20)
    assert dict(matmul.heuristics) == {"EVEN": "lambda args: args['M'] % 2 == 0"}
    assert matmul.calls == ("accumulate",)
    assert (matmul.has_dot, accumulate.has_dot, scale.has_dot) == (True, True, False)
    assert [p.name for p in matmul.params if p.is_constexpr] == ["BM", "BN", "EVEN"]
    assert matmul.params[-1].default == "True"
    assert scale.params[1].is_constexpr
    assert [each.name for each in contents.entry_kernels] == ["matmul", "scale"]


def test_launches_in_functions_static_methods_and_methods(contents):
    first, second, third = contents.launches
    assert (first.kernel, first.function, first.grid) == ("matmul", "run", "grid")
    assert first.resolved_grid == "lambda META: (triton.cdiv(a.shape[0], META['BM']),)"
    assert first.positional == ("a", "b", "c", "a.shape[0]")
    assert first.keywords == {"N": "b.shape[1]", "num_warps": "4"}
    assert (second.kernel, second.function) == ("scale", "Multiply.forward")
    assert (second.grid, second.positional) == ("(1, 2)", ("*a",))
    assert (third.kernel, third.function) == ("scale", "Model.forward")
    assert third.resolved_grid == "(x.numel(),)"


def test_model_functions_and_constants(contents):
    model = contents.model
    assert model.is_module
    assert [(p.name, p.default, p.kind) for p in model.init_parameters] == [
        ("size", None, "positional"),
        ("gain", "1.0", "positional"),
        ("bias", "False", "keyword_only"),
    ]
    assert [p.name for p in model.forward_parameters] == ["x"]
    assert [each.name for each in contents.functions] == ["run", "get_inputs"]
    assert contents.constants == {"BLOCKS": (64, 128)}
    assert contents.has_get_inputs
    assert not contents.has_get_init_inputs


@pytest.mark.parametrize(
    ("head", "decorators"),
    [
        (
            "from triton import autotune, jit, Config\n",
            "@autotune([Config({'B': 8})], ['n'])\n@jit",
        ),
        (
            "import triton as t\n",
            "@t.autotune(configs=[t.Config({'B': 8})], key=['n'])\n@t.jit(do_not_specialize=['n'])",
        ),
        (
            "import triton\nfrom triton.runtime.autotuner import autotune\n",
            "ALL = (triton.Config(dict(B=8)),)\n@autotune(configs=ALL, key=['n'])\n@triton.jit",
        ),
        (
            "import triton\n",
            (
                "def configs():\n    '''All.'''\n    return [triton.Config({'B': 8})]\n"
                "@triton.autotune(configs=configs(), key=['n'])\n@triton.jit"
            ),
        ),
        (
            "import triton\nimport itertools\n",
            (
                "@triton.autotune([triton.Config({'B': b}) for b, _ in "
                "itertools.product([8], [1])], key=['n'])\n@triton.jit"
            ),
        ),
        (
            "import triton\nCOMMON = [triton.Config({'B': 8})]\n",
            "@triton.autotune(configs=[*COMMON] + [], key=['n'])\n@triton.jit",
        ),
    ],
)
def test_usual_spellings_of_the_decorators(head, decorators):
    (function,) = read(f"{decorators}\ndef k(p, n, B): pass\n", head=head).jit_functions
    assert [dict(c.values) for c in function.autotune.configs] == [{"B": 8}]
    assert function.autotune.key == ("n",)
    assert not function.autotune.is_dynamic


@pytest.mark.parametrize(
    "configs",
    [
        "list(filter(keep, CONFIGS))",
        "make(3)",
        "[triton.Config({'B': torch.cuda.device_count()})]",
        "GROWING",
        "[triton.Config({'B': b}) for b in range(10**9)]",
        "[1, 2]",
        "LOOP",
    ],
)
def test_configs_that_only_running_would_tell_are_dynamic(configs):
    body = f"""
    CONFIGS = [triton.Config({{"B": 8}})]
    GROWING = []
    GROWING.append(triton.Config({{"B": 8}}))
    LOOP = LOOP

    @triton.autotune(configs={configs}, key=[])
    @triton.jit
    def k(p, B: tl.constexpr): pass
    """
    autotune = read(body).jit_functions[0].autotune
    assert autotune.is_dynamic
    assert autotune.configs == ()


def test_kernel_made_by_calling_the_decorators():
    contents = read("""
    def body(p, B): pass

    fast = triton.autotune(configs=[triton.Config({"B": 8})], key=[])(triton.jit(body))

    def run(p):
        fast[(1,)](p)
    """)
    (function,) = contents.jit_functions
    assert (function.name, function.line) == ("fast", 5)
    assert function.autotune.configs[0].values == {"B": 8}
    assert [each.kernel for each in contents.launches] == ["fast"]


def test_decorator_kept_under_a_name_and_kernel_kept_in_an_attribute():
    contents = read("""
    tuner = triton.autotune([triton.Config({"B": b}) for b in (8, 16)], key=["n"])

    @tuner
    @triton.jit
    def first(p, n, B: tl.constexpr): pass

    @triton.jit
    def second(p, n, B: tl.constexpr): pass

    class Launcher:
        kernel = None

    Launcher.kernel = tuner(second)

    def run(p):
        Launcher.kernel[(1,)](p, 3)
    """)
    by_name = {each.name: each for each in contents.jit_functions}
    assert by_name["first"].autotune.varied == {"B"}
    assert by_name["kernel"].autotune.varied == {"B"}
    assert by_name["second"].autotune is None
    assert [each.kernel for each in contents.launches] == ["kernel"]


def test_launch_of_either_of_two_kernels_counts_for_both():
    contents = read("""
    @triton.jit
    def one(p): pass

    @triton.jit
    def two(p): pass

    def run(p, flag):
        kernel = one if flag else two
        def grid(meta):
            return (meta["B"],)
        kernel[grid](p)
    """)
    assert [(each.kernel, each.resolved_grid) for each in contents.launches] == [
        ("one", "lambda meta: (meta['B'],)"),
        ("two", "lambda meta: (meta['B'],)"),
    ]


def test_name_bound_twice_has_no_known_grid():
    contents = read("""
    @triton.jit
    def one(p): pass

    def run(p):
        grid = (1,)
        if p.numel() > 4:
            grid = (2,)
        one[grid](p)
    """)
    assert contents.launches[0].resolved_grid == ""


def test_model_that_inherits_within_the_file():
    contents = read("""
    @triton.jit
    def one(p): pass

    class Network(torch.nn.Module):
        def __init__(self, size): pass
        def forward(self, x, y): pass

    class Better(Network):
        def forward(self, x): pass

    Model = Better
    """)
    assert contents.model.name == "Better"
    assert contents.model.is_module
    assert [p.name for p in contents.model.init_parameters] == ["size"]
    assert [p.name for p in contents.model.forward_parameters] == ["x"]


def test_class_without_torch_base_is_no_module():
    contents = read(
        "class Model:\n    def forward(self, x): pass\n" + "@triton.jit\ndef k(p): pass\n"
    )
    assert not contents.model.is_module


def test_jit_of_another_package_is_no_kernel():
    with pytest.raises(BadKernel, match="no Triton kernel"):
        read("from numba import jit\n@jit\ndef k(p): pass\n", head="")


def test_reference_without_kernel_can_be_read():
    contents = read_contents(
        "import torch\nclass Model(torch.nn.Module): pass\n", "r.py", require_kernel=False
    )
    assert contents.jit_functions == ()
    assert contents.model.is_module


def test_constants_bound_twice_or_in_branches_are_not_known():
    contents = read("""
    A = 3
    B, C = 4, (1, 2.5)
    A += 1
    if torch.cuda.is_available():
        D = 5
    E: int = 2**10
    F = "x" * 10**9
    if __name__ == "__main__":
        E = 7
    @triton.jit
    def one(p): pass
    """)
    assert contents.constants == {"B": 4, "C": (1, 2.5), "E": 1024}


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        ("", "empty", None),
        (" \n\t\n", "empty", None),
        ("\ufeff", "empty", None),
        ("import triton\nx = \0", "null bytes", 2),
        ("# coding: utf-7\nimport triton", "encoding utf-7", 1),
        ("#!/bin/python\n# vim: set fileencoding=raw_unicode_escape :\n", "raw_unicode", 2),
        ("#\x85\x0c\x1c\u2028 coding=latin-1\rx = 1", "encoding latin-1", 1),
        ("import triton\ndef f(:\n", "not valid Python", 2),
        ("x = " + "(" * 5000 + ")" * 5000, "Python|nested", None),
        ("x = 1\n", "no Triton kernel", None),
        ("x = '\ud800'", "cannot be parsed", None),
        ("#" * 2_000_001, "characters", None),
    ],
)
def test_unreadable_files_are_refused_with_place_and_remedy(source, message, line):
    with pytest.raises(BadKernel, match=message) as caught:
        read_contents(source, "folder/k.py")
    assert caught.value.file == "folder/k.py"
    assert caught.value.remedy
    if line is not None:
        assert caught.value.line == line


def test_byte_order_mark_and_odd_escapes_are_accepted():
    contents = read_contents('\ufeffimport triton\n@triton.jit\ndef k(p):\n    "\\d"\n', "k.py")
    assert contents.jit_functions[0].line == 3


@pytest.mark.parametrize(
    "line", ["# -*- coding: UTF_8 -*-", "# coding=utf-8-unix", "# ascii art", "# no coding here"]
)
def test_declarations_that_change_nothing_pass(line):
    assert parse(f"{line}\nx = 1\n", "k.py").body
