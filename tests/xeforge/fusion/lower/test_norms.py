"""Norms against Torch in float64."""

import pytest

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import check


def weights(recorder, *shape, count=2):
    return tuple(recorder.parameter(*shape) for _ in range(count))


@pytest.mark.parametrize("shape", [[5], [4, 5]])
@pytest.mark.parametrize("is_affine", [False, True])
def test_layer_norm(shape, is_affine):
    recorder = Recorder()
    x = recorder.input(3, 4, 5)
    pair = weights(recorder, *shape) if is_affine else (None, None)
    program = check(recorder, recorder.op("layer_norm", x, shape, *pair, 1e-5, False))
    assert len(program.statements) == 4


@pytest.mark.parametrize("eps", [None, 1e-3])
def test_rms_norm(eps):
    recorder = Recorder()
    x = recorder.input(3, 4, 5)
    check(
        recorder,
        recorder.op("rms_norm", x, [5], recorder.parameter(5), eps),
        recorder.op("rms_norm", x, [4, 5]),
    )


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("places", [(), (5,), (3, 2)])
def test_group_norm(groups, places):
    recorder = Recorder()
    x = recorder.input(2, 6, *places, low=-5, high=9)
    if not places and groups == 6:
        # One element a group: no distance from its own mean.
        check(recorder, recorder.op("group_norm", x, 6, *weights(recorder, 6), 1e-5, False))
        return
    check(recorder, recorder.op("group_norm", x, groups, *weights(recorder, 6), 1e-4, False))


@pytest.mark.parametrize("places", [(), (5,), (3, 2), (2, 3, 2)])
@pytest.mark.parametrize("is_training", [False, True])
def test_batch_norm_by_running_and_by_batch_statistics(places, is_training):
    recorder = Recorder()
    x = recorder.input(4, 3, *places)
    pair = weights(recorder, 3)
    mean, variance = recorder.parameter(3), recorder.parameter(3, low=0.5, high=2)
    # The operator updates what it is given: the program must see the values from before.
    before = {each.name: recorder.value(each).clone() for each in (mean, variance)}
    done = recorder.op("batch_norm", x, *pair, mean, variance, is_training, 0.1, 1e-5, False)
    recorder.tensors.update(before)
    program = check(recorder, done)
    assert len(program.statements) == (4 if is_training else 1)


@pytest.mark.parametrize("places", [(5,), (3, 2)])
def test_instance_norm(places):
    recorder = Recorder()
    x = recorder.input(2, 3, *places)
    pair = weights(recorder, 3)
    check(
        recorder,
        recorder.op("instance_norm", x, None, None, None, None, True, 0.1, 1e-5, False),
        recorder.op("instance_norm", x, *pair, None, None, True, 0.1, 1e-5, False),
    )


@pytest.mark.parametrize(("dtype", "ulp"), [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
def test_statistics_of_halves_are_taken_in_float32(dtype, ulp):
    recorder = Recorder(dtype)
    x = recorder.input(5, 33, low=7, high=9)
    normed = recorder.op("layer_norm", x, [33], *weights(recorder, 33), 1e-5, False)
    check(recorder, normed, exact=False, tolerance=2 * ulp)
