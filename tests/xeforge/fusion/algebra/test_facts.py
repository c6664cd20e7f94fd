"""Facts of every kind of operator; inputs and parameters are unknown."""

import numpy as np
import pytest

from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.random_chains import Chain
from xeforge.fusion.algebra.facts import Facts
from xeforge.fusion.algebra.facts import facts_of
from xeforge.fusion.algebra.intervals import EVERYTHING
from xeforge.fusion.algebra.intervals import Interval


def facts(case, ref):
    return facts_of(case.graph(ref))[ref.name]


def test_nothing_is_known_of_inputs_and_parameters():
    case = Case()
    x, w = case.input(3, 1, low=0.0, high=1.0), case.parameter(4, low=1.0)
    found = facts_of(case.graph(case.op("mul", x, w)))
    for ref in (x, w):
        assert found[ref.name].interval == EVERYTHING
        assert found[ref.name].sign == "unknown"
    assert found[x.name].ones == {1} == found[x.name].constant_along


def test_constants_are_known():
    case = Case()
    found = facts(case, case.op("minimum", case.input(3), case.constant(0.5)))
    assert found.interval == Interval(high=0.5)
    full = facts(case, case.op("full", (3, 2), 2.5))
    assert (full.number, full.interval, full.constant_along) == (2.5, Interval(2.5, 2.5), {0, 1})


@pytest.mark.parametrize(
    ("interval", "sign"),
    [
        ((1, 2), "positive"),
        ((-2, -1), "negative"),
        ((0, 2), "not negative"),
        ((-2, 0), "not positive"),
        ((-1, 1), "unknown"),
    ],
)
def test_signs(interval, sign):
    assert Facts(Interval(*interval)).sign == sign


@pytest.mark.parametrize("seed", range(25))
def test_values_lie_in_their_intervals_and_are_constant_where_said(seed):
    chain = Chain(seed, length=9)
    found = facts_of(chain.graph(*chain.outputs()))
    for node in chain.nodes:
        value, fact = chain.tensors[node.name].numpy(), found[node.name]
        assert fact.interval.low - 1e-12 <= value.min()
        assert value.max() <= fact.interval.high + 1e-12
        assert np.isfinite(value).all()
        for axis in fact.constant_along:
            assert (value == value.take([0], axis)).all()
        assert fact.ones == {place for place, size in enumerate(value.shape) if size == 1}


@pytest.mark.parametrize("seed", range(15))
def test_what_is_said_to_be_linear_is_affine(seed):
    chain = Chain(seed)
    output = chain.last
    graph = chain.graph(output)
    found = facts_of(graph)[output.name]
    for tensor in (*graph.inputs, *graph.parameters):
        if tensor.name not in found.linear_in or tensor.name not in _reached(graph):
            continue
        at = [_computed(chain, graph, output, tensor.name, shift) for shift in (0.0, 1.0, 2.0)]
        np.testing.assert_allclose(at[2] - at[1], at[1] - at[0], rtol=1e-6, atol=1e-6)


def _reached(graph):
    names = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node.name in names:
            names |= set(node.reads())
    return names


def _computed(chain, graph, output, name, shift):
    from xeforge.fusion.algebra.proof import outputs_of

    given = chain.given()
    given[name] = given[name] + shift
    return outputs_of(graph, given)[0]


def test_a_product_is_linear_in_each_factor_but_not_in_both():
    case = Case()
    x, w = case.input(3, 4), case.parameter(5, 4)
    linear = case.op("linear", x, w)
    assert {x.name, w.name, linear.name} <= facts(case, linear).linear_in
    assert x.name not in facts(case, case.op("mul", linear, linear)).linear_in
    assert x.name in facts(case, case.op("mean", linear, [1], False)).linear_in
    assert x.name not in facts(case, case.op("relu", linear)).linear_in


def test_a_divisor_is_not():
    case = Case()
    x, w = case.input(4), case.parameter(4)
    found = facts(case, case.op("div", x, w)).linear_in
    assert x.name in found
    assert w.name not in found


def test_finiteness():
    case = Case()
    x = case.input(3, 4)
    assert facts(case, case.op("softmax", case.op("gelu", x), 1)).is_finite
    for op in ("log", "exp", "rsqrt", "reciprocal"):
        assert not facts(case, case.op(op, x)).is_finite
    assert facts(case, case.op("layer_norm", x, [4], None, None, 1e-5, False)).is_finite
    assert not facts(case, case.op("layer_norm", x, [4], None, None, 0.0, False)).is_finite
    assert not facts(case, case.op("mul", x, float("inf"))).is_finite
    assert facts(case, case.op("div", x, 2.0)).is_finite
    assert not facts(case, case.op("div", x, x)).is_finite


def test_a_batch_norm_in_eval_mode_may_meet_a_negative_variance():
    case = Case()
    statistics = case.parameter(4), case.parameter(4, low=0.5)
    norm = case.op("batch_norm", case.input(3, 4), None, None, *statistics, False, 0.1, 1e-5, True)
    assert not facts(case, norm).is_finite


def test_constant_axes_follow_views():
    case = Case()
    x = case.op("expand", case.input(1, 4), [3, 4])
    assert facts(case, x).constant_along == {0}
    assert facts(case, case.op("unsqueeze", x, 0)).constant_along == {0, 1}
    assert facts(case, case.op("add", x, case.input(4))).constant_along == {0}
    assert facts(case, case.op("add", x, case.input(3, 1))).constant_along == set()


def test_a_triangle_and_slopes_per_channel_vary():
    case = Case()
    x = case.op("expand", case.input(1, 4), [3, 4])
    assert facts(case, case.op("tril", x)).constant_along == set()
    slopes = case.op("expand", case.input(3, 1), [3, 4])
    assert facts(case, case.op("prelu", slopes, case.parameter(4))).constant_along == set()


def test_a_mask_may_fill_in_an_infinity():
    case = Case()
    x = case.input(3, 4)
    mask = case.op("gt", x, 0.0, aten="gt")
    assert facts(case, case.op("masked_fill", x, mask, 0.0)).is_finite
    assert not facts(case, case.op("masked_fill", x, mask, float("-inf"))).is_finite
