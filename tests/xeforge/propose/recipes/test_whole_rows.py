from dataclasses import replace

import pytest

from tests.xeforge.propose.conftest import DEVICE
from tests.xeforge.propose.conftest import make_problem
from tests.xeforge.propose.conftest import make_workload
from tests.xeforge.propose.samples import HEADER
from tests.xeforge.propose.samples import model
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_all import NORM
from tests.xeforge.propose.samples_all import NORMED
from tests.xeforge.propose.samples_all import ROWS
from xeforge.propose.recipes import drop_masks
from xeforge.propose.recipes import whole_rows
from xeforge.source.knobs import find_knobs

FIRST_LOOP = NORM[NORM.index("    for") : NORM.index("    scale")]
SHAPES = ((8, 3000), (8, 3000))


def normed(*pairs, forward=()):
    return HEADER + replaced(NORM, *pairs) + model(replaced(NORMED, *forward))


def test_block_holds_the_longest_row_and_loops_get_constant_bounds(rewrites):
    longer = make_workload((8, 5000), (8, 5000), name="bench[1]")
    (found,) = rewrites(whole_rows, normed(), shapes=SHAPES, more=[longer])
    assert found.source.count("for start in range(0, B if WHOLE_ROW else n, B):") == 2
    assert '"WHOLE_ROW": lambda args: args["n"] <= args["B"],' in found.source
    assert "norm_kernel[(rows,)](x, w, y, n, B=8192, num_warps=16)" in found.source
    assert found.because == (
        "norm_kernel: one block holds a whole row (B=8192, num_warps=16), so that the row is read "
        "once"
    )


def test_block_and_warps_stay_knobs(rewrites):
    (found,) = rewrites(whole_rows, ROWS["norm"])
    knobs = {each.name: each for each in find_knobs(found.source)}
    assert knobs["B"].value == 32
    assert knobs["B"].is_step
    assert knobs["num_warps"].value == 1


def test_masks_can_still_go_afterwards(rewrites):
    (found,) = rewrites(whole_rows, ROWS["norm"])
    (both,) = rewrites(drop_masks, found.source, shapes=ROWS["norm"].timed)
    assert "if EVEN_N:" in both.source


def test_a_device_without_warps_is_left_alone():
    problem = make_problem(ROWS["norm"].source, [make_workload(*ROWS["norm"].timed)])
    bare = replace(DEVICE, num_warps=(), threads_per_group=None)
    assert whole_rows.apply(problem.kernel.text, problem, bare) == ()
    assert len(whole_rows.apply(problem.kernel.text, problem, DEVICE)) == 1


def test_warps_stay_within_the_device(rewrites):
    (found,) = rewrites(whole_rows, normed(), shapes=((8, 20000), (8, 20000)))
    assert "B=32768, num_warps=16" in found.source


@pytest.mark.parametrize(
    ("kernel", "forward"),
    [
        (
            (
                (
                    FIRST_LOOP,
                    "",
                ),
            ),
            (),
        ),
        ((("n, B: tl.constexpr", "n: tl.constexpr, B: tl.constexpr"),), ()),
        ((("range(0, n, B)", "range(0, n - 1, B)"),), ()),
        ((("range(0, n, B)", "range(B, n, B)"),), ()),
        ((), (("B=16", "B=rows"),)),
        ((), (("(x, w, y, n,", "(x, w, y, mystery(n),"),)),
    ],
)
def test_look_alikes_are_left_alone(rewrites, kernel, forward):
    assert rewrites(whole_rows, normed(*kernel, forward=forward), shapes=SHAPES) == ()


def test_rows_that_no_program_can_hold_are_walked_in_steps(rewrites):
    assert rewrites(whole_rows, normed(), shapes=((2, 50000), (2, 50000))) == ()
