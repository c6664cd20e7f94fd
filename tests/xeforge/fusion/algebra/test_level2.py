"""All sixty graphs through the engine, in both modes: which rules fire, and both sides agree."""

import time
from dataclasses import replace

import pytest

from bench_workers.host.capture import Capturing
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from bench_workers.sandbox.layers import best_layer
from benchmarks.level2.capture import workload_of
from benchmarks.level2.load import load_graphs
from benchmarks.level2.load import source
from xeforge.domain.submission import SourceFile
from xeforge.fusion.algebra.engine import rewrite
from xeforge.fusion.algebra.work import JOINED
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import check_graph
from xeforge.fusion.lower.program import lower

FIRED_IN_EVAL_MODE = {
    3: ("shift_under_norm", "bias_under_norm"),
    6: ("pool_of_pool",),
    8: ("scale_into_weight", "step_after_fold"),
    9: ("shift_into_bias",),
    11: ("norm_into_weight", "pointwise_after_max"),
    13: ("fold_through_convolution",),
    14: ("step_after_fold", "fold_through_product", "two_numbers"),
    18: ("fold_through_linear", "fold_of_one", "fold_of_one", "fold_of_one", "fold_of_one"),
    21: ("shift_into_bias", "scale_into_weight"),
    34: ("neutral_number", "bias_under_norm"),
    38: ("bounded_softmax",),
    39: ("scale_into_weight", "norm_into_weight"),
    41: ("norm_into_weight",),
    44: ("step_after_fold", "fold_through_convolution", "fold_of_one"),
    46: ("shift_into_bias", "step_after_pool"),
    48: ("scale_into_weight",),
    51: ("step_after_fold", "fold_through_linear", "fold_of_one", "shift_into_bias"),
    54: ("scale_into_weight",),
    64: ("two_slopes",),
    71: ("scale_into_weight",),
    73: ("norm_into_weight", "scale_into_weight"),
    74: ("pointwise_after_max",),
    76: ("shift_into_bias",),
    78: ("pool_of_pool",),
    79: ("scale_into_weight", "bias_under_norm"),
    81: ("idle_on_interval",),
    83: ("constant_on_interval",),
    84: ("affine_into_norm",),
    93: ("shift_into_bias",),
    94: ("shift_into_bias",),
    96: ("scale_into_weight",),
    98: ("pool_through_linear", "step_after_fold"),
}
PRODUCT_MADE_SMALL = {13: 8, 14: 1000, 18: 1000, 44: 1000, 51: 1000, 98: 15}
"""By how much, at least, the arithmetic of products falls."""
NO_PRODUCT_LEFT = {83}


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    sessions = Sessions("cpu", layer=best_layer(), work_directory=folder, spares=0)
    capturing = Capturing(sessions, Deadlines())
    found = {}
    try:
        for mode in ("eval", "train"):
            for each in load_graphs():
                file = SourceFile(f"graph_{each.id}.py", source(each))
                outcome = capturing.capture(file, workload_of(each), mode).outcome
                if isinstance(outcome, Graph):
                    found[each.id, mode] = outcome
    finally:
        capturing.close()
        sessions.close()
    return found


@pytest.fixture(scope="module")
def results(graphs):
    def is_new(key):
        # Most graphs are the same in both modes, and are measured once.
        return key[1] == "eval" or graphs[key].nodes != graphs[key[0], "eval"].nodes

    return {key: rewrite(graph, is_measured=is_new(key)) for key, graph in graphs.items()}


def test_sixty_in_eval_and_fifty_eight_in_train_mode(graphs):
    assert len(graphs) == 118


def test_each_rewrite_is_measured_and_right(results):
    for (id_, mode), result in results.items():
        assert result.refused == (), id_
        check_graph(result.after)
        for proof in result.proofs:
            if proof.residual is None:
                assert (mode, proof.unmeasured) == ("train", "not asked for")
                assert result.before.nodes == results[id_, "eval"].before.nodes
            else:
                assert proof.residual < 1e-12


def test_which_rules_fire(results):
    fired = {
        id_: tuple(each.rule for each in result.proofs)
        for (id_, mode), result in results.items()
        if mode == "eval" and result.proofs
    }
    assert fired == FIRED_IN_EVAL_MODE


def test_train_mode_folds_no_running_statistics(results):
    for (_, mode), result in results.items():
        if mode == "train" and result.before.updated:
            assert result.after.updated == result.before.updated
            # The norm still sees what its statistics are taken of, up to a weight folded before.
            assert any(each.op == "batch_norm" for each in result.after.nodes)
            rules = {each.rule for each in result.proofs}
            assert rules.isdisjoint({"norm_into_weight", "shift_under_norm", "bias_under_norm"})


def test_products_that_become_small(results):
    small, gone = {}, set()
    for (id_, mode), result in results.items():
        before, after = result.work_before.matrix_flops, result.work_after.matrix_flops
        if mode == "eval" and after == 0:
            gone.add(id_)
        elif mode == "eval" and before / after > 1.5:
            small[id_] = before / after
    assert gone == NO_PRODUCT_LEFT
    assert set(small) == set(PRODUCT_MADE_SMALL)
    assert all(small[each] >= least for each, least in PRODUCT_MADE_SMALL.items())


def test_an_engine_that_has_finished_finds_nothing(results):
    for result in results.values():
        assert rewrite(result.after, is_measured=False).proofs == ()


def test_it_is_fast(graphs):
    def seconds(graph):
        started = time.process_time()
        rewrite(graph, is_measured=False)
        return time.process_time() - started

    # Of three, since a collection of garbage may fall into one.
    assert max(min(seconds(each) for _ in range(3)) for each in graphs.values()) < 0.1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_lowered_at_full_size(graphs, dtype):
    for (_, mode), graph in graphs.items():
        if mode == "eval":
            for model in (None, JOINED):
                options = {} if model is None else {"model": model}
                result = rewrite(_as(graph, dtype), is_measured=False, **options)
                program = lower(result.after)
                arrays = program.arrays_by_name()
                assert {arrays[each].dtype for each in program.outputs} == {dtype}


def test_operands_of_large_products_remain_halves(graphs):
    families = {Family.CONTRACTION, Family.CONVOLUTION}
    for (_, mode), graph in graphs.items():
        result = rewrite(_as(graph, "float16"), is_measured=False)
        values = result.after.values()
        for node in result.after.nodes if mode == "eval" else ():
            if FAMILIES[node.op] in families and min(node.shape[:2]) > 1:
                assert {values[each].dtype for each in node.reads()[:2]} == {"float16"}


def _as(graph, dtype):
    def cast(each):
        return replace(each, dtype=dtype)

    return replace(
        graph,
        inputs=tuple(map(cast, graph.inputs)),
        parameters=tuple(map(cast, graph.parameters)),
        nodes=tuple(map(cast, graph.nodes)),
    )
