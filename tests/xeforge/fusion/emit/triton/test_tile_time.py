"""What tiles need, and how long they take by the model."""

from dataclasses import replace

import pytest

from xeforge.fusion.emit.triton.target import find_target
from xeforge.fusion.emit.triton.tile import Problem
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.tile_time import fits
from xeforge.fusion.emit.triton.tile_time import seconds
from xeforge.fusion.emit.triton.tile_time import shared_bytes

HOPPER = find_target("cuda:90")
PROBLEM = Problem(1, 1024, 8192, 8192, "float16", may_describe=True, result_bytes=2)
LARGE = Tile(128, 256, 64, 8, 4, form="persistent", parts=2)
KNOWN = {
    (128, 256, 4, "persistent", 1): 262176,
    (128, 256, 4, "persistent", 2): 229408,
    (128, 256, 3, "persistent", 1): 213016,
    (128, 256, 4, "descriptors", 1): 196640,
    (128, 256, 3, "pointers", 1): 147456,
    (128, 128, 4, "persistent", 1): 163872,
    (128, 64, 4, "persistent", 2): 106528,
}
"""What Triton 3.6.0 and 3.7.1 say of tiles with 64 terms a step."""


@pytest.mark.parametrize("key", list(KNOWN))
def test_shared_memory_is_what_the_compiler_claims(key):
    m, n, stages, form, parts = key
    tile = Tile(m, n, 64, 8, stages, form=form, parts=parts)
    assert 0 <= shared_bytes(tile, PROBLEM, HOPPER) - KNOWN[key] <= 128


def test_float32_factors_are_held_in_pieces_too():
    tile = Tile(128, 128, 32, 8, 3, form="descriptors", precision="tf32x3")
    wide = replace(PROBLEM, dtype="float32", result_bytes=4)
    assert 0 <= shared_bytes(tile, wide, HOPPER) - 131104 <= 128


def test_a_program_that_stays_needs_room_for_its_result_too():
    assert fits(LARGE, PROBLEM, HOPPER)
    assert not fits(replace(LARGE, parts=1), PROBLEM, HOPPER)
    assert not fits(LARGE, replace(PROBLEM, result_bytes=4), HOPPER)
    assert fits(replace(LARGE, form="descriptors", parts=1), PROBLEM, HOPPER)


def test_the_model_is_near_what_was_measured():
    assert seconds(LARGE, PROBLEM, HOPPER) == pytest.approx(181e-6, rel=0.1)
    few = replace(PROBLEM, m=128, n=16384, k=16384)
    tile = Tile(128, 128, 64, 8, 4, form="persistent")
    assert seconds(tile, few, HOPPER) == pytest.approx(149e-6, rel=0.2)


def test_parts_of_a_sum_cost_a_kernel_and_save_rounds():
    few = replace(PROBLEM, m=128)
    tile = Tile(128, 128, 64, 8, 4, form="descriptors")
    two = replace(tile, splits=2)
    assert seconds(two, few, HOPPER) < seconds(tile, few, HOPPER)
    assert seconds(two, PROBLEM, HOPPER) > seconds(tile, PROBLEM, HOPPER)


def test_waiting_is_longer_with_fewer_stages():
    few = replace(PROBLEM, m=16)
    deep = Tile(16, 64, 128, 4, 4)
    assert seconds(replace(deep, stages=2), few, HOPPER) > 1.5 * seconds(deep, few, HOPPER)


def test_rows_that_cannot_be_loaded_ahead_wait_at_each_step():
    odd = replace(PROBLEM, may_describe=False, padded_k=8192)
    tile = Tile(128, 128, 64, 8, 4)
    assert seconds(tile, odd, HOPPER) > 1.5 * seconds(tile, PROBLEM, HOPPER)
