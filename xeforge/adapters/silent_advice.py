"""Knows nothing: for tests, and for whoever wants the search without the knowledge base."""

from xeforge.domain.advice import AdviceQuestion
from xeforge.domain.advice import Advised


class SilentAdvice:
    """An `Advice` that never has any."""

    def advise(self, question: AdviceQuestion) -> Advised:
        """Return an empty answer."""
        del question
        return Advised()
