"""What operators cost, counted by hand."""

from tests.xeforge.fusion.algebra.cases import Case
from xeforge.fusion.algebra.work import APART
from xeforge.fusion.algebra.work import JOINED
from xeforge.fusion.algebra.work import LAUNCH_S
from xeforge.fusion.algebra.work import Work
from xeforge.fusion.algebra.work import work_of


def work(case, ref, model=APART):
    return work_of(case.graph(ref), model)


def test_a_linear_layer_reads_its_operands_and_writes_its_result():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(5, 4), case.parameter(5))
    assert work(case, linear) == Work(8 * (12 + 20 + 5 + 15), 2 * 3 * 4 * 5, 0)


def test_a_transposed_convolution_counts_its_inputs():
    case = Case()
    args = (case.input(2, 3, 5), case.parameter(3, 4, 2), None, [2])
    assert work(case, case.op("conv_transpose1d", *args)).matrix_flops == 2 * 2 * 5 * (3 * 4 * 2)
    case = Case()
    conv = case.op("conv1d", case.input(2, 3, 5), case.parameter(4, 3, 2))
    assert work(case, conv).matrix_flops == 2 * 2 * 4 * (4 * 3 * 2)


def test_views_and_numbers_are_free():
    case = Case()
    x = case.op("permute", case.op("view", case.input(4, 6), [2, 12]), [1, 0])
    assert work(case, x) == Work()
    assert work(case, case.op("full", (100,), 1.0)) == Work()


def test_a_norm_reads_three_times_and_one_in_eval_mode_once():
    case = Case()
    norm = case.op("layer_norm", case.input(3, 4), [4], None, None, 1e-5, False)
    assert work(case, norm).moved_bytes == 8 * 12 * 4
    case = Case()
    statistics = case.parameter(4), case.parameter(4)
    norm = case.op("batch_norm", case.input(3, 4), None, None, *statistics, False, 0.1, 1.0, True)
    assert work(case, norm).moved_bytes == 8 * (12 + 4 + 4 + 12)


def test_an_operand_that_is_read_twice_moves_once():
    case = Case()
    x = case.input(5)
    assert work(case, case.op("mul", x, x)).moved_bytes == 8 * 10


def test_joined_epilogues_move_nothing():
    case = Case()
    linear = case.op("linear", case.input(3, 4), case.parameter(5, 4))
    relu = case.op("relu", linear)
    apart, joined = work(case, relu), work(case, relu, JOINED)
    assert apart.moved_bytes - joined.moved_bytes == 2 * 8 * 15
    assert joined.launch_seconds == LAUNCH_S
    again = case.op("mul", relu, linear)
    assert work(case, again, JOINED).launch_seconds == 2 * LAUNCH_S


def test_seconds_add_up():
    assert (Work(4, 6, 3) + Work(1, 1, 1, 0.5)) == Work(5, 7, 4, 0.5)
    assert Work(4 * 10**12).seconds == 1.0
    assert Work(0, 6 * 10**14).seconds == 1.0
    assert Work(0, 0, 3 * 10**13).seconds == 1.0
