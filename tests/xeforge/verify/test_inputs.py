"""The plan asks what it should, stays stable, and suits the interpreter."""

from dataclasses import replace
from math import prod

import pytest

from xeforge.domain.case import CaseKind
from xeforge.domain.case import Fill
from xeforge.verify.inputs import base_keys
from xeforge.verify.inputs import case_by_key
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import is_base
from xeforge.verify.inputs import is_interpreted_key
from xeforge.verify.inputs import plan_cases
from xeforge.verify.inputs import shapes_of


@pytest.fixture(scope="module")
def asked(make):
    """A linear layer: a small check and a large timed shape."""

    def one(name, tokens, width, out, **more):
        return make.workload(
            name,
            inputs=(make.tensor(shape=(tokens, width), dims=("T", "FIN")),),
            init_args=(width, out, 0.03, True, 3, "same"),
            init_dims=("FIN", "FOUT", "LEAK", "BIAS", "", "MODE"),
            dims={"FOUT": out, "LEAK": 0.03, "BIAS": True, "MODE": "same"},
            **more,
        )

    return make.problem(
        one("ci[0]", 5, 24, 40, is_timed=False), one("bench-gpu[0]", 640, 3072, 1536)
    )


def plan(problem, purpose="audit", *, interpreted=True, seed=1, trusted=None):
    return plan_cases(problem, purpose=purpose, interpreted=interpreted, seed=seed, trusted=trusted)


def of(cases, kind):
    return [each for each in cases if each.kind is kind]


def test_audit_asks_every_workload_twice(asked):
    cases = plan(asked)
    shrunk, declared = of(cases, CaseKind.SHRUNK), of(cases, CaseKind.DECLARED)
    assert [each.workload for each in shrunk] == ["bench-gpu[0]"] * 2
    assert [each.workload for each in declared] == ["ci[0]"] * 2
    assert shrunk[0].seed != shrunk[1].seed
    assert declared[0].inputs == asked.workloads[0].inputs


def test_device_gets_full_sizes(asked):
    cases = plan(asked, interpreted=False)
    assert not of(cases, CaseKind.SHRUNK)
    timed = next(each for each in cases if each.workload == "bench-gpu[0]")
    assert timed.inputs[0].shape == (640, 3072)
    ragged = of(cases, CaseKind.RAGGED)
    assert all(prod(each.inputs[0].shape) <= 2**17 for each in ragged)


def test_interpreter_gets_small_sizes_everywhere(asked):
    for case in plan(asked):
        assert sum(prod(spec.shape) for spec in case.inputs) <= 2**17


def test_shrunk_arguments_follow_the_inputs(asked):
    shrunk = of(plan(asked), CaseKind.SHRUNK)[0]
    assert shrunk.init_args[0] == shrunk.inputs[0].shape[1]
    assert shrunk.init_args[1] < 1536


def test_every_input_dimension_is_made_ragged_alone_and_all_together(asked):
    details = [case_key(each.id).rpartition("/")[2] for each in of(plan(asked), CaseKind.RAGGED)]
    assert details == ["T=4", "FIN=23", "FOUT=39", "all"]
    everything = next(each for each in plan(asked) if "/all#" in each.id)
    assert everything.workload == "bench-gpu[0]"
    assert everything.inputs[0].shape == (79, 383)
    assert everything.init_args[0] == 383


def test_size_one_grows(make):
    asked = make.problem(make.workload(inputs=(make.tensor(shape=(1, 48)),)))
    shapes = [each.inputs[0].shape for each in of(plan(asked), CaseKind.RAGGED)]
    assert shapes == [(2, 48), (1, 47), (3, 47)]


def test_equal_sizes_get_different_primes(make):
    asked = make.problem(make.workload(inputs=(make.tensor(shape=(64, 64)),)))
    everything = of(plan(asked), CaseKind.RAGGED)[-1]
    assert sorted(everything.inputs[0].shape) == [59, 61]


def test_single_dimension_has_no_case_for_all_together(make):
    asked = make.problem(make.workload(inputs=(make.tensor(shape=(64,), dims=("N",)),)))
    assert [each.inputs[0].shape for each in of(plan(asked), CaseKind.RAGGED)] == [(63,)]


def test_ragged_sizes_are_asked_with_and_without_products(make):
    given = make.workload(
        inputs=(make.tensor(shape=(6, 32), dims=("T", "D")),),
        init_args=(4, 8),
        init_dims=("H", "HD"),
        dims={"H": 4, "HD": 8},
    )
    found = {
        case_key(each.id).rpartition("/")[2]: (each.inputs[0].shape, each.init_args)
        for each in of(plan(make.problem(given)), CaseKind.RAGGED)
    }
    assert found == {
        "T=5": ((5, 32), (4, 8)),
        "D=31": ((6, 31), (4, 8)),
        "all": ((5, 31), (4, 8)),
        "all, products kept": ((5, 32), (4, 8)),
    }


def test_largest_of_the_small_ones_is_made_ragged(make):
    tiny = make.workload("ci[0]", inputs=(make.tensor(shape=(3, 5)),), is_timed=False)
    small = make.workload("ci[1]", inputs=(make.tensor(shape=(60, 50)),), is_timed=False)
    cases = of(plan(make.problem(tiny, small)), CaseKind.RAGGED)
    assert {each.workload for each in cases} == {"ci[1]"}
    assert [each.inputs[0].shape for each in cases] == [(59, 50), (60, 49), (59, 47)]


def test_unusual_values_are_asked_of_float_inputs_only(make, asked):
    fills = [each.fill for each in of(plan(asked), CaseKind.SPECIAL)]
    assert fills == [Fill.LARGE, Fill.ZEROS, Fill.CONSTANT, Fill.OFFSET]
    whole = make.problem(make.workload(inputs=(make.tensor(dtype="int64"),)))
    assert not of(plan(whole), CaseKind.SPECIAL)


def test_arguments_are_changed_one_at_a_time(asked):
    found = {
        case_key(each.id).rpartition("/")[2]: each.init_args
        for each in of(plan(asked), CaseKind.ARGUMENT)
    }
    assert found == {
        "2:LEAK=0.151": (24, 40, 0.151, True, 3, "same"),
        "3:BIAS=0": (24, 40, 0.03, False, 3, "same"),
        "4:=4": (24, 40, 0.03, True, 4, "same"),
    }


def test_switch_of_one_is_tried_both_ways(make):
    given = make.workload(init_args=(1, 64), init_dims=("CAUSAL", ""), dims={"CAUSAL": 1})
    cases = of(plan(make.problem(given)), CaseKind.ARGUMENT)
    assert [each.init_args for each in cases] == [(0, 64), (2, 64)]


def test_candidates_are_asked_what_the_baseline_got_right(asked):
    trusted = {case_key(each.id) for each in plan(asked) if each.kind is not CaseKind.RAGGED}
    cases = plan(asked, "candidate", trusted=trusted)
    assert not of(cases, CaseKind.RAGGED)
    assert not of(cases, CaseKind.ARGUMENT)
    assert {case_key(each.id) for each in cases} < trusted
    assert len(of(cases, CaseKind.SHRUNK)) == 1


def test_confirmation_draws_more(asked):
    trusted = {case_key(each.id) for each in plan(asked)}
    cases = plan(asked, "confirm", trusted=trusted)
    assert len(of(cases, CaseKind.SHRUNK)) == 3
    assert len({each.seed for each in cases}) == 3


def test_keys_stay_while_seeds_change(asked):
    first, second = plan(asked, seed=1), plan(asked, seed=2)
    assert [case_key(a.id) for a in first] == [case_key(b.id) for b in second]
    assert not {each.seed for each in first} & {each.seed for each in second}
    candidate = plan(asked, "candidate", seed=1)
    assert not {each.seed for each in first} & {each.seed for each in candidate}
    assert plan(asked, seed=1) == first


def test_ids_are_unique_and_carry_the_seed(asked):
    cases = plan(asked)
    assert len({each.id for each in cases}) == len(cases)
    assert all(each.id.endswith(f"#{each.seed}") for each in cases)
    assert all(0 <= each.seed < 2**31 for each in cases)


def test_inputs_of_the_file_are_only_drawn_anew(make):
    given = make.workload("file[0]", inputs=(), init_args=None, from_file=True)
    cases = plan(make.problem(given))
    assert [each.kind for each in cases] == [CaseKind.DECLARED] * 2
    assert case_key(cases[0].id) == "file[0]/declared/random/as given"


def test_workloads_that_shrink_to_the_same_are_asked_once(make):
    wide = make.workload("bench-gpu[0]", inputs=(make.tensor(shape=(4096, 4096)),))
    wider = make.workload("bench-gpu[1]", inputs=(make.tensor(shape=(8192, 8192)),))
    asked = make.problem(wide, wider)
    shrunk = of(plan(asked), CaseKind.SHRUNK)
    assert [each.workload for each in shrunk] == ["bench-gpu[0]"] * 2
    keys = base_keys(asked, interpreted=True)
    assert keys["bench-gpu[1]"] == keys["bench-gpu[0]"] == case_key(shrunk[0].id)
    looser = make.problem(wide, replace(wider, rtol=0.5))
    assert len(of(plan(looser), CaseKind.SHRUNK)) == 4


def test_each_format_has_its_own_small_workload(make):
    half = make.workload("a[0]", inputs=(make.tensor(dtype="float16"),), dtype="float16")
    full = make.workload("b[0]", inputs=(make.tensor(dtype="float32"),), dtype="float32")
    large = make.workload("c[0]", inputs=(make.tensor(shape=(4096, 4096)),), dtype="float16")
    special = of(plan(make.problem(half, full, large)), CaseKind.SPECIAL)
    assert {each.workload for each in special} == {"a[0]", "b[0]"}


def test_case_carries_everything_of_its_workload(make):
    given = make.workload(memory_format="channels_last", rtol=0.5, atol=0.25)
    case = plan(make.problem(given))[0]
    assert (case.dtype, case.memory_format) == ("float16", "channels_last")
    assert (case.rtol, case.atol) == (0.5, 0.25)


def test_plan_by_key_knows_every_case(asked):
    known = case_by_key(asked, interpreted=True)
    assert {case_key(each.id) for each in plan(asked)} == known.keys()
    assert base_keys(asked, interpreted=True)["ci[0]"] in known


def test_names_tell_what_a_case_stands_for():
    assert is_base("declared")
    assert is_base("shrunk")
    assert not is_base("ragged")
    assert is_interpreted_key("interpreted/ci[0]/declared/random/M=1#3")
    assert not is_interpreted_key("ci[0]/declared/random/M=1#3")
    assert case_key("odd#name[0]/declared/random/M=1#3") == "odd#name[0]/declared/random/M=1"


def test_shapes_are_named_once_whatever_the_values(asked):
    cases = plan(asked, "candidate", interpreted=False)
    shapes = shapes_of(asked, cases)
    wanted = {(each.workload, each.inputs[0].shape, each.init_args) for each in cases}
    assert {(each.name, each.inputs[0].shape, each.init_args) for each in shapes} == wanted
    assert len(shapes) == len(wanted) < len(cases)
