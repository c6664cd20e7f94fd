"""Losses against Torch in float64."""

import pytest
import torch

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.lower.arguments import CannotLower

REDUCTIONS = (0, 1, 2)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("op", ["l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss"])
def test_distances(op, reduction):
    recorder = Recorder()
    x, y = recorder.input(4, 5), recorder.input(4, 5)
    check(recorder, recorder.op(op, x, y, reduction))


@pytest.mark.parametrize("op", ["smooth_l1_loss", "huber_loss"])
def test_distances_with_a_knee(op):
    recorder = Recorder()
    x, y = recorder.input(4, 5), recorder.input(4, 5)
    check(recorder, recorder.op(op, x, y, 1, 0.3))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_binary_cross_entropies(reduction):
    recorder = Recorder()
    x, target = recorder.input(4, 5, low=0.01, high=0.99), recorder.input(4, 5, low=0, high=1)
    recorder.value(x)[0, 0] = 0.0
    logits = recorder.input(4, 5, low=-40, high=40)
    check(
        recorder,
        recorder.op("binary_cross_entropy", x, target, None, reduction),
        recorder.op("binary_cross_entropy_with_logits", logits, target, None, None, reduction),
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_divergence(reduction):
    recorder = Recorder()
    x, target = recorder.input(4, 5), recorder.input(4, 5, low=0, high=1)
    recorder.value(target)[1, 1] = 0.0
    check(
        recorder,
        recorder.op("kl_div", x, target, reduction),
        recorder.op("kl_div", x, target, reduction, log_target=True),
    )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", [(7,), (6, 7), (3, 7, 2, 2)])
def test_losses_of_class_numbers(shape, reduction):
    recorder = Recorder()
    x = recorder.input(*shape, low=-20, high=20)
    places = (*shape[:1], *shape[2:]) if len(shape) > 1 else ()
    target = recorder.input(*places, low=0, high=7, dtype="int64")
    if places:
        recorder.value(target).view(-1)[1] = -100
    ops = ("cross_entropy_loss", "nll_loss_nd")
    check(recorder, *(recorder.op(op, x, target, None, reduction) for op in ops))


def test_weights_smoothing_and_probabilities_are_refused():
    recorder = Recorder()
    x = recorder.input(3, 4)
    target = recorder.input(3, low=0, high=4, dtype="int64")
    weight = recorder.parameter(4)
    cases = [
        recorder.op("cross_entropy_loss", x, target, weight),
        recorder.op("cross_entropy_loss", x, target, None, 1, -100, 0.1),
        recorder.op("cross_entropy_loss", x, recorder.op("softmax", x, 1)),
    ]
    assert all(torch.isfinite(recorder.value(each)) for each in cases)
    for count in range(1, 4):
        short = Recorder()
        short.tensors, short.inputs = recorder.tensors, recorder.inputs
        short.parameters = recorder.parameters
        short.nodes = [recorder.nodes[each] for each in ({1: [0], 2: [1], 3: [2, 3]}[count])]
        with pytest.raises(CannotLower, match="cross_entropy_loss"):
            program_of(short, cases[count - 1])
