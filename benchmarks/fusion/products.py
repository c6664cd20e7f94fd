"""Random graphs around matrix products: what the general generator is too small to reach."""

import math
from typing import Any

from benchmarks.fusion.random_graph import RandomGraph

SIZES = (3, 16, 17, 24, 32, 40)
"""Whole and ragged numbers of the smallest tiles."""

MATRIX = 2


class ProductGraph(RandomGraph):
    """One or two products with arithmetic around them.

    Args:
        seed: Of everything.
        dtype: Of all tensors.
    """

    def __init__(self, seed: int, dtype: str) -> None:
        super().__init__(seed, dtype)
        self._size = lambda: self.choice.choice(SIZES)
        value = self._product(self._before(self._input()))
        value = self._after(value)
        if self._may(0.2):
            value = self._after(self._product(value))
        self._last = value

    def _input(self) -> Any:
        lead = self.choice.choice(((), (), (2,), (3, 2)))
        return self.recorder.input(*lead, self._size(), self._size(), low=-1, high=1)

    def _before(self, value: Any) -> Any:
        kind = self.choice.choice(("", "", "", "silu", "scale", "turned"))
        if kind == "silu":
            return self._op("silu", value)
        if kind == "scale":
            return self._op("mul", value, self.recorder.parameter(self._shape(value)[-1]))
        if kind == "turned":
            return self._turned(value)
        return value

    def _product(self, value: Any) -> Any:
        shape, kind = self._shape(value), self.choice.choice(("linear", "bias", "matmul", "batch"))
        wide, deep = self._size(), shape[-1]
        bound = 2 / math.sqrt(deep)
        if kind == "matmul" or (kind == "batch" and len(shape) == MATRIX):
            return self._op("matmul", value, self._weight(bound, deep, wide))
        if kind == "batch":
            if self._may(0.5):
                turned = self._weight(bound, *shape[:-2], wide, deep)
                return self._op("matmul", value, self._turned(turned))
            return self._op("matmul", value, self._weight(bound, *shape[:-2], deep, wide))
        bias = (self.recorder.parameter(wide),) if kind == "bias" else ()
        return self._op("linear", value, self._weight(bound, wide, deep), *bias)

    def _turned(self, value: Any) -> Any:
        """Exchange the last two dimensions."""
        order = list(range(len(self._shape(value))))
        return self._op("permute", value, [*order[:-2], order[-1], order[-2]])

    def _weight(self, bound: float, *shape: int) -> Any:
        return self.recorder.parameter(*shape, low=-bound, high=bound)

    def _after(self, value: Any) -> Any:
        for _ in range(self.choice.randint(0, 3)):
            value = self.choice.choice(AFTER)(self, value)
        return value

    def bent(self, value: Any) -> Any:
        """Apply an element-wise function."""
        return self._op(self.choice.choice(("gelu", "relu", "silu", "tanh", "mish")), value)

    def added(self, value: Any) -> Any:
        """Add something of the same shape, or a part of it."""
        shape = self._shape(value)
        start = self.choice.randint(0, max(0, len(shape) - 1))
        return self._op("add", value, self.recorder.parameter(*shape[start:]))

    def folded(self, value: Any) -> Any:
        """Fold the last dimension away and keep it as one element."""
        if not self._shape(value):
            return value
        op = self.choice.choice(("sum", "amax", "mean", "logsumexp"))
        return self._op(op, value, [-1], True)

    def normed(self, value: Any) -> Any:
        """Apply a norm or a softmax along the last dimension, or a part of it."""
        shape = self._shape(value)
        if not shape or shape[-1] == 1:
            return value
        kind = self.choice.choice(("softmax", "layer", "group"))
        if kind == "softmax":
            return self._op("softmax", value, -1)
        if kind == "group" and len(shape) == MATRIX:
            parts = [each for each in range(1, shape[1]) if shape[1] % each == 0]
            pair = (self.recorder.parameter(shape[1]), self.recorder.parameter(shape[1]))
            return self._op("group_norm", value, self.choice.choice(parts), *pair, 1e-2, False)
        last = list(shape[-1:])
        weight = self.recorder.parameter(*last)
        return self._op("layer_norm", value, last, weight, None, 1e-2, False)


AFTER = (
    ProductGraph.bent,
    ProductGraph.bent,
    ProductGraph.added,
    ProductGraph.added,
    ProductGraph.folded,
    ProductGraph.normed,
    ProductGraph.normed,
)
