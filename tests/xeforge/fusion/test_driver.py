"""From a graph to files: what the switches do, and what is refused."""

import ast
from dataclasses import replace

import numpy as np
import pytest

from knowledge.load import find_device
from xeforge.errors import BadRequest
from xeforge.fusion.algebra.proof import outputs_of
from xeforge.fusion.algebra.proof import random_values
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.interpret import interpret

CARD = find_device("nvidia-h200")
PROCESSOR = find_device("generic-cpu")


def graph(dtype="float32"):
    """A linear layer whose columns are summed: the product can be removed."""
    return Graph(
        (Tensor("x", (64, 48), dtype, "input"),),
        (Tensor("w", (32, 48), dtype, "parameter", path="lin.weight"),),
        (
            Node("linear", "linear", (Ref("x"), Ref("w")), {}, (64, 32), dtype, 7),
            Node("sum_1", "sum", (Ref("linear"), (1,), True), {}, (64, 1), dtype, 8),
        ),
        ("sum_1",),
        "eval",
        unread=(Tensor("u", (3,), dtype, "buffer", path="kept"),),
    )


def test_algebra_removes_the_product_and_proves_it():
    made = compile_graph(graph(), CARD)
    assert made.rewritten.proofs[0].rule == "fold_through_linear"
    assert all(each.residual < 1e-9 for each in made.rewritten.proofs)
    assert "fold_through_linear" in made.explain()
    without = compile_graph(graph(), CARD, Options(algebra=False))
    assert without.rewritten is None
    families = {group.family for group in without.built[0].candidate.plan.groups}
    assert "contraction" in families


@pytest.mark.parametrize("device", [CARD, PROCESSOR])
@pytest.mark.parametrize("algebra", [True, False])
def test_every_plan_means_what_the_graph_means(device, algebra):
    given = graph()
    values = random_values(given, 3)
    (wanted,) = outputs_of(given, values)
    made = compile_graph(given, device, Options(algebra=algebra, proofs=False))
    assert made.language == ("c" if device is PROCESSOR else "triton")
    for each in made.built:
        program = each.candidate.plan.as_program()
        given_here = {name: values[name] for name in ("x", "w")}
        (found,) = interpret(program, given_here).values()
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        ast.parse(each.source)
        assert "lin.weight" in each.source.replace("self.lin.weight", "lin.weight")
        assert "kept" in each.source


def test_without_fusion_there_is_one_plan():
    made = compile_graph(graph(), CARD, Options(fusion=False, algebra=False))
    assert [each.name for each in made.built] == ["unfused"]
    assert made.built[0].candidate.estimate.kernels == len(made.program.statements)


def test_without_matrix_units_nothing_is_contracted():
    made = compile_graph(graph(), CARD, Options(matrix_units=False, algebra=False))
    groups = [group for each in made.built for group in each.candidate.plan.groups]
    assert all(group.family != "contraction" for group in groups)


def test_other_files_of_a_plan_differ_in_tiles_only():
    made = compile_graph(graph("float16"), CARD, Options(algebra=False))
    sources = list(made.built[0].sources())
    assert sources[0] == made.built[0].source
    assert len(set(sources)) == len(sources) > 2


def test_constructors_and_helpers_come_from_the_caller():
    for device in (CARD, PROCESSOR):
        made = compile_graph(
            graph(), device, Options(proofs=False), parameters="width, eps=1e-5", tail="ROWS = 64"
        )
        assert "def __init__(self, width, eps=1e-5):" in made.built[0].source
        assert made.built[0].source.endswith("\n\n\nROWS = 64\n")


def test_precision_is_the_targets():
    source = compile_graph(graph(), CARD, Options(algebra=False, precision="ieee")).built[0].source
    assert 'input_precision="ieee"' in source
    with pytest.raises(BadRequest, match="no float32 products as fp8"):
        compile_graph(graph(), CARD, Options(precision="fp8"))


def test_devices_without_kernels_are_refused():
    with pytest.raises(BadRequest, match="no kernels are emitted for intel-b580"):
        compile_graph(graph(), find_device("intel-b580"))
    with pytest.raises(BadRequest, match="no kernels are emitted"):
        compile_graph(graph(), replace(CARD, compile_target=None))
