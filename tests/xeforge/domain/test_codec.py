"""Every domain value survives the way to text and back, and nothing else is let in."""

import json
import math
from collections.abc import Mapping
from typing import get_args

import pytest
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from tests.conformance.domain_values import values_of
from xeforge.domain.attempt import Attempt
from xeforge.domain.certificate import Certificate
from xeforge.domain.codec import dump
from xeforge.domain.codec import dumps
from xeforge.domain.codec import load
from xeforge.domain.codec import loads
from xeforge.domain.device import CompileTarget
from xeforge.domain.device import Device
from xeforge.domain.events import Event
from xeforge.domain.events import Finished
from xeforge.domain.events import Gated
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Judged
from xeforge.domain.events import Recorded
from xeforge.domain.events import Resumed
from xeforge.domain.evidence import Finding
from xeforge.domain.history import History
from xeforge.domain.problem import Problem
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.stage import Stage
from xeforge.domain.steps import Propose
from xeforge.domain.steps import Step
from xeforge.domain.submission import Submission
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import rejected
from xeforge.errors import BadRequest

EVENTS = get_args(Event)
OTHERS = (
    *get_args(Step),
    Attempt,
    Certificate,
    Device,
    History,
    Problem,
    Recorded,
    Stage,
    Submission,
)
QUICK = settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TRIAL = Trial(
    "t1",
    "t0",
    rejected(Reason.NO_SPEEDUP, "0.99x"),
    findings=(Finding("faster", passed=False, numbers={"ratio": 0.99}),),
    ratio=Interval(0.99, 0.98, math.inf),
)
RECORD = Recorded(3, "judge:t1", 1.5, Judged(TRIAL))


def refuse_constant(word):
    raise AssertionError(f"{word} is not JSON")


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@QUICK
@given(data=st.data())
def test_every_event_round_trips_as_itself_and_as_an_event(kind, data) -> None:
    event = data.draw(values_of(kind))
    text = dumps(event)
    plain = json.loads(text, parse_constant=refuse_constant)
    assert plain == dump(event)
    assert plain["type"] == kind.__name__
    assert loads(Event, text) == event
    assert type(loads(Event, text)) is kind
    assert loads(kind, text) == event
    assert dumps(loads(Event, text)) == text


@pytest.mark.parametrize("kind", OTHERS, ids=lambda kind: kind.__name__)
@QUICK
@given(data=st.data())
def test_every_other_value_round_trips(kind, data) -> None:
    value = data.draw(values_of(kind))
    text = dumps(value)
    assert json.loads(text, parse_constant=refuse_constant) == dump(value)
    assert loads(kind, text) == value
    assert dumps(loads(kind, text)) == text


def test_steps_are_told_apart_by_name() -> None:
    step = Propose("fusion", "recipe_apply", 0, "t0", 4)
    assert dump(step)["type"] == "Propose"
    assert load(Step, dump(step)) == step


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_non_finite_floats_are_strings(value) -> None:
    text = dumps(Interval(value, 1.0, 2.0))
    assert text == f'{{"estimate":"{value!r}","low":1.0,"high":2.0}}'
    got = loads(Interval, text).estimate
    assert got == value or (math.isnan(got) and math.isnan(value))


def test_arguments_keep_apart_the_word_and_the_number() -> None:
    values = (1, True, 1.0, "inf", math.inf, (-math.inf, ("nan", ())))
    made = Workload("v[0]", "v", (), values, None, {"N": (2, math.inf)})
    back = loads(Workload, dumps(made))
    assert back == made
    assert [type(each) for each in back.init_args or ()] == [type(each) for each in values]
    got = loads(Workload, dumps(Workload("v[0]", "v", (), (math.nan,), None, {})))
    assert math.isnan(got.init_args[0])


def test_lists_become_tuples_and_enums_members() -> None:
    spec = loads(TensorSpec, dumps(TensorSpec("x", (2, 3), "float16", range=(0.0, 1.0))))
    assert spec.shape == (2, 3)
    assert spec.range == (0.0, 1.0)
    ended = load(Finished, dump(Finished(JobOutcome.UNCHANGED, None, "")))
    assert ended.outcome is JobOutcome.UNCHANGED


def test_integers_are_welcome_where_floats_are_due_and_come_back_as_floats() -> None:
    got = load(Interval, {"estimate": 1, "low": 1, "high": 2})
    assert type(got.estimate) is float
    assert dumps(Interval(1, 1, 2)) == '{"estimate":1.0,"low":1.0,"high":2.0}'


def test_architectures_are_numbers_or_words() -> None:
    for arch in (90, "gfx942"):
        target = CompileTarget("cuda", arch, 32)
        assert loads(CompileTarget, dumps(target)) == target
    with pytest.raises(BadRequest, match="an integer or a string"):
        load(CompileTarget, {"backend": "cuda", "arch": 9.5, "warp_size": 32})


def test_strings_of_any_kind_survive_as_ascii() -> None:
    for text in ("λ → 数", "a\x00b", "\udcff", "line\nline\u2028"):
        event = Gated(text, ())
        assert dumps(event).isascii()
        assert loads(Event, dumps(event)) == event


def test_mappings_keep_their_order_and_sets_are_sorted() -> None:
    numbers = {"z": 1.0, "a": 2.0}
    assert list(loads(Mapping[str, float], dumps(numbers))) == ["z", "a"]
    stage = Stage("a", "b", frozenset("zxa"), (), (), 3)
    assert dump(stage)["cures"] == ["a", "x", "z"]


def test_containers_can_be_read_by_their_type() -> None:
    pair = (Interval(1.0, 1.0, 1.0), Interval(2.0, 2.0, math.inf))
    assert loads(tuple[Interval, ...], dumps(pair)) == pair
    assert loads(tuple[Event, ...], dumps((Resumed(),))) == (Resumed(),)


def test_indented_text_reads_the_same() -> None:
    text = dumps(RECORD, indent=2)
    assert text.startswith('{\n  "sequence": 3,\n')
    assert loads(Recorded, text) == RECORD


def spoiled(path, value):
    """Return the record's data with one place replaced; `...` removes the key."""
    data = dump(RECORD)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return data


TRIAL_PATH = ("event", "trial")


@pytest.mark.parametrize(
    ("path", "value", "field", "words"),
    [
        (("surprise",), 1, "$", "unknown key 'surprise'"),
        ((*TRIAL_PATH, "surprise"), 1, "$.event.trial", "unknown key 'surprise'"),
        ((*TRIAL_PATH, "findings", 0, "x"), 1, "$.event.trial.findings[0]", "unknown key 'x'"),
        ((*TRIAL_PATH, "against"), ..., "$.event.trial.against", "'against' is missing"),
        (("event", "type"), "Judge", "$.event", "'Judge'; it must be one of Described, "),
        (("event", "type"), ..., "$.event", "'type' is None"),
        (("event",), [], "$.event", "expected an object, got []"),
        ((*TRIAL_PATH, "findings"), "abc", "$.event.trial.findings", "a list, got 'abc'"),
        ((*TRIAL_PATH, "findings"), {}, "$.event.trial.findings", "a list, got {}"),
        ((*TRIAL_PATH, "ratio", "low"), "1.5", "$.event.trial.ratio.low", "a number, got '1.5'"),
        ((*TRIAL_PATH, "ratio", "low"), True, "$.event.trial.ratio.low", "a number, got True"),
        ((*TRIAL_PATH, "ratio", "low"), 10**400, "$.event.trial.ratio.low", "too large"),
        (
            (*TRIAL_PATH, "findings", 0, "numbers"),
            [],
            "$.event.trial.findings[0].numbers",
            "an object, got []",
        ),
        (
            (*TRIAL_PATH, "verdict", "outcome"),
            "great",
            "$.event.trial.verdict.outcome",
            "'great' is none of accepted, rejected, undecided, void",
        ),
        ((*TRIAL_PATH, "verdict", "reason"), None, "$.event.trial.verdict", "a reason is given"),
        (("sequence",), True, "$.sequence", "an integer, got True"),
        (("sequence",), 1.0, "$.sequence", "an integer, got 1.0"),
        (("step",), 7, "$.step", "a string, got 7"),
        (("step",), ["x" * 99], "$.step", "xxx..."),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(path, value, field, words) -> None:
    with pytest.raises(BadRequest) as caught:
        load(Recorded, spoiled(path, value), file="job.json")
    assert caught.value.field == field
    assert caught.value.file == "job.json"
    assert words in caught.value.message
    assert caught.value.message.startswith("this is no Recorded: ")


def test_an_event_is_not_taken_for_another() -> None:
    with pytest.raises(BadRequest, match="'Resumed', not 'Judged'"):
        load(Judged, dump(Resumed()))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Expecting property name"),
        ("", "Expecting value"),
        ('{"sequence": NaN}', "NaN is not a JSON number"),
        ('{"sequence": -Infinity}', "-Infinity is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ("7", "expected an object, got 7"),
        ("1" * 5000, "no JSON"),
    ],
)
def test_text_that_is_no_value_is_refused(text, words) -> None:
    with pytest.raises(BadRequest, match=words) as caught:
        loads(Recorded, text, file="job.json")
    assert caught.value.file == "job.json"


def test_deep_arguments_are_refused_not_fatal() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    data = dump(Workload("v[0]", "v", (), (), None, {}))
    with pytest.raises(BadRequest):
        load(Workload, {**data, "init_args": deep})
    # Taken apart by hand: the interpreter would recurse to free it.
    while deep:
        deep = deep.pop()


def test_pairs_need_two_items() -> None:
    with pytest.raises(BadRequest, match="expected 2 items, got 1"):
        load(tuple[float, float], [1.0])


def test_unknown_types_are_refused() -> None:
    with pytest.raises(BadRequest):
        load(object(), {})
