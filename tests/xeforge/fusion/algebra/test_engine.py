"""The engine: equal graphs, less work, an end, and the same end each time."""

from dataclasses import replace

import pytest

from tests.xeforge.fusion.algebra.cases import RULE
from tests.xeforge.fusion.algebra.cases import Case
from tests.xeforge.fusion.algebra.cases import ops
from tests.xeforge.fusion.algebra.random_chains import Chain
from xeforge.fusion.algebra.build import BadReplacement
from xeforge.fusion.algebra.engine import rewrite
from xeforge.fusion.algebra.proof import residual
from xeforge.fusion.algebra.rules import RULES
from xeforge.fusion.algebra.work import APART
from xeforge.fusion.algebra.work import JOINED
from xeforge.fusion.algebra.work import work_of
from xeforge.fusion.front.graph import check_graph


@pytest.mark.parametrize("model", [APART, JOINED])
def test_random_chains_stay_equal_and_cost_less(model):
    fired = set()
    for seed in range(36):
        chain = Chain(seed)
        graph = chain.graph(*chain.outputs())
        result = rewrite(graph, model=model, is_measured=False)
        check_graph(result.after)
        beside = tuple(each.name for each in graph.nodes)
        assert residual(graph, result.after, chain.given(), beside) < 1e-8
        assert (result.work_after.seconds < result.work_before.seconds) == bool(result.proofs)
        assert result.work_after == work_of(result.after, model)
        assert rewrite(result.after, model=model, is_measured=False).proofs == ()
        fired |= {each.rule for each in result.proofs}
    assert len(fired) >= 10


def test_it_ends_at_the_same_graph_each_time():
    for seed in range(20):
        chain = Chain(seed)
        graph = chain.graph(chain.last)
        first, second = (rewrite(graph, is_measured=False) for _ in range(2))
        assert first == second


def chain_of_reductions():
    case = Case()
    linear = case.op("linear", case.input(64, 32), case.parameter(48, 32), case.parameter(48))
    total = case.op("sum", case.op("mul", linear, 2.0), [1], True)
    return case, case.op("logsumexp", case.op("mean", total, [1], True), [1], True)


def test_a_reduction_removes_the_product():
    case, last = chain_of_reductions()
    result = rewrite(case.graph(last))
    assert result.work_after.matrix_flops * 40 < result.work_before.matrix_flops
    assert "logsumexp" not in ops(result.after)
    assert residual(result.before, result.after, case.given()) < 1e-12
    assert all(each.residual < 1e-12 for each in result.proofs)


def test_no_rules_change_nothing():
    case, last = chain_of_reductions()
    result = rewrite(case.graph(last), ())
    assert result.after == result.before
    assert result.proofs == ()


def test_a_rewrite_that_costs_more_is_not_made():
    case = Case()
    linear = case.op("linear", case.input(2, 50), case.parameter(60, 50))
    scaled = case.op("mul", linear, case.parameter(60))
    result = rewrite(case.graph(scaled), (RULE["scale_into_weight"],))
    assert result.proofs == ()


def test_two_steps_are_taken_where_the_first_alone_saves_nothing():
    case = Case()
    linear = case.op("linear", case.input(2048, 512), case.parameter(2048, 512))
    shifted = case.op("sub", linear, case.parameter(2048))
    graph = case.graph(case.op("mean", shifted, [1], True))
    rules = (RULE["step_after_fold"], RULE["fold_through_linear"])
    result = rewrite(graph, rules, model=JOINED)
    assert [each.rule for each in result.proofs] == ["step_after_fold", "fold_through_linear"]
    assert rewrite(graph, rules[:1], model=JOINED).proofs == ()


def test_a_value_that_others_read_is_kept():
    case = Case()
    linear = case.op("linear", case.input(64, 32), case.parameter(48, 32))
    total = case.op("sum", linear, [1], True)
    result = rewrite(case.graph(total, linear))
    assert "linear" in ops(result.after)
    assert result.after.outputs == (total.name, linear.name)


def test_an_output_that_is_an_earlier_value_takes_its_name():
    case = Case()
    once = case.op("tanh", case.input(64, 32))
    result = rewrite(case.graph(case.op("mul", once, 1.0), once))
    assert result.after.outputs == (once.name, once.name)
    assert residual(result.before, result.after, case.given()) == 0.0


def wrong(rule, factor):
    """Return a rule whose right side is off by a factor."""

    def off(builder, found):
        return builder.op("mul", rule.replacement(builder, found), factor)

    return replace(rule, replacement=off)


def test_a_wrong_rewrite_is_refused_and_reported():
    case, last = chain_of_reductions()
    result = rewrite(case.graph(last), (wrong(RULE["fold_of_one"], 1 + 1e-7),))
    assert result.proofs == ()
    assert result.after == result.before
    assert {each.rule for each in result.refused} == {"fold_of_one"}
    assert all(1e-8 < each.residual < 1e-6 for each in result.refused)
    unmeasured = rewrite(case.graph(last), (wrong(RULE["fold_of_one"], 2.0),), is_measured=False)
    assert {each.unmeasured for each in unmeasured.proofs} == {"not asked for"}


def test_a_replacement_of_another_shape_is_an_error():
    def bad(builder, found):
        return builder.op("sum", found["fold"].source, (0,), False)

    case, last = chain_of_reductions()
    with pytest.raises(BadReplacement, match="not float64"):
        rewrite(case.graph(last), (replace(RULE["fold_of_one"], replacement=bad),))


def test_names_and_groups_of_rules():
    assert len({each.name for each in RULES}) == len(RULES)
    groups = {each.group for each in RULES}
    assert groups == {"distribution", "folding", "cancellation", "dead", "reordering"}
    for each in RULES:
        assert each.guard
        assert len(each.identity) > 20
        assert each.replacement.__doc__
        assert each.pattern.__doc__
