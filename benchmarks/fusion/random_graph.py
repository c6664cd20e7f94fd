"""What generators of random graphs share."""

import random
from typing import Any

from tests.xeforge.fusion.graphs import Recorder


class RandomGraph:
    """Records a graph whose operators are drawn; subclasses draw it and set `_last`.

    Args:
        seed: Of everything.
        dtype: Of all tensors.
    """

    _last: Any

    def __init__(self, seed: int, dtype: str) -> None:
        self.choice = random.Random(seed)  # noqa: S311  repeatable, not secret
        self.recorder = Recorder(dtype, seed=seed)

    def outputs(self) -> tuple[Any, ...]:
        """Return what the graph returns."""
        return (self._last,)

    def _may(self, share: float) -> bool:
        return self.choice.random() < share

    def _op(self, name: str, *args: Any) -> Any:
        return self.recorder.op(name, *args)

    def _shape(self, value: Any) -> tuple[int, ...]:
        return tuple(self.recorder.value(value).shape)
