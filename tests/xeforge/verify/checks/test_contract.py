"""Number, shape, format, layout and device of the answer stay."""

import pytest

from xeforge.domain.verdict import Reason
from xeforge.verify.checks import contract

BASE = "bench-gpu[0]/declared/random/M=64,N=48#5"


def seen(make, *outputs, audit=None, **changes):
    given = make.evidence(make.ran(BASE, *outputs, **changes))
    return make.context(evidence=given, audit=audit)


def audited(make, *outputs, **changes):
    return make.evidence(make.ran("bench-gpu[0]/declared/random/M=64,N=48#1", *outputs, **changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": (48, 64)}, "output 0 has shape [48, 64], expected [64, 48]"),
        ({"dtype": "float32"}, "output 0 is float32, expected float16"),
        ({"strides": (1, 64)}, "output 0 has strides [1, 64], expected [48, 1]"),
        ({"device": "cpu"}, "output 0 is on cpu, expected cuda:0"),
    ],
)
def test_other_outputs_break_the_contract(make, changes, words):
    found = contract.check(seen(make, make.output(**changes)))
    assert found.reason == Reason.OUTPUT_CONTRACT
    assert words in found.message


def test_other_number_of_outputs_breaks_the_contract(make):
    found = contract.check(seen(make, output_count=2))
    assert "returns 2 outputs, expected 1" in found.message


def test_layout_of_the_submitted_kernel_is_fine_too(make):
    other = make.output(strides=(1, 64))
    assert contract.check(seen(make, other, audit=audited(make, other))).passed


def test_another_card_of_the_same_kind_is_fine(make):
    assert contract.check(seen(make, make.output(device="cuda:1"))).passed


def test_case_without_counterpart_is_held_to_the_reference(make):
    other = make.evidence(make.ran("bench-gpu[0]/declared/random/other#1"))
    given = make.evidence(make.ran(BASE, make.output(device="cpu", strides=(1, 64))))
    context = make.context(evidence=given, audit=other, trusted=frozenset({BASE.partition("#")[0]}))
    assert "strides" in contract.check(context).message
    assert "is on" not in contract.check(context).message
