"""The cost model ranks as hardware does, and says what limits a kernel."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from xeforge.verify.estimate import estimate
from xeforge.verify.estimate import launch_times
from xeforge.verify.estimate import memory_bytes
from xeforge.verify.estimate import resident_groups

SIZE = 4096


def product(make, rows, columns, dtype, *, size=SIZE, **more):
    """Count a square matrix product with 16-bit operands in tiles of rows x columns."""
    tiles = -(-size // rows) * -(-size // columns)
    return make.work(
        programs=tiles,
        loaded_bytes=2.0 * tiles * size * (rows + columns),
        stored_bytes=2.0 * size * size,
        unique_bytes=6.0 * size * size,
        dot_flops={dtype: 2.0 * size**3},
        vector_flops={},
        **more,
    )


def row_pass(make, passes, *, rows=16384, columns=8192):
    size = 2.0 * rows * columns
    return make.work(
        programs=rows, loaded_bytes=passes * size, stored_bytes=size, unique_bytes=2 * size
    )


def seconds(make, *works, device=None):
    return estimate(device or make.device, make.workload(), works).seconds


def test_upcast_small_tiles_are_clearly_slower_than_large_half_ones(make):
    slow = seconds(make, product(make, 32, 32, "float32", num_warps=4, registers=64))
    good = product(make, 128, 256, "float16", num_warps=8, registers=168, shared_bytes=147_456)
    assert slow > 2 * seconds(make, good)


def test_good_product_runs_at_a_sensible_share_of_peak(make):
    good = product(
        make, 128, 256, "float16", num_warps=8, registers=168, shared_bytes=147_456, size=8192
    )
    given = estimate(make.device, make.workload(), (good,))
    share = 2 * 8192**3 / given.seconds / 989e12
    assert 0.4 < share < 0.95


def test_three_passes_are_slower_than_one_unless_cached(make):
    assert seconds(make, row_pass(make, 3)) > 1.25 * seconds(make, row_pass(make, 1))
    three = row_pass(make, 3, rows=1024, columns=1024)
    assert memory_bytes(make.device, three) == three.unique_bytes


def test_memory_traffic_lies_between_compulsory_and_total(make):
    three = row_pass(make, 3)
    total = three.loaded_bytes + three.stored_bytes
    assert three.unique_bytes < memory_bytes(make.device, three) < total
    # A product reads its operands again and again, but the resident programs share them.
    tiles = product(make, 32, 32, "float16", size=8192)
    assert memory_bytes(make.device, tiles) < 0.1 * tiles.loaded_bytes


def test_one_kernel_beats_four_that_pass_the_same_data_on(make):
    size = 2.0 * 2**26
    step = make.work(programs=2**16, loaded_bytes=size, stored_bytes=size, unique_bytes=2 * size)
    chain = estimate(make.device, make.workload(), (step,) * 4)
    fused = estimate(make.device, make.workload(), (step,))
    assert chain.seconds == pytest.approx(4 * fused.seconds)
    assert chain.bound == fused.bound == "memory"


def test_tiny_kernels_are_bound_by_their_launch(make):
    tiny = make.work(
        programs=132, loaded_bytes=1e3, stored_bytes=1e3, unique_bytes=2e3, vector_flops={}
    )
    given = estimate(make.device, make.workload(), (tiny, tiny))
    assert given.bound == "launch"
    assert given.seconds == pytest.approx(2 * make.device.launch_seconds, rel=0.1)


def test_each_part_can_be_the_bound(make):
    small = {"loaded_bytes": 1e6, "stored_bytes": 1e6, "unique_bytes": 2e6, "programs": 1320}
    wide = make.work(**{**small, "vector_flops": {"float32": 1e12}})
    assert estimate(make.device, make.workload(), (wide,)).bound == "vector"
    deep = make.work(**{**small, "dot_flops": {"float16": 1e13}})
    assert estimate(make.device, make.workload(), (deep,)).bound == "matrix"
    again = make.work(**{**small, "loaded_bytes": 1e11})
    assert estimate(make.device, make.workload(), (again,)).bound == "cache"


def test_many_small_programs_are_bound_by_their_number(make):
    """The record says 163 us for 262,144 programs where the bytes alone would take 121 us."""
    size = 2.56e8
    device = make.changed_device(groups_per_s=1.6e9)
    counted = {"loaded_bytes": size, "stored_bytes": size, "unique_bytes": 2 * size}
    small, large = (make.work(programs=programs, **counted) for programs in (2**18, 2**15))
    times = [estimate(device, make.workload(), (each,)) for each in (small, large)]
    assert [each.bound for each in times] == ["programs", "memory"]
    assert times[0].seconds > 1.2 * times[1].seconds
    unknown = [estimate(make.device, make.workload(), (each,)) for each in (small, large)]
    assert unknown[0].seconds == pytest.approx(unknown[1].seconds, rel=0.1)


def test_nothing_counted_is_no_time(make):
    given = estimate(make.device, make.workload(), ())
    assert given.seconds == inf
    assert given.bound == "launch"
    assert given.work == ()


def test_result_carries_workload_and_work(make):
    given = estimate(make.device, make.workload("a[1]", weight=2.5), (make.work(),))
    assert (given.workload, given.weight) == ("a[1]", 2.5)
    assert given.work == (make.work(),)


def test_occupancy_follows_the_scarcest_resource(make):
    def resident(**changes):
        return resident_groups(make.device, make.work(**changes))

    assert resident(registers=0, shared_bytes=0, num_warps=1) == 32
    assert resident(registers=16, shared_bytes=0, num_warps=4) == 16
    assert resident(registers=128, shared_bytes=0, num_warps=4) == 4
    assert resident(registers=32, shared_bytes=100_000, num_warps=4) == 2
    assert resident(registers=255, shared_bytes=0, num_warps=32) == 1
    assert resident(registers=None, shared_bytes=None, num_warps=None) == 16


def test_device_without_numbers_still_gives_an_answer(make):
    bare = make.changed_device(
        compile_target=None,
        lane_counts=(),
        registers_per_unit=None,
        threads_per_unit=None,
        groups_per_unit=None,
        shared_bytes_per_unit=None,
        l2_bandwidth_bytes_per_s=None,
        matrix_flops_per_s={},
        vector_flops_per_s={},
    )
    given = make.work(dot_flops={"float16": 1e9}, num_warps=None)
    assert resident_groups(bare, given) == 1
    assert 0 < seconds(make, given, device=bare) < inf
    lanes = make.changed_device(compile_target=None, lane_counts=(16, 32))
    assert resident_groups(lanes, make.work(num_warps=4, registers=0)) == 16


def test_rates_fall_back_from_format_to_format(make):
    def matrix(dtype):
        return launch_times(make.device, make.work(dot_flops={dtype: 1e12}))["matrix"]

    assert matrix("bfloat16") == matrix("float16") == matrix("float8_e5m2") == matrix("int8")
    assert matrix("float32") == matrix("tf32") == pytest.approx(2 * matrix("float16"), rel=0.01)
    assert matrix("float64") > 10 * matrix("float32")
    assert matrix("odd") > matrix("float32")

    def vector(dtype):
        return launch_times(make.device, make.work(vector_flops={dtype: 1e12}))["vector"]

    assert vector("float16") == vector("float32") < vector("float64")
    only = make.changed_device(vector_flops_per_s={"float64": 1e12})
    times = launch_times(only, make.work(vector_flops={"float16": 1e12}, programs=132))
    assert times["vector"] == pytest.approx(1.0)


def test_half_empty_last_round_costs_time(make):
    full = make.work(programs=132, vector_flops={"float32": 132e9})
    over = make.work(programs=133, vector_flops={"float32": 133e9})
    ratio = launch_times(make.device, over)["vector"] / launch_times(make.device, full)["vector"]
    assert ratio == pytest.approx(2.0)


def test_narrower_operands_pay_even_where_the_cache_is_the_limit(make):
    wide = product(make, 32, 32, "tf32", num_warps=4, registers=64)
    narrow = product(make, 32, 32, "float16", num_warps=4, registers=64)
    before = estimate(make.device, make.workload(), (wide,))
    after = estimate(make.device, make.workload(), (narrow,))
    assert before.bound == after.bound == "cache"
    assert before.seconds > 1.01 * after.seconds


def test_few_threads_cannot_fill_the_bus(make):
    few = make.work(programs=8, num_warps=4)
    assert seconds(make, few) > 5 * seconds(make, make.work(programs=4096, num_warps=4))


def test_spills_cost_time(make):
    assert seconds(make, make.work(spill_bytes=512)) > 3 * seconds(make, make.work(spill_bytes=0))


bytes_or_flops = st.floats(1e3, 1e12)


@settings(max_examples=60, deadline=None)
@given(
    programs=st.integers(1, 100_000),
    sizes=st.tuples(bytes_or_flops, bytes_or_flops, bytes_or_flops),
    share=st.floats(0.01, 1.0),
    more=st.floats(1.0, 10.0),
    warps=st.sampled_from([1, 2, 4, 8, 16, 32]),
)
def test_more_work_is_never_faster(make, *, programs, sizes, share, more, warps):
    loaded, stored, flops = sizes
    given = {
        "programs": programs,
        "loaded_bytes": loaded,
        "stored_bytes": stored,
        "unique_bytes": share * (loaded + stored),
        "dot_flops": {"float16": flops},
        "vector_flops": {"float32": flops},
        "num_warps": warps,
        "spill_bytes": 10,
        "registers": 64,
        "shared_bytes": 10_000,
    }
    base = seconds(make, make.work(**given))
    heavier = [
        {"loaded_bytes": loaded * more},
        {"stored_bytes": stored * more},
        {"unique_bytes": min(given["unique_bytes"] * more, loaded + stored)},
        {"dot_flops": {"float16": flops * more}},
        {"dot_flops": {"float16": flops, "float32": flops}},
        {"vector_flops": {"float32": flops * more}},
        {"spill_bytes": 10 * more},
    ]
    for change in heavier:
        assert seconds(make, make.work(**{**given, **change})) >= base * (1 - 1e-9)
    assert seconds(make, make.work(**given), make.work(**given)) == pytest.approx(2 * base)


@settings(max_examples=40, deadline=None)
@given(factor=st.floats(1.0, 10.0), loaded=bytes_or_flops, flops=bytes_or_flops)
def test_a_better_device_is_never_slower(make, factor, loaded, flops):
    given = make.work(
        loaded_bytes=loaded, unique_bytes=loaded, stored_bytes=loaded, dot_flops={"float16": flops}
    )
    base = seconds(make, given)
    for change in (
        {"bandwidth_bytes_per_s": 4.8e12 * factor},
        {"l2_bytes": int(50 * 2**20 * factor)},
        {"matrix_flops_per_s": {"float16": 989e12 * factor}},
        {"vector_flops_per_s": {"float32": 67e12 * factor}},
        {"launch_seconds": 2e-6 / factor},
    ):
        better = make.changed_device(**change)
        assert seconds(make, given, device=better) <= base * (1 + 1e-9)
