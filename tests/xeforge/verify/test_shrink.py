"""Workloads get small enough and stay as ragged as they were."""

from hypothesis import given
from hypothesis import strategies as st

from xeforge.verify import shrink
from xeforge.verify.resize import element_count
from xeforge.verify.resize import sizes_of
from xeforge.verify.resize import work_proxy


def sized(make, **sizes):
    names = tuple(sizes)
    return make.workload(inputs=(make.tensor(shape=tuple(sizes.values()), dims=names),))


def test_small_workload_is_left_alone(make):
    given = sized(make, M=64, N=48)
    assert shrink.shrunk(given, shrink.INTERPRETED) is given


def test_halving_keeps_the_remainder(make):
    sizes = sizes_of(shrink.shrunk(sized(make, M=5003, N=3088), shrink.INTERPRETED))
    assert sizes["M"] % 16 == 5003 % 16
    assert sizes["N"] % 16 == 3088 % 16
    assert sizes["M"] * sizes["N"] <= 2**17


def test_equal_sizes_shrink_together_and_products_are_kept(make):
    given = make.workload(
        inputs=(
            make.tensor(shape=(8192, 4096), dims=("T", "D")),
            make.tensor(name="W", shape=(4096, 4096), dims=("D", "E")),
        ),
        init_args=(32, 128),
        init_dims=("H", "HD"),
        dims={"H": 32, "HD": 128},
    )
    sizes = sizes_of(shrink.shrunk(given, shrink.INTERPRETED))
    assert sizes["D"] == sizes["E"] == sizes["H"] * sizes["HD"]
    assert sizes["D"] >= 16


def test_rows_go_before_columns(make):
    sizes = sizes_of(shrink.shrunk(sized(make, ROWS=16384, COLS=4096), shrink.INTERPRETED))
    assert sizes == {"ROWS": 64, "COLS": 1024}


def test_many_dimensions_go_below_sixteen_only_when_they_must(make):
    sizes = sizes_of(shrink.shrunk(sized(make, A=33, B=33, C=33, D=33, E=33), shrink.SMALL))
    assert max(sizes.values()) < 17
    assert min(sizes.values()) >= 1


def test_sizes_that_cannot_shrink_are_left(make):
    given = make.workload(inputs=(make.tensor(shape=(2**20,), dims=("",)),), dims={})
    assert shrink.shrunk(given, shrink.SMALL) == given
    assert not shrink.fits(given, shrink.SMALL)


def test_dimension_held_by_a_product_is_passed_over(make):
    # 101 x 97 and its product: halving the product alone breaks it for good.
    given = make.workload(
        inputs=(make.tensor(shape=(9797, 640), dims=("A", "M")),),
        init_args=(101, 97),
        init_dims=("B", "C"),
        dims={"B": 101, "C": 97},
    )
    sizes = sizes_of(shrink.shrunk(given, shrink.SMALL))
    assert sizes["A"] == sizes["B"] * sizes["C"]
    assert sizes["M"] < 640


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=4))
def test_shrinking_ends_below_the_budget_without_growing_anything(make, numbers):
    given = sized(make, **{f"D{i}": number for i, number in enumerate(numbers)})
    small = shrink.shrunk(given, shrink.INTERPRETED)
    assert element_count(small) <= 2**17
    assert work_proxy(small) <= 2**22
    before = sizes_of(given)
    assert all(1 <= size <= before[name] for name, size in sizes_of(small).items())


def test_batches_go_before_anything_else(make):
    heads = make.workload(
        inputs=(make.tensor(shape=(2, 32, 4096, 128), dims=("B", "H", "S", "D")),) * 3
    )
    sizes = sizes_of(shrink.shrunk(heads, shrink.INTERPRETED))
    assert sizes == {"B": 2, "H": 4, "S": 32, "D": 128}


def test_channels_are_no_batch(make):
    image = make.workload(
        inputs=(make.tensor(shape=(64, 32, 14, 14), dims=("N", "C", "H", "W")),),
        init_args=(32, 128),
        init_dims=("C", "OUT"),
        dims={"OUT": 128},
    )
    sizes = sizes_of(shrink.shrunk(image, shrink.INTERPRETED))
    assert sizes["N"] == 8
    assert sizes["C"] == 32
