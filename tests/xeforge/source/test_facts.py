"""What is read off a kernel file once for all detectors: bodies, addresses, settings, host flow."""

import ast
import textwrap

import pytest

from xeforge.source.accumulators import accumulated
from xeforge.source.addresses import lanes_of
from xeforge.source.addresses import made_by
from xeforge.source.addresses import pointer_of
from xeforge.source.addresses import rank_of
from xeforge.source.facts import read_facts
from xeforge.source.handovers import handovers
from xeforge.source.product_loads import multiplied
from xeforge.source.product_loads import product_loads
from xeforge.source.strides import certainly_not_one
from xeforge.source.walks import repeated_walks

HEAD = """
import torch
import triton
import triton.language as tl
from triton.language import exp as e
"""
MM = """
@triton.jit
def pick(p, rows, cols, stride):
    return tl.load(p + rows[:, None] * stride + cols[None, :])

@triton.autotune(configs=[triton.Config({"BM": 64, "BN": 32}, num_warps=2)], key=["K"])
@triton.jit
def mm(a, b, c, index, M, N, K, wide, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr = 16):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    blk = tl.make_block_ptr(b, (K, N), (N, 1), (0, 0), (BK, BN), (1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        left = tl.load(pa)
        right = tl.load(blk)
        far = tl.load(b + tl.load(index + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(left, right, acc)
        pa += BK
        blk = tl.advance(blk, (BK, 0))
    bias = pick(wide, rm, rk, 3)
    tl.store(c + rm[:, None] * N + rn[None, :], e(acc) + bias)

class Model(torch.nn.Module):
    def forward(self, x, y, index):
        m, k = x.shape
        out = torch.empty((m, y.shape[1]), device=x.device)
        mm[(4, 4)](x, y.t(), out.view(-1), index, m, y.shape[1], k, y)
        return out
"""


@pytest.fixture(scope="module")
def facts():
    return read_facts(HEAD + textwrap.dedent(MM), "k.py")


@pytest.fixture(scope="module")
def body(facts):
    return facts.bodies["mm"]


def load(body, name):
    """Return the load that is bound to a name."""
    place = next(each.place for each in body.bindings if each.name == name)
    return next(each for each in body.named("load") if each.place.index == place.index)


def test_imported_names_are_known_by_their_own(body):
    assert [each.name for each in body.calls if each.line == body.named("store")[0].line] == [
        "store",
        "exp",
    ]


def test_pointers_are_followed_through_names_steps_and_block_pointers(body):
    store = body.named("store")[0]
    assert pointer_of(body, store.first, store.place.index) == "c"
    left, right = load(body, "left"), load(body, "right")
    assert pointer_of(body, left.first, left.place.index) == "a"
    assert pointer_of(body, right.first, right.place.index) == "b"
    made = made_by(body, right.first, right.place.index)
    assert ast.unparse(made).startswith("tl.make_block_ptr(b")
    assert made_by(body, left.first, left.place.index) is None


def test_lanes_know_axis_extent_and_factors(body):
    left = load(body, "left")
    rows, columns = lanes_of(body, left.first, left.place.index)
    assert (rows.axis, rows.extent, [ast.unparse(f) for f in rows.factors]) == (0, "BM", ["K"])
    assert (columns.axis, columns.extent, columns.factors) == (1, "BK", ())
    far = load(body, "far")
    gathered, wrapped = lanes_of(body, far.first, far.place.index)
    assert gathered.is_loaded
    assert not wrapped.is_plain
    assert not wrapped.is_loaded


def test_ranks(body):
    last = body.named("store")[0].place.index
    ranks = {"rm": 1, "pa": 2, "acc": 2, "right": 2, "blk": 2}
    for name, rank in ranks.items():
        assert rank_of(body, ast.Name(name, ast.Load()), last) == rank, name


def test_products_and_their_loads(body):
    assert [ast.unparse(each.node) for each in product_loads(body)] == [
        "tl.load(pa)",
        "tl.load(blk)",
    ]
    assert multiplied(body) == {"a", "b"}


def test_accesses_count_through_helpers(facts):
    assert facts.touched("mm", "load") == {"a", "b", "index", "wide"}
    assert facts.touched("mm", "store") == {"c"}


def test_settings_join_configuration_launch_and_default(facts):
    (setting,) = facts.settings["mm"]
    assert setting.values == {"BM": 64, "BN": 32, "BK": 16}
    assert (setting.num_warps, setting.is_config) == (2, True)
    assert accumulated(facts.bodies["mm"], setting.values) == 64 * 32


def test_factors_are_judged_by_what_launches_pass(facts):
    assert certainly_not_one(facts, "mm", ast.Name("K", ast.Load()))
    assert not certainly_not_one(facts, "mm", ast.Name("wide", ast.Load()))
    assert not certainly_not_one(facts, "mm", ast.Constant(1))


def test_views_have_the_tensor_they_show_as_root(facts):
    (scope,) = facts.scopes
    (launch,) = scope.launches
    assert scope.root(launch.arguments["c"], launch.site.line) == "out"
    assert scope.root(launch.arguments["b"], launch.site.line) is None


def test_a_grid_function_with_annotations_is_read():
    source = """
    @triton.jit
    def k(x, B: tl.constexpr):
        tl.store(x + tl.program_id(0) * B + tl.arange(0, B), 0)

    def run(x):
        def grid(meta: dict[str, int]):
            return (triton.cdiv(x.numel(), meta["B"]),)
        k[grid](x, B=64)
    """
    found = read_facts(HEAD + textwrap.dedent(source), "k.py")
    text = found.launches[0].site.resolved_grid
    assert text == "lambda meta: (triton.cdiv(x.numel(), meta['B']),)"


WALKS = """
@triton.jit
def k(x, y, n, B: tl.constexpr):
    row = x + tl.program_id(0) * n
    for i in range(0, n, B):
        a = tl.load(row + i + tl.arange(0, B))
    for j in range(0, n, B):
        offs = j + tl.arange(0, B)
        b = tl.load(row + offs)
        c = tl.load(y + offs)
"""


def test_loops_that_walk_the_same_data():
    body = read_facts(HEAD + WALKS, "k.py").bodies["k"]
    (walk,) = repeated_walks(body)
    assert [ast.unparse(each.node.args[0]) for each in walk.loads] == [
        "row + i + tl.arange(0, B)",
        "row + offs",
    ]
    assert walk.loops == tuple(loop for loop, _ in body.loops)


CHAIN = """
@triton.jit
def double(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) * 2)

@triton.jit
def total(x, y, B: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, B)), axis=0))

class Model(torch.nn.Module):
    def forward(self, x):
        h = torch.empty_like(x)
        s = torch.empty(1)
        double[(1,)](x, h, B=128)
        total[(1,)](h.view(-1), s, B=128)
        return s
"""


def test_tensors_that_one_launch_hands_to_the_next():
    facts = read_facts(HEAD + CHAIN, "k.py")
    (handover,) = handovers(facts, facts.scopes[0])
    assert (handover.name, handover.second.kernel.name) == ("h", "total")
    assert [facts.kind(each) for each in facts.contents.jit_functions] == [
        "elementwise",
        "reduction",
    ]


UNPACKED = """
@triton.jit
def tile(pid, n):
    return pid // n, pid % n

@triton.jit
def k(x, y, n, B: tl.constexpr):
    i, j = tile(tl.program_id(0), n)
    tl.store(y + j, tl.load(x + i))
"""


def test_what_was_unpacked_depends_on_the_whole():
    body = read_facts(HEAD + UNPACKED, "k.py").bodies["k"]
    store = body.named("store")[0]
    assert "program_id()" in body.sources(store.first, store.place.index)


REBOUND = """
@triton.jit
def k(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 0)

class Model(torch.nn.Module):
    def forward(self, x):
        y = x.sum()
        y = (
            y
            + 1
        )
        k[(1,)](y, B=128)
        return y
"""


def test_a_name_bound_anew_over_several_lines_means_the_old_one_inside():
    facts = read_facts(HEAD + REBOUND, "k.py")
    (scope,) = facts.scopes
    whole = scope.bindings["y"][1][0]
    assert ast.unparse(scope.value(whole.left, whole.left.lineno)) == "x.sum()"
