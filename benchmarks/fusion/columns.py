"""Random graphs of folds down columns: what walks across the lines of memory."""

import math
from typing import Any

from benchmarks.fusion.random_graph import RandomGraph

_FOLDS = ("sum", "mean", "amax", "amin", "logsumexp", "var", "prod", "softmax", "log_softmax")
_MOST_COLUMNS = 70
_POINTWISE = ("gelu", "tanh", "relu", "sigmoid", "neg")
_MOST_FACTORS = 20
"""Numbers below 2 that are multiplied without leaving the range of halves, or nearly."""


class ColumnGraph(RandomGraph):
    """One or two folds over dimensions that are not the last, with arithmetic around them.

    Args:
        seed: Of everything.
        dtype: Of all tensors.
    """

    def __init__(self, seed: int, dtype: str) -> None:
        super().__init__(seed, dtype)
        sizes = [self.choice.randint(2, 4) for _ in range(self.choice.randint(0, 2))]
        most = _MOST_COLUMNS // math.prod(sizes)
        sizes += [self.choice.randint(2, most), self.choice.randint(3, 40)]
        value = self.recorder.input(*sizes, low=-1.5, high=1.5)
        if self._may(0.3):
            order = list(range(len(sizes)))
            self.choice.shuffle(order)
            value = self._op("permute", value, order)
        value = self._pointwise(value)
        folded = self._fold(value)
        if self._may(0.3) and len(self._shape(folded)) == len(sizes):
            folded = self._op("sub", value, folded)
        folded = self._pointwise(folded)
        if self._may(0.3) and len(self._shape(folded)) > 1:
            folded = self._fold(folded)
        self._last = folded

    def _pointwise(self, value: Any) -> Any:
        if self._may(0.5):
            return value
        shape = self._shape(value)
        if self._may(0.4):
            kept = [1 if self._may(0.5) else size for size in shape]
            return self._op("mul", value, self.recorder.parameter(*kept))
        return self._op(self.choice.choice(_POINTWISE), value)

    def _fold(self, value: Any) -> Any:
        shape = self._shape(value)
        dim = self.choice.randrange(len(shape) - 1)
        name = self.choice.choice(_FOLDS)
        if name == "prod" and shape[dim] > _MOST_FACTORS:
            name = "sum"
        if name in {"softmax", "log_softmax"}:
            return self._op(name, value, dim)
        keeps = self._may(0.5)
        if name == "prod":
            return self._op(name, value, dim, keeps)
        dims = [dim]
        if self._may(0.3):
            dims = sorted(self.choice.sample(range(len(shape)), self.choice.randint(1, len(shape))))
        if name == "var":
            return self.recorder.op(name, value, dims, keepdim=keeps, correction=0)
        return self._op(name, value, dims, keeps)
