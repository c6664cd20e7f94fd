import ast
import textwrap

import pytest

from xeforge.errors import BadKernel
from xeforge.errors import BadRequest
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import find_knobs
from xeforge.source.knobs import set_knobs

HEADER = "import torch\nimport triton\nimport triton.language as tl\n\n"

MATMUL = """
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
            TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    rows, cols = tl.cdiv(M, TM), tl.cdiv(N, TN)
    per = G * cols
    first = pid // per * G
    size = min(rows - first, G)
    pm = first + (pid % per) % size
    pn = (pid % per) // size
    rm = pm * TM + tl.arange(0, TM)
    rn = pn * TN + tl.arange(0, TN)
    rk = tl.arange(0, TK)
    ap = a_ptr + rm[:, None] * sam + rk[None, :] * sak
    bp = b_ptr + rk[:, None] * sbk + rn[None, :] * sbn
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, TK)):
        a = tl.load(ap, mask=(rm[:, None] < M) & (rk[None, :] < K - k * TK), other=0.0)
        b = tl.load(bp, mask=(rk[:, None] < K - k * TK) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        ap += TK * sak
        bp += TK * sbk
    cp = c_ptr + rm[:, None] * scm + rn[None, :] * scn
    tl.store(cp, acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
"""
SCALE = """
@triton.jit
def scale(x_ptr, y_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x * 2.0, mask=offs < n)
"""


def model(forward, *, before="", inside=""):
    text = f"\n\n{before}\nclass Model(torch.nn.Module):\n"
    text += textwrap.indent(inside, "    ")
    return (
        text + "    def forward(self, x, w):\n" + textwrap.indent(textwrap.dedent(forward), " " * 8)
    )


def scaled(launch, **parts):
    forward = f"y = torch.empty_like(x)\nn = x.numel()\n{textwrap.dedent(launch)}\nreturn y\n"
    return HEADER + SCALE + model(forward, **parts)


def multiplied(launch, **parts):
    strides = "M, N, K, *x.stride(), *w.stride(), *c.stride()".replace("*x.stride()", "K, 1")
    strides = strides.replace("*w.stride()", "N, 1").replace("*c.stride()", "N, 1")
    forward = "M, K = x.shape\nN = w.shape[1]\nc = torch.empty((M, N))\n"
    forward += textwrap.dedent(launch).replace("ARGS", f"x, w, c, {strides}") + "\nreturn c\n"
    return HEADER + MATMUL + model(forward, **parts)


def by_name(source):
    return {each.name: each for each in find_knobs(source)}


class TestBinding:
    def test_literal_at_the_launch(self):
        source = scaled("scale[(triton.cdiv(n, 256),)](x, y, n, B=256, num_warps=2)")
        knobs = by_name(source)
        assert knobs["B"].value == 256
        assert knobs["B"].kind == "literal"
        assert knobs["B"].role is Role.BLOCK
        assert knobs["B"].in_grid_as_literal
        assert knobs["num_warps"].value == 2
        assert knobs["num_stages"].value is None
        assert knobs["num_stages"].kind == "absent"

    def test_positional_name_of_a_module_constant(self):
        source = scaled(
            "scale[(triton.cdiv(n, SIZE),)](x, y, n, SIZE)", before="SIZE = 512  # elements\n"
        )
        knob = by_name(source)["B"]
        assert (knob.kind, knob.value) == ("module", 512)
        assert source.splitlines()[knob.line - 1] == "SIZE = 512  # elements"
        assert "SIZE = 2048  # elements" in set_knobs(source, "scale", {"B": 2048})

    def test_local_and_tuple_assignment(self):
        source = multiplied(
            """
            bm, bn = 64, 32
            bk: int = 16
            grid = lambda meta: (triton.cdiv(M, meta["TM"]) * triton.cdiv(N, meta['TN']),)
            product[grid](ARGS, TM=bm, TN=bn, TK=bk, G=8)
            """
        )
        knobs = by_name(source)
        values = {name: (each.kind, each.value, each.role) for name, each in knobs.items()}
        assert values == {
            "TM": ("local", 64, Role.M),
            "TN": ("local", 32, Role.N),
            "TK": ("local", 16, Role.K),
            "G": ("literal", 8, Role.GROUP),
            "num_warps": ("absent", None, Role.WARPS),
            "num_stages": ("absent", None, Role.STAGES),
        }
        changed = set_knobs(source, "product", {"TM": 128, "TK": 64, "num_warps": 8})
        assert "bm, bn = 128, 32" in changed
        assert "bk: int = 64" in changed
        assert "TK=bk, G=8, num_warps=8)" in changed

    def test_class_attributes_and_self(self):
        inside = (
            "BLOCK = 256\n\ndef __init__(self):\n    super().__init__()\n    self.warps = 4\n\n"
        )
        source = scaled(
            "scale[(triton.cdiv(n, self.BLOCK),)](x, y, n, B=self.BLOCK, num_warps=self.warps)",
            inside=inside,
        )
        knobs = by_name(source)
        assert (knobs["B"].kind, knobs["B"].value) == ("class", 256)
        assert (knobs["num_warps"].kind, knobs["num_warps"].value) == ("class", 4)
        changed = set_knobs(source, "scale", {"B": 1024, "num_warps": 8})
        assert "BLOCK = 1024" in changed
        assert "self.warps = 8" in changed
        other = source.replace("self.BLOCK", "Model.BLOCK")
        assert by_name(other)["B"].kind == "class"

    def test_default_of_a_host_function_and_argument_of_its_only_caller(self):
        helper = """
def run(x, y, n, block=128):
    scale[(triton.cdiv(n, block),)](x, y, n, B=block)

"""
        plain = scaled("run(x, y, n)", before=helper)
        assert by_name(plain)["B"].kind == "default"
        assert "block=512" in set_knobs(plain, "scale", {"B": 512})
        given = scaled("run(x, y, n, block=64)", before=helper)
        assert by_name(given)["B"].value == 64
        assert "run(x, y, n, block=512)" in set_knobs(given, "scale", {"B": 512})
        twice = scaled("run(x, y, n, block=64)\nrun(x, y, n)", before=helper)
        assert "B" not in by_name(twice)

    def test_default_of_the_jit_parameter(self):
        source = scaled('scale[lambda META: (triton.cdiv(n, META["B"]),)](x, y, n)').replace(
            "B: tl.constexpr)", "B: tl.constexpr = 128)"
        )
        assert by_name(source)["B"].kind == "jit_default"
        assert "B: tl.constexpr = 256)" in set_knobs(source, "scale", {"B": 256})

    def test_strides_handed_over_with_a_star(self):
        launch = """
        grid = (triton.cdiv(M, 64), triton.cdiv(N, 32))
        product[grid](x, w, c, M, N, K, *x.stride(), *w.stride(), *c.stride(), 64, 32, 16, G=8)
        """
        knobs = by_name(multiplied(launch))
        assert [knobs[each].value for each in ("TM", "TN", "TK", "G")] == [64, 32, 16, 8]
        unknown = multiplied(launch.replace("*w.stride()", "*strides"))
        assert set(by_name(unknown)) == {"G"}
        by_keyword = launch.replace("*w.stride()", "*strides").replace(
            "64, 32, 16, G", "TM=64, TN=32, TK=16, G"
        )
        assert by_name(multiplied(by_keyword))["TM"].value == 64

    def test_dictionary_of_settings(self):
        launch = """
        settings = dict(B=256, num_warps=4)
        scale[(triton.cdiv(n, settings["B"]),)](x, y, n, **settings)
        """
        knobs = by_name(scaled(launch))
        assert knobs["B"].value == 256
        assert "dict(B=512, num_warps=8)" in set_knobs(
            scaled(launch), "scale", {"B": 512, "num_warps": 8}
        )

    def test_computed_block_is_no_knob_but_its_warps_are(self):
        launch = """
        size = triton.next_power_of_2(n)
        scale[(1,)](x, y, n, B=size, num_warps=8 if size > 2048 else 4)
        """
        knobs = by_name(scaled(launch))
        assert set(knobs) == {"num_warps", "num_stages"}
        assert knobs["num_warps"].kind == "computed"
        assert "B=size, num_warps=16)" in set_knobs(scaled(launch), "scale", {"num_warps": 16})

    @pytest.mark.parametrize(
        "launch",
        [
            "size = 64\nif n > 100:\n    size = 128\nscale[(triton.cdiv(n, size),)](x, y, n, size)",
            "for size in (64, 128):\n    scale[(triton.cdiv(n, size),)](x, y, n, size)",
            "scale[(triton.cdiv(n, x.shape[0]),)](x, y, n, x.shape[0])",
            "scale[(4,)](x, y, n, B=256)",
        ],
    )
    def test_values_that_are_not_ours_to_change(self, launch):
        assert "B" not in by_name(scaled(launch))

    def test_sizes_of_the_problem_are_no_knobs(self):
        kernel = """
@triton.jit
def rows(x_ptr, y_ptr, n, HEAD: tl.constexpr, R: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)
    col = tl.arange(0, HEAD)
    at = row[:, None] * HEAD + col[None, :]
    x = tl.load(x_ptr + at, mask=row[:, None] < n)
    tl.store(y_ptr + at, x, mask=row[:, None] < n)
"""
        forward = "rows[(triton.cdiv(x.shape[0], 4),)](x, w, x.shape[0], HEAD=64, R=4)\nreturn w\n"
        knobs = by_name(HEADER + kernel + model(forward))
        assert set(knobs) == {"R", "num_warps", "num_stages"}
        assert knobs["R"].role is Role.ROWS


class TestGrid:
    def test_equal_literals_are_told_apart_by_what_they_divide(self):
        source = multiplied(
            """
            grid = (triton.cdiv(N, 64) * triton.cdiv(M, 64),)
            product[grid](ARGS, TM=64, TN=64, TK=32, G=8)
            """
        )
        changed = set_knobs(source, "product", {"TM": 128})
        assert "grid = (triton.cdiv(N, 64) * triton.cdiv(M, 128),)" in changed
        assert "TM=128, TN=64" in changed

    def test_rounding_up_by_hand_and_nested_grid_functions(self):
        by_hand = scaled(
            "grid = ((n + SIZE - 1) // SIZE,)\nscale[grid](x, y, n, SIZE)", before="SIZE = 64\n"
        )
        assert by_name(by_hand)["B"].value == 64
        nested = scaled(
            'def grid(meta):\n    return (-(-n // meta["B"]),)\nscale[grid](x, y, n, B=64)'
        )
        assert by_name(nested)["B"].value == 64
        assert not by_name(nested)["B"].in_grid_as_literal

    def test_grid_through_an_alias_of_the_constant(self):
        source = scaled(
            "block = SIZE\nscale[(triton.cdiv(n, SIZE),)](x, y, n, B=block)", before="SIZE = 64\n"
        )
        assert by_name(source)["B"].kind == "module"


class TestSharing:
    def test_one_constant_of_two_kernels_changes_both(self):
        second = SCALE.replace("def scale", "def shift").replace("x * 2.0", "x + 1.0")
        source = scaled(
            """
            scale[(triton.cdiv(n, SIZE),)](x, y, n, SIZE)
            shift[(triton.cdiv(n, SIZE),)](y, y, n, B=SIZE, num_warps=2)
            """,
            before="SIZE = 64\n" + second,
        )
        knobs = {(each.kernel, each.name): each for each in find_knobs(source)}
        assert knobs["scale", "B"].shared_with == ("shift",)
        assert knobs["shift", "B"].shared_with == ("scale",)
        assert knobs["shift", "num_warps"].shared_with == ()
        assert [each.kernel for each in find_knobs(source)] == ["scale"] * 3 + ["shift"] * 3


class TestSetting:
    def test_layout_of_a_launch_with_one_argument_a_line_is_kept(self):
        launch = """
        scale[(triton.cdiv(n, 64),)](
            x,
            y,
            n,
            B=64,  # elements
        )
        """
        changed = set_knobs(scaled(launch), "scale", {"num_warps": 8, "num_stages": 2, "B": 128})
        expected = (
            "B=128,  # elements\n            num_warps=8,\n            num_stages=2,\n        )\n"
        )
        assert expected in changed
        ast.parse(changed)

    def test_unknown_knob_is_refused_with_what_there_is(self):
        source = scaled("scale[(triton.cdiv(n, 64),)](x, y, n, B=64)")
        with pytest.raises(BadRequest, match="no knob Z") as caught:
            set_knobs(source, "scale", {"Z": 1})
        assert "num_warps" in str(caught.value)

    def test_syntax_error_names_the_line(self):
        with pytest.raises(BadKernel) as caught:
            find_knobs("x = (\n")
        assert caught.value.line is not None

    def test_setting_the_same_values_changes_nothing(self):
        source = scaled("scale[(triton.cdiv(n, 64),)](x, y, n, B=64)")
        assert set_knobs(source, "scale", {"B": 64}) == source


ATTENTION = """
@triton.jit
def inner(acc, m_i, l_i, q, k_ptr, v_ptr, sk, hi, BN: tl.constexpr, D: tl.constexpr):
    d = tl.arange(0, D)
    for start in range(0, hi, BN):
        cols = start + tl.arange(0, BN)
        k = tl.load(k_ptr + d[:, None] + cols[None, :] * sk)
        v = tl.load(v_ptr + cols[:, None] * sk + d[None, :])
        s = tl.dot(q, k)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        acc = acc * tl.exp(m_i - m_new)[:, None] + tl.dot(p.to(v.dtype), v)
        l_i = l_i * tl.exp(m_i - m_new) + tl.sum(p, 1)
        m_i = m_new
    return acc, m_i, l_i

@triton.jit
def attend(q_ptr, k_ptr, v_ptr, o_ptr, sq, sk, L,
           BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * sq + d[None, :])
    acc = tl.zeros([BM, D], dtype=tl.float32)
    m_i = tl.full([BM], float("-inf"), tl.float32)
    l_i = tl.zeros([BM], tl.float32)
    acc, m_i, l_i = inner(acc, m_i, l_i, q, k_ptr, v_ptr, sk, L, BN, D)
    tl.store(o_ptr + rows[:, None] * sq + d[None, :], acc / l_i[:, None])
"""


def test_attention_has_rows_and_columns_found_through_a_helper_kernel():
    forward = """
    L, D = x.shape
    attend[(triton.cdiv(L, 64),)](x, w, w, x, D, D, L, BM=64, BN=32, D=64)
    return x
    """
    knobs = by_name(HEADER + ATTENTION + model(forward))
    assert {name: each.role for name, each in knobs.items() if each.value} == {
        "BM": Role.M,
        "BN": Role.N,
    }


def test_tile_of_a_column_reduction_knows_its_contiguous_axis():
    kernel = """
@triton.jit
def columns(x_ptr, y_ptr, rows, cols, stride, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    total = tl.zeros((BC,), dtype=tl.float32)
    for start in range(0, rows, BR):
        r = start + tl.arange(0, BR)
        at = r[:, None] * stride + c[None, :]
        total += tl.sum(tl.load(x_ptr + at, mask=(r[:, None] < rows) & (c[None, :] < cols)), 0)
    tl.store(y_ptr + c, total, mask=c < cols)
"""
    forward = """
    columns[lambda meta: (triton.cdiv(x.shape[1], meta["BC"]),)](
        x, w, x.shape[0], x.shape[1], x.stride(0), BR=32, BC=64)
    return w
    """
    knobs = by_name(HEADER + kernel + model(forward))
    assert (knobs["BR"].role, knobs["BC"].role) == (Role.ROWS, Role.BLOCK)


def test_knobs_are_set_though_the_parsed_file_was_forgotten_meanwhile():
    source = scaled("scale[(triton.cdiv(n, 256),)](x, y, n, B=256, num_warps=2)")
    assert by_name(source)["B"].value == 256
    parse_tree.cache_clear()
    assert by_name(set_knobs(source, "scale", {"B": 1024}))["B"].value == 1024
