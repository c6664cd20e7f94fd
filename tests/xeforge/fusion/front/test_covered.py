from xeforge.fusion.front import covered
from xeforge.fusion.front.refusal import REMEDIES
from xeforge.fusion.front.refusal import Reason


def test_no_operator_is_listed_twice():
    names = [name for text in covered._MEMBERS.values() for name in text.split()]
    assert len(names) == len(set(names)) == len(covered.FAMILIES)


def test_what_is_dropped_or_rewritten_is_not_listed_as_kept():
    gone = covered.SAME_VALUE | covered.ASSERTIONS | covered.DROPOUTS
    assert not gone & set(covered.FAMILIES)
    assert set(covered.FAMILIES) & covered.TRANSPOSITIONS == {"permute"}
    assert set(covered.RENAMED.values()) <= set(covered.FAMILIES)


def test_every_reason_has_a_remedy():
    assert set(REMEDIES) == set(Reason)
