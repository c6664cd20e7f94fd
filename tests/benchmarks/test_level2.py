"""All sixty graphs: what is captured, what is refused; each is written by the same rules."""

import pytest

from bench_workers.host.capture import Capturing
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from benchmarks.level2.capture import rows
from benchmarks.level2.load import OperatorGraph
from benchmarks.level2.load import load_graphs
from benchmarks.level2.load import module
from benchmarks.level2.load import source
from xeforge.fusion.front.covered import FAMILIES

WITH_DROPOUT = {66, 83}
WITH_BATCH_NORM = {11, 33, 39, 41, 73, 84}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    sessions = Sessions("cpu", layer=best_layer(), work_directory=folder, spares=0)
    capturing = Capturing(sessions, Deadlines())
    try:
        return {mode: list(rows(capturing, mode)) for mode in ("train", "eval")}
    finally:
        capturing.close()
        sessions.close()


def test_there_are_sixty_graphs_with_ids_of_their_own():
    assert len({each.id for each in load_graphs()}) == 60


def test_every_graph_is_captured_in_eval_mode(captured):
    assert [row.id for row in captured["eval"] if row.refusals] == []


def test_only_live_dropout_is_refused_in_train_mode(captured):
    refused = {row.id: row.refusals for row in captured["train"] if row.refusals}
    assert set(refused) == WITH_DROPOUT
    assert all(
        len(each) == 1 and each[0].startswith("random: dropout") for each in refused.values()
    )


def test_batch_norms_in_train_mode_say_what_they_update(captured):
    updating = {row.id for row in captured["train"] if row.updated}
    assert updating == WITH_BATCH_NORM
    assert not any(row.updated for row in captured["eval"])


def test_operators_are_kept_whole_and_idle_ones_are_gone(captured):
    for mode in captured:
        for row in captured[mode]:
            assert set(row.operators) <= set(FAMILIES)
    (linear,) = (row for row in captured["eval"] if row.id == 66)
    assert linear.operators == ("linear", "softmax")


def test_all_are_captured_in_seconds(captured):
    for mode in captured:
        assert sum(row.seconds for row in captured[mode]) < 60  # 4 to 9 where nothing else runs


def test_a_graph_is_a_module_that_computes_it():
    import torch

    small = OperatorGraph(
        id=1,
        inputs={"x": (4, 6)},
        parameters={"weight": ((3, 6), "uniform*0.5"), "scale": ((3,), "normal*2.0")},
        buffers={"mean": ((3,), 0), "var": ((3,), 1)},
        operators=(
            "linear = linear(x, weight)",
            "norm = batch_norm(linear, None, None, mean, var, training, 0.1, 1e-05, True)",
            "most = max(norm, 1, True)",
            "value = most[0]",
            "least = min(value, tensor(0.5))",
            "mul = mul(least, scale)",
        ),
        returns=("mul",),
    )
    model, x = module(small).eval(), torch.rand(4, 6)
    y = x @ model.weight.T / (1 + 1e-5) ** 0.5
    expected = y.amax(1, keepdim=True).clamp(max=0.5) * model.scale
    torch.testing.assert_close(model(x), expected)
    assert model.weight.abs().max() <= 0.5
    assert model.train()(x).shape == (4, 3)
    assert model.mean.abs().sum() > 0


def test_an_unknown_start_is_refused():
    small = OperatorGraph(1, {}, {"w": ((1,), "cauchy")}, {}, ("y = relu(w)",), ("y",))
    with pytest.raises(ValueError, match="cauchy"):
        source(small)
