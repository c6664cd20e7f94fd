"""Order of calls and the early end of a run."""

import random

from bench_workers.host.schedule import is_decided
from bench_workers.host.schedule import turns
from xeforge.ports import TimingPlan

PLAN = TimingPlan(seed=0, min_pairs=30, max_pairs=100, control_pairs=20)


def test_pairs_alternate_abba_and_seeds_never_repeat():
    found = list(turns(500, PLAN, checks=3))
    pairs = [each for each in found if not each.is_control]
    assert len(pairs) == 100
    first_two = [pairs[0].order, pairs[1].order]
    assert first_two == [("first", "second"), ("second", "first")]
    assert len({each.seed for each in found}) == len(found)
    assert min(each.seed for each in found) == 500


def test_controls_come_among_the_fewest_pairs():
    found = list(turns(0, PLAN, checks=3))
    places = [index for index, each in enumerate(found) if each.is_control]
    assert len(places) == 20
    assert sum(not each.is_control for each in found[: places[-1]]) <= 30
    controls = [found[index].order for index in places]
    assert controls.count(("first", "second")) == 10


def test_some_output_is_always_checked_and_which_is_secret():
    for _ in range(20):
        pairs = [each for each in turns(0, PLAN, checks=3) if not each.is_control]
        checked = [index for index, each in enumerate(pairs) if each.checked]
        assert checked[-1] < PLAN.min_pairs
        assert 1 <= len(checked) <= 3
    different = {
        tuple(each.number for each in turns(0, PLAN, checks=1) if each.checked) for _ in range(40)
    }
    assert len(different) > 1


def test_no_controls_when_none_are_wanted():
    plan = TimingPlan(seed=0, min_pairs=4, max_pairs=8, control_pairs=0)
    assert not any(each.is_control for each in turns(0, plan, checks=1))


def samples(ratio, spread, count):
    generator = random.Random(1)
    second = [1.0 + generator.gauss(0, spread) for _ in range(count)]
    first = [ratio * (1.0 + generator.gauss(0, spread)) for _ in range(count)]
    return first, second


def test_a_clear_difference_and_a_clear_tie_end_a_run():
    assert is_decided(*samples(1.10, 0.01, 30))
    assert is_decided(*samples(0.90, 0.01, 30))
    assert is_decided(*samples(1.0, 0.005, 60))


def test_what_is_unclear_goes_on():
    assert not is_decided(*samples(1.012, 0.01, 30))
    assert not is_decided(*samples(1.05, 0.2, 30))
    assert not is_decided([1.0], [2.0])
