"""Whoever knows nothing passes the suite of those who do."""

import pytest

from tests.conformance.advice import AdviceSuite
from tests.conformance.advice import question_about
from xeforge.adapters.silent_advice import SilentAdvice
from xeforge.domain.advice import Advised
from xeforge.ports import Advice


class TestSilentAdvice(AdviceSuite):
    @pytest.fixture
    def advice(self) -> Advice:
        return SilentAdvice()

    def test_it_says_nothing(self, advice) -> None:
        assert advice.advise(question_about("matmul_upcast")) == Advised((), ())
