import pytest

from xeforge.domain.issue import Severity
from xeforge.intake.issues import grid_block_mismatch

TUNED = """
@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64}),
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128}),
    ],
    key=["M"],
)
@triton.jit
def k(x, y, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    offs_m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(y + offs_m[:, None] + offs_n[None, :], 0.0)

def run(x, y):
    M, N = x.shape
    BLOCK = 128
    grid = GRID
    k[grid](x, y, M, N)
"""


@pytest.mark.parametrize(
    "grid",
    [
        "(triton.cdiv(M, 128), triton.cdiv(N, 128))",
        "((M + 127) // 128, (N + 128 - 1) // 128)",
        "(triton.cdiv(M, BLOCK), triton.cdiv(N, BLOCK))",
        "lambda meta: (triton.cdiv(M, 128), triton.cdiv(N, meta['BLOCK_N']))",
    ],
)
def test_fixed_grid_for_a_tuned_block(detect, blamed, grid):
    source = TUNED.replace("GRID", grid)
    issue = detect(grid_block_mismatch, source)[0]
    assert issue.severity is Severity.ERROR
    assert "one program for each 128 elements" in issue.message
    assert "BLOCK_M = 64" in issue.message
    assert blamed(source, issue) == "k[grid](x, y, M, N)"


@pytest.mark.parametrize(
    "grid",
    [
        "lambda meta: (triton.cdiv(M, meta['BLOCK_M']), triton.cdiv(N, meta['BLOCK_N']))",
        "(triton.cdiv(M, 64), triton.cdiv(N, 64))",
        "(M, N)",
        "(triton.cdiv(M, some_block(x)), N)",
        "(triton.cdiv(M, x.shape[0]), triton.cdiv(N, 32))",
    ],
)
def test_grids_that_cover_everything_or_are_not_known(detect, grid):
    assert detect(grid_block_mismatch, TUNED.replace("GRID", grid)) == ()


ONE_AXIS = """
@triton.autotune(configs=[triton.Config({"B": 64}), triton.Config({"B": 128})], key=["n"])
@triton.jit
def k(x, y, n, GROUP: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    BODY

def run(x, y, n):
    k[(triton.cdiv(n, 128),)](x, y, n, GROUP=GROUPS)
"""


@pytest.mark.parametrize(
    ("body", "groups"),
    [
        ("for start in range(0, n, B): tl.store(y + pid * n + start, 0.0)", 1),
        (
            "for tile in range(pid, n, tl.num_programs(0)): tl.store(y + tile * B, 0.0)",
            1,
        ),
        ("for tile in range(pid, n, 7): tl.store(y + tile * B, 0.0)", 1),
        ("offs = pid * 2 * B + tl.arange(0, 256)", 1),
        ("first = pid * 2; offs = first * B + tl.arange(0, 256)", 1),
        ("offs = pid * GROUP * B + tl.arange(0, B)", 2),
    ],
)
def test_programs_that_do_more_than_one_block_are_left_alone(detect, body, groups):
    source = ONE_AXIS.replace("BODY", body).replace("GROUPS", str(groups))
    assert detect(grid_block_mismatch, source) == ()


GROUPED = """
@triton.autotune(configs=[triton.Config({"BM": 32, "BN": 64}), triton.Config({"BM": 64, "BN": 64})],
                 key=["M"])
@triton.jit
def k(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    pid = tl.program_id(0)
    blocks_n = tl.cdiv(N, BN)
    pid_m = pid // blocks_n
    pid_n = pid % blocks_n
    tl.store(y + (pid_m * BM + tl.arange(0, BM))[:, None] + (pid_n * BN + tl.arange(0, BN)), 0.0)

def run(x, y, M, N):
    k[(triton.cdiv(M, 64) * triton.cdiv(N, 64),)](x, y, M, N)
"""


def test_two_blocks_on_one_axis_are_compared_by_area(detect):
    (issue,) = detect(grid_block_mismatch, GROUPED)
    assert "each 4096 elements" in issue.message
    assert "BM x BN = 2048" in issue.message
    assert detect(grid_block_mismatch, GROUPED.replace("(N, 64)", "(N, 32)")) == ()


FIXED = """
SIZE = 256

@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offs, 0.0, mask=offs < n)

def run(x, y, n):
    k[(triton.cdiv(n, SIZE),)](x, y, n, %s)
"""


def test_untuned_blocks_are_compared_too_but_only_warned_about(detect):
    (issue,) = detect(grid_block_mismatch, FIXED % "BLOCK=128")
    assert issue.severity is Severity.WARNING
    (issue,) = detect(grid_block_mismatch, FIXED % "128")
    assert issue.severity is Severity.WARNING


@pytest.mark.parametrize("argument", ["BLOCK=SIZE", "BLOCK=256", "BLOCK=512", "BLOCK=pick(n)"])
def test_untuned_blocks_that_fit(detect, argument):
    assert detect(grid_block_mismatch, FIXED % argument) == ()
