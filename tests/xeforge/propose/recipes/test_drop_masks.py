import pytest

from tests.xeforge.propose.conftest import make_workload
from tests.xeforge.propose.samples import EVEN
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import MULTIPLY
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import RAGGED
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import product
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_all import MASKS
from tests.xeforge.propose.samples_all import SQUARE
from tests.xeforge.propose.samples_all import SUMMED
from tests.xeforge.propose.samples_all import TOTAL
from xeforge.propose.recipes import drop_masks
from xeforge.source.knobs import find_knobs

HEURISTICS = """@triton.heuristics(
    {
        "EVEN_K": lambda args: args["K"] % args["TK"] == 0,
        "EVEN_M": lambda args: args["M"] % args["TM"] == 0,
        "EVEN_N": lambda args: args["N"] % args["TN"] == 0,
    }
)
@triton.jit
"""
LOADS = """        if EVEN_M and EVEN_K:
            a = tl.load(a_ptrs)
        else:
            a = tl.load(a_ptrs, mask=(rm[:, None] < M) & (rk[None, :] < K - k * TK), other=0.0)
"""


def test_accesses_get_a_variant_without_masks(rewrites):
    (found,) = rewrites(drop_masks, MASKS["product"])
    assert HEURISTICS in found.source
    assert LOADS in found.source
    assert (
        "    if EVEN_M and EVEN_N:\n        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty))"
        in (found.source)
    )
    assert "    EVEN_N: tl.constexpr,\n):" in found.source
    assert "EVEN_K, EVEN_M, EVEN_N" in found.because


def test_flags_stand_between_autotuner_and_jit(rewrites):
    (found,) = rewrites(drop_masks, MASKS["autotuned"])
    head = found.source.split("def product_kernel")[0]
    assert head.index("autotune") < head.index("heuristics") < head.index("@triton.jit")


def test_several_accesses_in_one_statement_share_a_branch(rewrites):
    (found,) = rewrites(drop_masks, MASKS["reduction"])
    assert "acc += tl.sum(tl.load(x_ptr + at) * tl.load(w_ptr + at), 0)\n" in found.source
    assert "if EVEN_ROWS and EVEN_COLS:" in found.source
    assert "if EVEN_COLS:\n        tl.store(y_ptr + c, acc)" in found.source


def test_only_sizes_that_some_timed_workload_has_even(rewrites):
    assert rewrites(drop_masks, MASKS["product"], shapes=RAGGED) == ()
    even = make_workload(*EVEN, name="bench[1]")
    assert rewrites(drop_masks, MASKS["product"], shapes=RAGGED, more=[even])
    checked = make_workload(*EVEN, name="ci[0]", is_timed=False)
    assert rewrites(drop_masks, MASKS["product"], shapes=RAGGED, more=[checked]) == ()
    (rows_only,) = rewrites(drop_masks, MASKS["product"], shapes=((64, 37), (37, 41)))
    assert "EVEN_M" in rows_only.source
    assert "EVEN_K" not in rows_only.source
    assert "a = tl.load(a_ptrs, mask=(rk[None, :] < K - k * TK), other=0.0)" in rows_only.source


@pytest.mark.parametrize(
    "pairs",
    [
        (
            ("rm[:, None] < M", "rm[:, None] < M - 1"),
            ("rn[None, :] < N", "rn[None, :] < N - 1"),
            ("< K - k * TK", "< K - k * TK - 1"),
        ),
        (
            ("rm[:, None] < M", "rm[:, None] <= M"),
            ("rn[None, :] < N", "rn[None, :] <= N"),
            ("< K - k * TK", "<= K - k * TK"),
        ),
        (
            ("row * TM + ", "row * TM + 1 + "),
            ("col * TN + ", "col * TN + 1 + "),
            ("tl.cdiv(K, TK)", "tl.cdiv(K, TK) + 1"),
        ),
        (
            ("tl.arange(0, TM)", "2 * tl.arange(0, TM)"),
            ("tl.arange(0, TN)", "2 * tl.arange(0, TN)"),
            ("tl.arange(0, TK)", "2 * tl.arange(0, TK)"),
        ),
    ],
)
def test_masks_that_do_something_stay(rewrites, pairs):
    assert rewrites(drop_masks, product(replaced(PRODUCT, *pairs))) == ()


@pytest.mark.parametrize(
    "grid",
    [
        "(triton.cdiv(M, 32) + 1, triton.cdiv(N, 16) + 1)",
        "(triton.cdiv(M, 16), triton.cdiv(N, 8))",
        "(triton.cdiv(M + 1, 32), triton.cdiv(N + 1, 16))",
        "(4, 4)",
    ],
)
def test_grids_that_may_go_beyond_the_extent_keep_their_masks(rewrites, grid):
    forward = replaced(MULTIPLY, ("(triton.cdiv(M, 32), triton.cdiv(N, 16))", grid))
    found = rewrites(drop_masks, product(forward=forward))
    assert all("EVEN_M" not in each.source and "EVEN_N" not in each.source for each in found)


def test_a_loop_over_something_else_proves_nothing(rewrites):
    kernel = replaced(
        TOTAL,
        (
            "    for start in range(0, rows, BR):",
            (
                "    for start in range(0, rows, BR):\n"
                "        acc += 0\n"
                "    for start in range(0, cols, BR):"
            ),
        ),
    )
    source = HEADER + kernel + model(SUMMED)
    found = rewrites(drop_masks, source, shapes=SQUARE)
    assert all("EVEN_ROWS" not in each.source for each in found)


def test_a_block_that_no_launch_passes_cannot_be_asked_for(rewrites):
    kernel = replaced(PRODUCT, ("TK: tl.constexpr,", "TK: tl.constexpr = 16,"))
    sample = product(kernel, replaced(MULTIPLY, (", TK=16", "")))
    (found,) = rewrites(drop_masks, sample)
    assert "EVEN_K" not in found.source


def test_applied_twice_changes_nothing_more(rewrites):
    (found,) = rewrites(drop_masks, MASKS["product"])
    assert rewrites(drop_masks, found.source, shapes=EVEN) == ()


def test_blocks_stay_knobs(rewrites):
    (found,) = rewrites(drop_masks, MASKS["product"])
    before = {each.name for each in find_knobs(MASKS["product"].source)}
    assert {each.name for each in find_knobs(found.source)} == before
