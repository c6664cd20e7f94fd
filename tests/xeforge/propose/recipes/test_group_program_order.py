import pytest

from tests.xeforge.propose.samples import GROUPINGS
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import MULTIPLY
from tests.xeforge.propose.samples import PRODUCT
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import product
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_flat import DOUBLE
from xeforge.propose.recipes import group_program_order
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import find_knobs

GROUPED = """    # Which tile is ours.
    pid = tl.program_id(0)
    num_pid_n = tl.cdiv(N, TN)
    num_pid_m = tl.num_programs(0) // num_pid_n
    pids_per_group = GROUP_M * num_pid_n
    first_pid_m = pid // pids_per_group * GROUP_M
    group_height = min(num_pid_m - first_pid_m, GROUP_M)
    row = first_pid_m + pid % pids_per_group % group_height
    col = pid % pids_per_group // group_height
"""


def test_two_axes_become_one(rewrites):
    (found,) = rewrites(group_program_order, GROUPINGS["one axis each"])
    assert GROUPED in found.source
    assert "    TK: tl.constexpr,\n    GROUP_M: tl.constexpr,\n):" in found.source
    assert "grid = (triton.cdiv(M, 32) * triton.cdiv(N, 16),)" in found.source
    assert "TK=16, GROUP_M=8)" in found.source
    assert "8 rows of tiles" in found.because


def test_new_parameter_is_a_knob_of_the_search(rewrites):
    (found,) = rewrites(group_program_order, GROUPINGS["one axis each"])
    knobs = {each.name: each for each in find_knobs(found.source)}
    assert knobs["GROUP_M"].role is Role.GROUP
    assert knobs["GROUP_M"].value == 8
    assert {name for name, each in knobs.items() if each.role in {Role.M, Role.N, Role.K}} == {
        "TM",
        "TN",
        "TK",
    }


def test_grid_of_a_lambda_is_flattened(rewrites):
    (found,) = rewrites(group_program_order, GROUPINGS["grid from a lambda"])
    expected = 'lambda meta: (triton.cdiv(M, meta["TM"]) * triton.cdiv(N, meta["TN"]),)'
    assert expected in found.source


def test_tile_order_that_is_cut_from_one_id_keeps_its_grid(rewrites):
    sample = GROUPINGS["row by row"]
    (found,) = rewrites(group_program_order, sample)
    assert "num_pid_n = tl.cdiv(N, TN)\n    num_pid_m = tl.num_programs(0) // num_pid_n" in (
        found.source
    )
    assert sample.source.split("class Model")[1].split("product_kernel")[0] in found.source


def test_batch_axis_moves_up(rewrites):
    (found,) = rewrites(group_program_order, GROUPINGS["batched third axis"])
    assert "batch = tl.program_id(1)" in found.source
    assert "grid = (triton.cdiv(M, 32) * triton.cdiv(N, 16), B)" in found.source


def test_grid_that_cannot_be_read_stays_two_dimensional(rewrites):
    (found,) = rewrites(group_program_order, GROUPINGS["grid that says nothing"])
    assert "pid = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)" in found.source
    assert "grid = tuple([rows, cols])" in found.source


def test_grid_shared_with_another_kernel_stays(rewrites):
    twice = PRODUCT + PRODUCT.replace("def product", "def second").replace(
        "row = tl.program_id(0)", "row = tl.program_id(0) + 0"
    )
    launch = MULTIPLY.split("product_kernel[grid]")[1].split("\n")[0]
    forward = replaced(MULTIPLY, ("return c", f"second_kernel[grid]{launch}\nreturn c"))
    (found,) = rewrites(group_program_order, product(twice, forward))
    assert "grid = (triton.cdiv(M, 32), triton.cdiv(N, 16))" in found.source
    assert "second_kernel[grid]" in found.source
    assert found.source.count("GROUP_M=8") == 1


def test_defaults_of_other_parameters_ask_for_one(rewrites):
    kernel = replaced(PRODUCT, ("TK: tl.constexpr,", "TK: tl.constexpr = 16,"))
    (found,) = rewrites(group_program_order, product(kernel))
    assert "GROUP_M: tl.constexpr = 8,\n):" in found.source


@pytest.mark.parametrize(
    "pairs",
    [
        (("row = tl.program_id(0)", "row, _ = tl.swizzle2d(tl.program_id(0), 0, 4, 4, 4)"),),
        (("row = tl.program_id(0)", "row = tl.program_id(0) + 1"),),
        (
            (
                "    row = tl.program_id(0)\n    col = tl.program_id(1)\n",
                "    col = tl.program_id(1)\n    row = col\n",
            ),
        ),
    ],
)
def test_look_alikes_are_left_alone(rewrites, pairs):
    assert rewrites(group_program_order, product(replaced(PRODUCT, *pairs))) == ()


def test_applied_twice_changes_nothing_more(rewrites):
    (found,) = rewrites(group_program_order, GROUPINGS["one axis each"])
    again = rewrites(group_program_order, found.source, shapes=GROUPINGS["one axis each"].timed)
    assert again == ()


def test_kernels_without_products_are_left_alone(rewrites):
    forward = "double_kernel[(triton.cdiv(x.numel(), 64),)](x, w, x.numel(), B=64)\nreturn w"
    source = HEADER + DOUBLE + model(forward)
    assert rewrites(group_program_order, source, shapes=((64, 64), (64, 64))) == ()
