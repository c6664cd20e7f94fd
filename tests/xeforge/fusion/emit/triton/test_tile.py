"""Which tiles are tried."""

from dataclasses import replace

import pytest

from xeforge.errors import BadRequest
from xeforge.fusion.emit.triton.target import TARGETS
from xeforge.fusion.emit.triton.target import find_target
from xeforge.fusion.emit.triton.tile import MOST_CANDIDATES
from xeforge.fusion.emit.triton.tile import Problem
from xeforge.fusion.emit.triton.tile import candidates
from xeforge.fusion.emit.triton.tile import of_one_form

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


def test_configs_of_one_kernel_have_one_form():
    found = list(of_one_form(candidates(SQUARE, HOPPER)))
    assert len({(each.form, each.parts, each.precision) for each in found}) == 1


def test_unknown_targets_and_releases_are_refused():
    with pytest.raises(BadRequest, match="no target cuda:70"):
        find_target("cuda:70")
    with pytest.raises(BadRequest, match=r"Triton 2\.1 was not checked"):
        find_target("cuda:90", "2.1")
