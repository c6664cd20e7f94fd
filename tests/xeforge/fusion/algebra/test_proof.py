"""Records of rewrites, and what residuals mean."""

import math

import numpy as np
import pytest

from tests.xeforge.fusion.algebra.cases import RULE
from tests.xeforge.fusion.algebra.cases import Case
from xeforge.fusion.algebra.engine import rewrite
from xeforge.fusion.algebra.proof import random_values
from xeforge.fusion.algebra.proof import residual


def only(name, case, output):
    (proof,) = rewrite(case.graph(output), (RULE[name],)).proofs
    return proof


def test_a_proof_says_what_became_of_what_and_why():
    case = Case()
    linear = case.op("linear", case.input(64, 32), case.parameter(48, 32), case.parameter(48))
    mean = case.op("mean", linear, [1], True)
    proof = only("fold_through_linear", case, mean)
    assert (proof.rule, proof.group) == ("fold_through_linear", "distribution")
    assert [each.name for each in proof.before] == [linear.name, mean.name]
    assert [each.op for each in proof.after] == ["mean", "mean", "linear"]
    assert proof.after[-1].name == proof.root == mean.name
    assert {each.facts for each in proof.conditions} == {
        "mean is linear",
        "linear in x0 and x1",
    }
    assert proof.residual < 1e-14
    assert proof.unmeasured == ""
    assert set(proof.sizes) == {"x0", "x1", "x2"}
    assert all(size <= 5 for shape in proof.sizes.values() for size in shape)


def test_a_value_that_is_there_already_is_no_new_node():
    case = Case()
    proof = only("idle_on_interval", case, case.op("relu", case.op("sigmoid", case.input(64))))
    assert proof.after == ()
    assert proof.residual == 0.0


def test_what_cannot_be_measured_says_why():
    case = Case()
    weighted = case.op("prelu", case.input(2, 4), case.parameter(4))
    proof = only("neutral_number", case, case.op("mul", weighted, 1.0))
    assert proof.residual is None
    assert "prelu" in proof.unmeasured


def test_what_cannot_be_interpreted_says_why():
    case = Case()
    # Three does not divide five: the pool has no affine form here.
    pooled = case.op("adaptive_avg_pool1d", case.input(2, 4, 5), [3])
    proof = only("neutral_number", case, case.op("mul", pooled, 1.0))
    assert proof.residual is None
    assert proof.unmeasured.startswith("cannot be interpreted")


def graph_of(factor):
    case = Case()
    return case, case.graph(case.op("mul", case.input(5), factor))


def test_residuals_are_relative_to_the_left_side():
    (case, left), (_, right) = graph_of(1e-3), graph_of(1.001e-3)
    assert residual(left, right, case.given()) == pytest.approx(1e-3)


def test_infinities_must_be_in_the_same_places():
    case = Case()
    x = case.input(5)
    left, right = case.graph(case.op("log", x)), case.graph(case.op("abs", x))
    assert residual(left, right, case.given()) == math.inf
    assert residual(left, left, case.given()) == 0.0


def test_what_is_left_of_a_cancellation_is_measured_by_what_cancelled():
    case = Case()
    x = case.input(6)
    normal = case.op("layer_norm", x, [6], None, None, 1e-2, False)
    once = case.graph(case.op("sum", normal, [0], False))
    twice = case.graph(case.op("mul", case.op("sum", normal, [0], False), 2.0))
    assert residual(once, twice, case.given()) > 0.1
    assert residual(once, twice, case.given(), (normal.name,)) < 1e-9


def test_running_variances_are_drawn_positive():
    case = Case()
    statistics = case.parameter(40), case.parameter(40, low=0.5)
    pair = case.parameter(40), None
    norm = case.op("batch_norm", case.input(3, 40), *pair, *statistics, False, 0.1, 1e-5, True)
    values = random_values(case.graph(norm), 0)
    assert values[statistics[1].name].min() >= 0.5
    assert values[statistics[0].name].min() < 0
    again = random_values(case.graph(norm), 0)
    assert all(np.array_equal(values[name], again[name]) for name in values)
