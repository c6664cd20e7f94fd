"""Sizes that hang together change together."""

from hypothesis import given
from hypothesis import strategies as st

from xeforge.verify import resize


def linear(make):
    return make.workload(
        inputs=(make.tensor(shape=(640, 3072), dims=("TOK", "FIN")),),
        init_args=(3072, 1536, 0.03, (1536,)),
        init_dims=("FIN", "FOUT", "LEAK", "GAIN"),
        dims={"FOUT": 1536, "LEAK": 0.03, "GAIN": (1536,)},
    )


def test_sizes_are_whole_numbers_that_something_uses(make):
    given = make.workload(
        init_args=(True, 0.5), init_dims=("FLAG", "P"), dims={"FLAG": True, "P": 0.5, "UNUSED": 9}
    )
    assert resize.sizes_of(given) == {"M": 64, "N": 48}


def test_size_changes_in_inputs_arguments_and_lists(make):
    new = resize.resized(linear(make), {"FIN": 96, "FOUT": 48})
    assert new.inputs[0].shape == (640, 96)
    assert new.init_args == (96, 48, 0.03, (48,))
    assert new.dims["FOUT"] == 48


def test_list_stays_when_two_sizes_could_be_meant(make):
    square = make.workload(
        inputs=(make.tensor(shape=(64, 64), dims=("M", "N")),),
        init_args=((64,), 64),
        init_dims=("GAIN", ""),
        dims={"GAIN": (64,)},
    )
    assert resize.resized(square, {"M": 63}).init_args == ((64,), 64)
    assert resize.resized(square, {"M": 32, "N": 32}).init_args == ((32,), 32)


def test_small_literals_are_no_sizes(make):
    given = make.workload(
        inputs=(make.tensor(shape=(3, 48)),), init_args=(3, True), init_dims=("", "")
    )
    assert resize.resized(given, {"M": 5}).init_args == (3, True)


def test_literal_sizes_of_an_input_stay(make):
    given = make.workload(inputs=(make.tensor(shape=(64, 7), dims=("M", "")),))
    assert resize.resized(given, {"M": 63}).inputs[0].shape == (63, 7)
    bare = make.workload(inputs=(make.tensor(shape=(64, 7), dims=()),), dims={})
    assert resize.resized(bare, {"M": 63}).inputs[0].shape == (64, 7)


def test_bounds_follow_the_dimension_they_name(make):
    """Indices below a vocabulary stay below it when it shrinks; plain numbers stay."""
    index = make.tensor("IDX", (64,), "int64", ("B",), range=(0, 500), range_dims=("", "VOCAB"))
    plain = make.tensor("X", (64,), "float32", ("B",), range=(-500, 500))
    asked = make.workload(
        inputs=(index, plain), init_args=(500,), init_dims=("VOCAB",), dims={"VOCAB": 500}
    )
    changed = resize.resized(asked, {"VOCAB": 33, "B": 5})
    assert changed.inputs[0].range == (0.0, 33.0)
    assert changed.inputs[1].range == (-500, 500)
    assert changed.inputs[0].shape == (5,)
    assert changed.init_args == (33,)


def test_workload_without_arguments_keeps_none(make):
    assert resize.resized(make.workload(init_args=None), {"M": 63}).init_args is None


def heads(make, sizes):
    """A layer of width D with H heads of size HD."""
    return make.workload(
        inputs=(make.tensor(shape=(77, sizes["D"]), dims=("S", "D")),),
        init_args=(sizes["H"], sizes["HD"]),
        init_dims=("H", "HD"),
        dims=sizes,
    )


def test_products_are_found_and_kept(make):
    sizes = {"D": 4096, "H": 32, "HD": 128, "S": 77}
    relations = resize.relations_of(heads(make, sizes))
    assert relations == (("D", "H", "HD"),)
    assert resize.repaired({**sizes, "H": 31}, relations, {"H"})["D"] == 31 * 128
    assert resize.repaired({**sizes, "D": 2048}, relations, {"D"})["HD"] == 64
    assert resize.repaired({**sizes, "D": 4095}, relations, {"D"}) is None
    assert resize.repaired({**sizes, "S": 76}, relations, {"S"}) == {**sizes, "S": 76}


def test_sizes_of_one_tensor_are_no_product_of_each_other(make):
    given = make.workload(inputs=(make.tensor(shape=(32, 4096, 128), dims=("H", "S", "D")),))
    assert resize.relations_of(given) == ()


def test_products_that_contradict_each_other_cannot_be_repaired():
    relations = (("A", "B", "C"), ("A", "B", "D"))
    assert resize.repaired({"A": 6, "B": 3, "C": 2, "D": 4}, relations, {"C", "D"}) is None


def test_argument_is_replaced_in_its_slot(make):
    given = make.workload(init_args=(1, 2.0, True))
    assert resize.with_argument(given, 1, 9.0).init_args == (1, 9.0, True)
    assert resize.with_argument(make.workload(init_args=None), 0, 9.0).init_args == (9.0,)


def test_cost_counts_elements_and_the_three_largest_sizes(make):
    given = linear(make)
    assert resize.element_count(given) == 640 * 3072
    assert resize.work_proxy(given) == 640 * 3072 * 1536


@given(
    count=st.integers(2, 64), size=st.integers(2, 64), new=st.integers(1, 64), which=st.booleans()
)
def test_repair_keeps_what_was_changed_on_purpose(make, count, size, new, which):
    sizes = {"D": count * size, "H": count, "HD": size}
    name = "H" if which else "HD"
    relations = resize.relations_of(heads(make, sizes))
    fixed = resize.repaired({**sizes, name: new}, relations, {name})
    if fixed is not None:
        assert fixed[name] == new
        assert all(fixed[a] == fixed[b] * fixed[c] for a, b, c in relations)
