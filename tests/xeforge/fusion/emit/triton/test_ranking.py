"""Which tiles are tried, in which order."""

from dataclasses import replace

import pytest

from xeforge.fusion.emit.triton.ranking import MOST_CANDIDATES
from xeforge.fusion.emit.triton.ranking import candidates
from xeforge.fusion.emit.triton.ranking import ways
from xeforge.fusion.emit.triton.target import TARGETS
from xeforge.fusion.emit.triton.target import find_target
from xeforge.fusion.emit.triton.tile import Problem
from xeforge.fusion.emit.triton.tile_time import fits

SQUARE = Problem(batch=1, m=4096, n=4096, k=4096, dtype="float16", may_describe=True)
HOPPER = find_target("cuda:90")


@pytest.mark.parametrize("name", sorted(TARGETS))
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("sizes", [(1, 4096, 4096), (16, 8192, 8192), (100, 1000, 70), (7, 5, 3)])
def test_every_problem_has_some_tiles(name, dtype, sizes):
    m, n, k = sizes
    found = candidates(Problem(1, m, n, k, dtype), TARGETS[name])
    assert 1 <= len(found) <= MOST_CANDIDATES
    assert all(min(each.m, each.n, each.k) >= 16 for each in found)
    assert all(each.precision == TARGETS[name].full_precision for each in found)


def test_large_products_take_large_tiles_and_stay_on_their_multiprocessors():
    first = candidates(SQUARE, HOPPER)[0]
    assert first.m * first.n == 128 * 256
    assert (first.form, first.parts, first.warps) == ("persistent", 2, 8)


def test_few_rows_take_flat_tiles():
    assert candidates(replace(SQUARE, m=16), HOPPER)[0].m == 16


def test_folds_get_all_that_they_fold():
    assert all(each.n >= 256 for each in candidates(replace(SQUARE, n=200, folded=200), HOPPER))


def test_targets_without_descriptors_use_pointers():
    found = candidates(SQUARE, find_target("hip:gfx942"))
    assert {each.form for each in found} == {"pointers"}


def halves(m, n, k):
    is_even = k % 8 == 0
    return Problem(
        1, m, n, k, "float16", 1, is_even, -(-k // 64) * 64, may_split=True, result_bytes=2
    )


@pytest.mark.parametrize("sizes", [(8192, 8192, 8192), (1024, 1024, 1024), (16, 4096, 4096)])
def test_different_tiles_come_first_and_fewer_stages_last(sizes):
    found = ways(halves(*sizes), HOPPER)
    assert len(set(found)) == len(found)
    assert len({(each.m, each.n, each.form) for each in found[:6]}) >= 4
    alike = [replace(each, stages=0) for each in found]
    again = [place for place, each in enumerate(alike) if each in alike[:place]]
    deepest = [each for place, each in enumerate(found) if place not in again]
    assert all(fits(each, halves(*sizes), HOPPER) for each in deepest)


def test_large_products_stay_on_their_multiprocessors():
    first = ways(halves(8192, 8192, 8192), HOPPER)[0]
    assert (first.m * first.n, first.form, first.splits) == (128 * 256, "persistent", 1)


def test_sums_are_cut_where_tiles_are_fewer_than_multiprocessors():
    first = ways(halves(128, 8192, 8192), HOPPER)[0]
    assert first.splits == 2
    assert {each.splits for each in ways(halves(8192, 8192, 8192), HOPPER)} == {1}


def test_few_rows_fill_the_card_with_narrow_tiles():
    first = ways(halves(16, 4096, 4096), HOPPER)[0]
    assert (first.m, first.splits) == (16, 1)
    assert 4096 // first.n >= HOPPER.units // 4


def test_rows_of_odd_length_are_copied_where_the_product_is_large():
    assert ways(halves(4095, 4095, 4095), HOPPER)[0].pads
    assert not ways(halves(33, 8191, 4095), HOPPER)[0].pads


def test_without_descriptors_nothing_is_copied():
    found = ways(halves(4095, 4095, 4095), find_target("hip:gfx942"))
    assert {(each.form, each.pads) for each in found} == {("pointers", False)}


def test_elements_loaded_one_by_one_stay_in_registers_and_overlap_across_programs():
    found = ways(halves(33, 8191, 4095), HOPPER)
    direct = [each for each in found if not each.pads]
    assert direct
    assert direct[0].splits > 1
    assert all((each.m + each.n) * each.k <= 64 * 32 * each.warps for each in direct)
    assert all(each.stages <= 2 for each in direct)


def test_tiles_of_192_columns_fill_whole_rounds():
    first = ways(halves(3072, 3072, 3072), HOPPER)[0]
    assert (first.m, first.columns, first.parts) == (128, 192, 1)
    assert not any(each.beside for each in candidates(halves(3072, 3072, 3072), HOPPER))
    assert not any(each.beside and each.form == "pointers" for each in ways(SQUARE, HOPPER))


def test_tiles_that_run_together_cover_about_a_square():
    for tile in ways(halves(8192, 8192, 8192), HOPPER)[:6]:
        across = HOPPER.units / tile.group_m * tile.columns
        assert 0.5 <= tile.group_m * tile.m / across <= 2.0


def test_the_host_makes_descriptors_and_the_best_are_there_without_it():
    found = ways(halves(8192, 8192, 8192), HOPPER)
    described = [each for each in found if each.form != "pointers"]
    assert described[0].is_hosted
    assert replace(described[0], is_hosted=False) in found[:6]
    assert not any(each.is_hosted for each in candidates(halves(8192, 8192, 8192), HOPPER))
    assert not any(each.is_hosted for each in found if each.form == "pointers")
