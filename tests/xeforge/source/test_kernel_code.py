import ast

from xeforge.source.imports import read_imports
from xeforge.source.kernel_code import block_products
from xeforge.source.kernel_code import program_axes
from xeforge.source.kernel_code import strides_over_programs

SOURCE = """
def k(x, n, BM, BN):
    pid = tl.program_id(0)
    pid_m = pid // n
    pid_n = tl.program_id(axis=1).to(tl.int64)
    offs_m = pid_m * BM + tl.arange(0, BM)
    offs_n = BN * pid_n
    rest = offs_m * BN
    tl.store(x, tl.program_id(2) * BM)
"""


def kernel(source=SOURCE):
    tree = ast.parse(source)
    return tree.body[0], read_imports(tree)


def test_axes_reach_through_names_but_not_through_offsets():
    assert program_axes(*kernel()) == {
        "pid": {0},
        "pid_m": {0},
        "pid_n": {1},
        "offs_n": {1},
    }


def test_products_of_program_numbers_with_blocks():
    node, imports = kernel()
    found = block_products(node, frozenset({"BM", "BN"}), imports)
    assert {(each.block, tuple(each.axes)) for each in found} == {
        ("BM", (0,)),
        ("BN", (1,)),
        ("BM", (2,)),
    }


def test_persistent_loops_are_recognised():
    assert not strides_over_programs(*kernel())
    loop = "def k(x, n, STEP):\n    for tile in range(tl.program_id(0), n, STEP): pass\n"
    assert strides_over_programs(*kernel(loop))
    inner = "def k(x, n, STEP):\n    for start in range(0, n, STEP): pass\n"
    assert not strides_over_programs(*kernel(inner))
    asks = "def k(x, n):\n    step = tl.num_programs(0)\n"
    assert strides_over_programs(*kernel(asks))
