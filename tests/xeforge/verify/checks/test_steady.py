"""What changed on the card is told with the verdict, and never held against the candidate."""

from xeforge.domain.samples import Conditions
from xeforge.verify.checks import steady


def test_a_fallen_clock_is_noted(make):
    conditions = Conditions((1980, 1410), (50, 80), ())
    finding = steady.check(make.context(samples=(make.drawn(1.1, conditions=conditions),)))
    assert finding.passed
    assert "the clock fell from 1980 to 1410 MHz" in finding.message


def test_a_steady_run_says_nothing(make):
    finding = steady.check(make.context(samples=(make.drawn(1.1),)))
    assert (finding.passed, finding.message) == (True, "")
