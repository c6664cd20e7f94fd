"""Which groups known graphs become, and that they compute the same."""

from dataclasses import replace

import pytest

from tests.xeforge.fusion.fuse.plans import assert_same_values
from tests.xeforge.fusion.fuse.plans import families
from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.fuse.groups import plan
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.machine import H200


def planned(recorder, *outputs, machine=H200):
    program = program_of(recorder, *outputs)
    found = plan(program, machine)
    assert_same_values(program, found, recorder.given())
    return found


def kinds(found):
    return [each.family for each in found.groups]


def names(axes):
    return [each.name for each in axes]


@pytest.fixture
def recorder():
    return Recorder()


def linear(recorder, rows=6, deep=5, wide=8, *lead):
    x, w = recorder.input(*lead, rows, deep), recorder.parameter(wide, deep)
    return recorder.op("linear", x, w, recorder.parameter(wide))


def test_product_bias_activation_and_residual_are_one_kernel(recorder):
    y = recorder.op("gelu", linear(recorder))
    found = planned(recorder, recorder.op("add", y, recorder.input(6, 8)))
    (group,) = found.groups
    assert group.family == "contraction"
    assert [names(group.axes[role]) for role in ("batch", "m", "n", "k")] == [
        [],
        ["i"],
        ["j"],
        ["r"],
    ]
    assert group.stored == found.program.outputs


def test_batches_are_known_to_both_factors(recorder):
    left, right = recorder.input(3, 4, 5), recorder.input(3, 5, 6)
    (group,) = planned(recorder, recorder.op("matmul", left, right)).groups
    assert names(group.axes["batch"]) == ["i"]
    assert names(group.axes["m"]) == ["j"]


def test_softmax_after_a_product_folds_all_of_n(recorder):
    found = planned(recorder, recorder.op("softmax", linear(recorder), -1))
    (group,) = found.groups
    assert [each.reduced() for each in group.statements[2:4]] == [{"j"}, {"j"}]


def test_statistics_over_the_batch_swap_m_and_n(recorder):
    pair = recorder.parameter(8), recorder.parameter(8)
    y = recorder.op("batch_norm", linear(recorder), *pair, None, None, True, 0.1, 1e-2, False)
    (group,) = planned(recorder, y).groups
    assert names(group.axes["n"]) == ["i"]


def test_channels_of_a_group_norm_are_the_last_axis_of_n(recorder):
    pair = recorder.parameter(8), recorder.parameter(8)
    y = recorder.op("group_norm", linear(recorder), 4, *pair, 1e-2, False)
    found = planned(recorder, y)
    (group,) = found.groups
    assert [(each.name, each.extent) for each in group.axes["n"]] == [("j_0", 4), ("j_1", 2)]
    folds = [each for each in group.statements[1:] if each.reduce]
    assert [each.reduced() for each in folds] == [{"j_1"}, {"j_1"}]


def test_columns_that_no_tile_holds_are_folded_in_parts(recorder):
    y = linear(recorder, 4, 3, 1024)
    found = planned(recorder, recorder.op("sum", y, [1]))
    assert kinds(found) == ["contraction", "rows"]
    assert found.groups[0].stored == ("sum_4_parts",)
    assert [each.extent for each in found.groups[0].axes["n"]] == [8, 128]


def test_a_softmax_that_no_tile_holds_has_its_own_kernel(recorder):
    y = linear(recorder, 4, 3, 1024)
    found = planned(recorder, recorder.op("softmax", y, 1))
    assert kinds(found) == ["contraction", "rows"]
    assert [
        each.family for each in planned(recorder, recorder.op("softmax", y, 1), machine=CPU).groups
    ] == ["contraction"]


def test_layer_norm_with_its_residual_is_one_kernel_of_rows(recorder):
    x = recorder.op("add", recorder.input(4, 3, 8), recorder.input(4, 3, 8))
    pair = recorder.parameter(8), recorder.parameter(8)
    y = recorder.op("layer_norm", x, [8], *pair, 1e-2, False)
    (group,) = planned(recorder, x, recorder.op("relu", y)).groups
    assert group.family == "rows"
    assert [names(group.axes[role]) for role in ("row", "column")] == [["i", "j"], ["k"]]
    assert len(group.stored) == 2


@pytest.mark.parametrize("kind", ["group", "batch", "instance", "rms"])
def test_norms_of_images_are_one_kernel(recorder, kind):
    x = recorder.input(3, 4, 2, 5)
    pair = recorder.parameter(4), recorder.parameter(4)
    y = {
        "group": lambda: recorder.op("group_norm", x, 2, *pair, 1e-2, False),
        "batch": lambda: recorder.op("batch_norm", x, *pair, None, None, True, 0.1, 1e-2, False),
        "instance": lambda: recorder.op(
            "instance_norm", x, *pair, None, None, True, 0.1, 1e-2, False
        ),
        "rms": lambda: recorder.op("rms_norm", x, [2, 5], recorder.parameter(2, 5), 1e-2),
    }[kind]()
    assert kinds(planned(recorder, y)) == ["rows"]


def test_cross_entropy_is_rows_and_then_a_mean(recorder):
    logits = recorder.input(6, 10)
    target = recorder.input(6, low=0, high=9, dtype="int64")
    loss = recorder.op("cross_entropy_loss", logits, target)
    found = planned(recorder, loss)
    assert [(each.family, len(each.statements)) for each in found.groups] == [("rows", 3)] * 2


def test_chains_with_several_readers_and_outputs_are_one_kernel(recorder):
    x = recorder.input(4, 6)
    a = recorder.op("sigmoid", x)
    b = recorder.op("mul", a, x)
    c = recorder.op("add", a, recorder.parameter(6))
    (group,) = planned(recorder, b, c).groups
    assert group.family == "pointwise"
    assert group.local() == (a.name,)


def test_what_is_read_transposed_is_stored(recorder):
    x = recorder.op("exp", recorder.input(4, 4))
    y = recorder.op("add", x, recorder.op("permute", x, [1, 0]))
    found = planned(recorder, y)
    assert kinds(found) == ["pointwise", "pointwise"]
    assert found.groups[0].stored == (x.name,)


def test_cheap_producers_are_computed_again_where_they_are_read_askew(recorder):
    x = recorder.op("relu", recorder.input(4, 4))
    y = recorder.op("add", x, recorder.op("permute", x, [1, 0]))
    (group,) = planned(recorder, y).groups
    assert len(group.statements) == 1


def test_slices_and_padding_of_a_cheap_producer_leave_one_kernel(recorder):
    x = recorder.op("mul", recorder.input(4, 6), 2.0)
    y = recorder.op("slice", x, 1, 1, 5)
    y = recorder.op("pad", y, [1, 2], "constant", 0.5)
    (group,) = planned(recorder, recorder.op("neg", y)).groups
    assert group.family == "pointwise"


def test_a_broadcast_row_statistic_meets_columns_it_did_not_read(recorder):
    x = recorder.input(4, 8)
    total = recorder.op("sum", x, [1], True)
    found = planned(recorder, recorder.op("add", recorder.op("tanh", total), recorder.input(4, 8)))
    (group,) = found.groups
    assert names(group.statements[-1].axes) == ["i", "r"]


def test_a_prologue_is_part_of_the_factor(recorder):
    x, w = recorder.op("relu", recorder.input(6, 5)), recorder.parameter(8, 5)
    (group,) = planned(recorder, recorder.op("linear", x, w)).groups
    assert group.family == "contraction"


def test_two_products_are_two_kernels(recorder):
    y = recorder.op("gelu", linear(recorder))
    z = recorder.op("linear", y, recorder.parameter(4, 8))
    assert kinds(planned(recorder, z)) == ["contraction", "contraction"]


def test_a_vector_times_a_matrix_is_rows(recorder):
    y = recorder.op("mv", recorder.input(6, 5), recorder.input(5))
    assert kinds(planned(recorder, recorder.op("relu", y))) == ["rows"]


def test_a_convolution_says_why_it_is_a_nest(recorder):
    y = recorder.op("conv2d", recorder.input(2, 3, 6, 6), recorder.parameter(4, 3, 3, 3), None)
    found = planned(recorder, recorder.op("relu", y))
    assert kinds(found)[0] == "nest"
    assert any("window" in each for each in found.notes)


def test_pointwise_statements_follow_a_convolution_where_the_emitter_can(recorder):
    x, w = recorder.input(2, 3, 6, 6), recorder.parameter(4, 3, 3, 3)
    y = recorder.op("relu", recorder.op("conv2d", x, w, recorder.parameter(4), [1, 1], [1, 1]))
    found = planned(recorder, y, machine=replace(H200, nests_take_pointwise=True))
    (group,) = found.groups
    assert group.family == "nest"
    assert [each.extent for each in group.axes["point"]] == [2, 4, 6, 6]
    (group,) = planned(recorder, y, machine=replace(H200, contracts_windows=True)).groups
    assert group.family == "contraction"
    assert [group.extent(role) for role in ("m", "n", "k")] == [72, 4, 27]


def test_the_points_of_a_nest_are_split_for_what_follows(recorder):
    x, w = recorder.input(2, 3, 6, 6), recorder.parameter(4, 3, 3, 3)
    y = recorder.op("conv2d", x, w, recorder.parameter(4))
    y = recorder.op("view", recorder.op("relu", y), [2, 2, 2, 4, 4])
    y = recorder.op("add", y, recorder.input(2, 2, 2, 4, 4))
    found = planned(recorder, y, machine=replace(H200, nests_take_pointwise=True))
    (group,) = found.groups
    assert [each.extent for each in group.axes["point"]] == [2, 2, 2, 4, 4]


def test_a_convolution_of_one_point_is_a_contraction(recorder):
    y = recorder.op("conv2d", recorder.input(2, 3, 6, 6), recorder.parameter(4, 3, 1, 1), None)
    (group,) = planned(recorder, recorder.op("relu", y)).groups
    assert group.family == "contraction"
    assert len(group.axes["m"]) == 3


def test_a_sum_of_everything_is_split(recorder):
    found = planned(recorder, recorder.op("sum", recorder.input(64, 1024), [0, 1]))
    assert kinds(found) == ["rows", "rows"]
    assert found.groups[0].extent("row") > 16


def test_families_name_statements(recorder):
    y = recorder.op("relu", recorder.input(3))
    assert families(planned(recorder, y)) == [("pointwise", [y.name])]
