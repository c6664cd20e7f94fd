"""Random domain values for property tests, made from the field types alone."""

import dataclasses
import types
from collections.abc import Mapping
from enum import Enum
from typing import Literal
from typing import Union
from typing import get_args
from typing import get_origin

from hypothesis import strategies as st

from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Speed
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason

TEXTS = st.text(max_size=8)
FLOATS = st.floats(allow_nan=False)
"""NaN differs from itself, so that no equality holds with it; it has tests of its own."""
SCALARS = st.one_of(st.booleans(), st.integers(), FLOATS, TEXTS)
ARGUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6
)
VERDICTS = st.one_of(
    st.builds(Verdict, st.just(Outcome.ACCEPTED), TEXTS, grade=st.sampled_from(Grade)),
    st.builds(
        Verdict,
        st.just(Outcome.REJECTED),
        TEXTS,
        reason=st.sampled_from(Reason),
        speed=st.none() | st.sampled_from(Speed),
    ),
    st.builds(Verdict, st.just(Outcome.VOID), TEXTS, void_reason=st.sampled_from(VoidReason)),
    st.builds(Verdict, st.just(Outcome.UNDECIDED), TEXTS),
)
_KNOWN = {
    bool: st.booleans(),
    int: st.integers(),
    float: FLOATS,
    str: TEXTS,
    type(None): st.none(),
    Verdict: VERDICTS,
}


def values_of(type_) -> st.SearchStrategy:
    """Draw values of a domain type, a union of them, or any field type they use."""
    if type_ in _KNOWN:
        return _KNOWN[type_]
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in {Union, types.UnionType}:
        if {bool, int, float, str} <= set(arguments):
            return ARGUMENTS
        return st.one_of(*(values_of(each) for each in arguments))
    if origin is not None:
        return _generic(origin, arguments)
    if issubclass(type_, Enum):
        return st.sampled_from(type_)
    fields = dataclasses.fields(type_)
    return st.deferred(
        lambda: st.builds(type_, **{each.name: values_of(each.type) for each in fields})
    )


def _generic(origin, arguments) -> st.SearchStrategy:
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is not ...:
        return st.tuples(*(values_of(each) for each in arguments))
    if origin is Mapping:
        keys, values = arguments
        return st.dictionaries(values_of(keys), values_of(values), max_size=2)
    return st.lists(values_of(arguments[0]), max_size=2).map(origin)
