"""Indices of a writer and a reader become equal, or it is said that they cannot."""

import itertools

import pytest

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import axis
from xeforge.fusion.affine import number
from xeforge.fusion.fuse.digits import Digits
from xeforge.fusion.fuse.digits import radix

ROW, J, G, C, A = (axis(name) for name in "ijgca")


def values(digits, axes, point):
    return {name: each.evaluate(point) for name, each in axes.items()}


def assert_same_points(digits, written, read):
    """Evaluate both at every point of the digits; each must be hit once."""
    names = list(digits.extents)
    seen = set()
    for place in itertools.product(*(range(digits.extents[name]) for name in names)):
        point = dict(zip(names, place, strict=True))
        left = tuple(each.evaluate(values(digits, digits.group, point)) for each in written)
        right = tuple(each.evaluate(values(digits, digits.reader, point)) for each in read)
        assert left == right
        seen.add(left)
    assert len(seen) == len(list(itertools.product(*(range(digits.extents[n]) for n in names))))


@pytest.mark.parametrize(
    ("group", "written", "reader", "read"),
    [
        ({"i": 4, "j": 6}, (ROW, J), {"i": 6, "j": 4}, (J, ROW)),
        ({"i": 4, "j": 16}, (ROW, J), {"a": 4, "g": 2, "c": 8}, (A, G * 8 + C)),
        ({"i": 4, "j": 6}, (ROW, J), {"a": 24}, (A // 6, A % 6)),
        ({"i": 24}, (ROW,), {"g": 4, "c": 6}, (G * 6 + C,)),
        ({"i": 8, "j": 6}, (ROW, J), {"g": 4, "c": 12}, ((G * 12 + C) // 6, C % 6)),
        ({"i": 2, "j": 12}, (ROW, J), {"a": 24}, (A // 12, A % 12)),
        ({"i": 12}, (ROW,), {"a": 12}, (A,)),
        ({"i": 4, "j": 4}, (ROW, J), {"a": 2, "g": 2, "c": 4}, (A * 2 + G, C)),
    ],
)
def test_bijections_become_equal(group, written, reader, read):
    digits = Digits(group, reader)
    pairs = zip(written, read, strict=True)
    assert all(digits.unify(left, right) for left, right in pairs)
    assert not digits.free()
    assert_same_points(digits, written, read)


@pytest.mark.parametrize(
    ("group", "written", "reader", "read"),
    [
        ({"i": 4, "j": 4}, (ROW, J), {"a": 4}, (A, A)),  # a diagonal
        ({"i": 4}, (ROW,), {"a": 3}, (A + 1,)),  # a slice
        ({"i": 6}, (ROW,), {"g": 4, "c": 3}, (G + C,)),  # a window
        ({"i": 4}, (ROW,), {"a": 4}, (A * -1 + 3,)),  # turned round
        ({"i": 6}, (ROW,), {"a": 3}, (A * 2,)),  # every second one
        ({"i": 6}, (ROW,), {"a": 12}, (A // 2,)),  # each twice
        ({"i": 6, "j": 2}, (ROW, J), {"g": 4, "c": 3}, (G, C)),  # other sizes
        ({"i": 4}, (ROW,), {"a": 4}, (number(0),)),  # one element
    ],
)
def test_what_is_no_bijection_is_not_made_one(group, written, reader, read):
    digits = Digits(group, reader)
    pairs = list(zip(written, read, strict=True))
    assert not all(digits.unify(left, right) for left, right in pairs) or digits.free()


def test_axes_that_are_not_read_stay_free():
    digits = Digits({"i": 4}, {"i": 4, "j": 3})
    assert digits.unify(ROW, ROW)
    assert digits.free() == ("~j",)


def test_a_radix_number_has_each_weight_once():
    extents = {"i": 4, "j": 3}
    assert radix(ROW * 3 + J, extents) == ("j", "i")
    assert radix(ROW * 2 + J, extents) is None
    assert radix(ROW + 1, extents) is None
    assert radix(Affine(), extents) == ()
