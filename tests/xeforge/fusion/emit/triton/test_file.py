"""What emitted files look like, and what they may not contain."""

from dataclasses import replace

import pytest

from tests.xeforge.fusion.emit.triton.sources import TARGET
from tests.xeforge.fusion.emit.triton.sources import emitted
from tests.xeforge.fusion.emit.triton.sources import nest
from tests.xeforge.fusion.emit.triton.sources import plan_of
from tests.xeforge.fusion.emit.triton.sources import points
from tests.xeforge.fusion.emit.triton.sources import product
from tests.xeforge.fusion.emit.triton.sources import riders
from tests.xeforge.fusion.emit.triton.sources import rows
from tests.xeforge.fusion.emit.triton.sources import tensors_of
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.words import CannotEmit
from xeforge.fusion.front.graph import Tensor
from xeforge.verify.gates import host_code
from xeforge.verify.gates import policy
from xeforge.verify.gates import reach
from xeforge.verify.reading import Reading

PERSISTENT = Tile(64, 64, 32, warps=4, stages=3, form="persistent", parts=2)


def source_of(graph, **options):
    recorder, *outputs = graph
    return emitted(recorder, *outputs, **options)


def test_points_are_addressed_by_their_flat_number():
    text = source_of(points())
    assert "tl.load(x0_ptr + point)" in text
    assert "//" not in text


def test_a_row_that_fits_is_loaded_once():
    text = source_of(rows())
    assert text.count("tl.load(") == 1
    assert "for " not in text.split("class Model")[0]


def test_descriptors_are_made_on_the_device_with_memory_from_torch():
    recorder, output = product()
    group = plan_of(recorder, output).groups[0]
    text = emitted(recorder, output, tiles={group.name: [PERSISTENT]})
    assert text.count("tl.make_tensor_descriptor") == 3
    assert "triton.set_allocator(" in text
    assert "tl.split(" in text


def test_columns_beside_have_an_accumulator_and_descriptors_of_their_own():
    recorder, output = product()
    group = plan_of(recorder, output).groups[0]
    tile = replace(PERSISTENT, parts=1, beside=32)
    text = emitted(recorder, output, tiles={group.name: [tile]})
    assert text.count("tl.make_tensor_descriptor") == 5
    assert text.count("tl.dot(") == 2
    assert "tl.cdiv(128, BLOCK_N + BESIDE_N)" in text
    with pytest.raises(CannotEmit, match="no columns beside without descriptors"):
        emitted(recorder, output, tiles={group.name: [replace(tile, form="pointers")]})


def test_descriptors_of_the_host_are_arguments_and_need_no_memory():
    recorder, output = product()
    group = plan_of(recorder, output).groups[0]
    tile = replace(PERSISTENT, is_hosted=True)
    text = emitted(recorder, output, tiles={group.name: [tile]})
    assert "make_tensor_descriptor" not in text
    assert "set_allocator" not in text
    assert text.count("TensorDescriptor(") == 3
    assert "[128, 1], [64, 32])" in text
    reading = Reading.of(text, "emitted.py")
    assert not [*host_code.computing_calls(reading), *policy._constructs(reading)]
    assert list(reach._ways(reading)) == []


def test_a_tail_stands_at_the_end():
    assert source_of(rows(), tail="def get_inputs():\n    return []\n").endswith("    return []\n")


def test_parameters_keep_their_paths():
    recorder, output = product()
    plan = plan_of(recorder, output)
    tensors = [
        Tensor(each.name, each.shape, each.dtype, each.role, path=f"net.0.{each.name}")
        if each.role == "parameter"
        else each
        for each in tensors_of(recorder)
    ]
    text = emit(plan, tensors, TARGET)
    assert 'self.net.add_module("0", nn.Module())' in text
    assert 'getattr(self.net, "0").x1 = nn.Parameter(' in text


def test_a_constant_without_values_is_refused():
    recorder, output = product()
    with pytest.raises(CannotEmit, match="its values are not known"):
        emit(plan_of(recorder, output), recorder.inputs, TARGET)


@pytest.mark.parametrize("graph", [points(), rows(), riders(), nest(), product("float32")])
def test_host_code_computes_nothing_and_reaches_for_nothing(graph):
    reading = Reading.of(source_of(graph), "emitted.py")
    assert list(host_code.computing_calls(reading)) == []
    assert list(policy._constructs(reading)) == []
    assert list(reach._ways(reading)) == []
    assert reading.contents.jit_functions
    assert reading.contents.launches


def test_a_persistent_file_passes_the_same_rules():
    recorder, output = product()
    group = plan_of(recorder, output).groups[0]
    tiles = {group.name: [PERSISTENT, replace(PERSISTENT, m=32)]}
    reading = Reading.of(emitted(recorder, output, tiles=tiles), "emitted.py")
    found = (
        *host_code.computing_calls(reading),
        *policy._constructs(reading),
        *reach._ways(reading),
    )
    assert found == ()


def test_lines_are_short_enough_to_read():
    for graph in (points(), rows(), nest(), product(), product(after=("group_norm",))):
        assert max(map(len, source_of(graph).splitlines())) <= 120
