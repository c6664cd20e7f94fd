"""Every check passes an honest candidate, and signs what it says."""

from xeforge.verify.checks import CHECKS
from xeforge.verify.checks import incorrect
from xeforge.verify.checks import precision
from xeforge.verify.checks import shape_overfit
from xeforge.verify.checks import unwritten


def test_right_values_pass_all(make):
    for module in (incorrect, precision, shape_overfit, unwritten):
        assert module.check(make.context()).passed
        assert module.check(make.ragged_context()).passed


def test_honest_candidate_passes_every_check(make):
    assert [name for name, check in CHECKS if not check(make.context()).passed] == []


def test_every_check_reports_under_its_own_name(make):
    assert all(check(make.context()).check == name for name, check in CHECKS)
