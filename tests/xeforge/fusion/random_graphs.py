"""Random graphs of covered operators, with operands that keep values moderate."""

import math
import random

import torch

from tests.xeforge.fusion.graphs import Recorder

MOST_ELEMENTS = 600
UNARY = (
    *("relu", "gelu", "silu", "sigmoid", "tanh", "mish", "softplus", "leaky_relu", "hardswish"),
    *("elu", "abs", "neg", "hardtanh", "erf", "sin"),
)


class Grower:
    """Adds operators to a recorder; every value made so far may be an operand again."""

    def __init__(self, seed, steps, dtype="float64"):
        self.choice = random.Random(seed)
        self.recorder = Recorder(dtype, seed=seed % 2**31)
        rank = self.choice.randint(1, 4)
        self.pool = [self.recorder.input(*self.sizes(rank))]
        self.used = set()
        for _ in range(steps):
            self.grow()

    def sizes(self, rank):
        return tuple(self.choice.randint(1, 5) for _ in range(rank))

    def outputs(self):
        """Return the last value and every other that nobody read, in random order."""
        kept = [each for each in self.pool[1:] if each.name not in self.used]
        self.choice.shuffle(kept)
        return kept[:3] or self.pool[-1:]

    def grow(self):
        x = self.choice.choice(self.pool[-3:])
        shape = tuple(self.recorder.value(x).shape)
        made = self.choice.choice(STEPS)(self, x, shape)
        if made is None:
            return
        value = self.recorder.value(made)
        if 0 < value.numel() <= MOST_ELEMENTS and bool(torch.isfinite(value).all()):
            self.used.add(x.name)
            self.pool.append(made)

    def op(self, *args, **kwargs):
        return self.recorder.op(*args, **kwargs)

    def parameter(self, *shape, **kwargs):
        return self.recorder.parameter(*shape, **kwargs)

    def dims(self, rank):
        return sorted(self.choice.sample(range(rank), self.choice.randint(1, rank)))


def unary(grower, x, _):
    return grower.op(grower.choice.choice(UNARY), x)


def binary(grower, x, shape):
    op = grower.choice.choice(("add", "sub", "mul", "minimum", "maximum"))
    same = [each for each in grower.pool if tuple(grower.recorder.value(each).shape) == shape]
    if same and grower.choice.random() < 0.5:
        return grower.op(op, x, grower.choice.choice(same))
    kept = tuple(1 if grower.choice.random() < 0.4 else size for size in shape)
    return grower.op(op, x, grower.parameter(*kept[grower.choice.randint(0, len(kept)) :]))


def number(grower, x, _):
    op = grower.choice.choice(("add", "sub", "mul", "div"))
    return grower.op(op, x, grower.choice.choice((0.5, 2, -1.5)))


def fold(grower, x, shape):
    if not shape:
        return None
    op = grower.choice.choice(("sum", "mean", "amax", "amin", "logsumexp"))
    return grower.op(op, x, grower.dims(len(shape)), grower.choice.random() < 0.5)


def soft(grower, x, shape):
    if not shape:
        return None
    dim = grower.choice.randrange(len(shape))
    return grower.op(grower.choice.choice(("softmax", "log_softmax")), x, dim)


def linear(grower, x, shape):
    if not shape:
        return None
    wide = grower.choice.randint(1, 6)
    bias = (grower.parameter(wide),) if grower.choice.random() < 0.5 else ()
    return grower.op("linear", x, grower.parameter(wide, shape[-1]), *bias)


def product(grower, x, shape):
    if len(shape) < 2:
        return None
    other = grower.parameter(*shape[:-2], shape[-1], grower.choice.randint(1, 4))
    return grower.op("matmul", x, other)


def norm(grower, x, shape):
    if len(shape) < 2:
        return None
    kind = grower.choice.choice(("layer", "rms", "group", "batch"))
    if kind == "batch":
        if math.prod(shape) == shape[1]:
            return None
        pair = (grower.parameter(shape[1]), grower.parameter(shape[1]))
        return grower.op("batch_norm", x, *pair, None, None, True, 0.1, 1e-2, False)
    if kind == "group":
        groups = grower.choice.choice(
            [each for each in range(1, shape[1] + 1) if shape[1] % each == 0]
        )
        pair = (grower.parameter(shape[1]), grower.parameter(shape[1]))
        return grower.op("group_norm", x, groups, *pair, 1e-2, False)
    last = list(shape[-1:])
    if kind == "rms":
        return grower.op("rms_norm", x, last, grower.parameter(*last), 1e-2)
    return grower.op("layer_norm", x, last, grower.parameter(*last), None, 1e-2, False)


def view(grower, x, shape):
    count = math.prod(shape)
    cut = grower.choice.choice([each for each in range(1, count + 1) if count % each == 0])
    return grower.op(
        "view" if grower.recorder.value(x).is_contiguous() else "reshape", x, [cut, count // cut]
    )


def permute(grower, x, shape):
    order = list(range(len(shape)))
    grower.choice.shuffle(order)
    return grower.op("permute", x, order)


def part(grower, x, shape):
    if not shape:
        return None
    dim = grower.choice.randrange(len(shape))
    start = grower.choice.randrange(shape[dim])
    return grower.op("slice", x, dim, start, shape[dim], grower.choice.randint(1, 2))


def unsqueeze(grower, x, shape):
    return (
        grower.op("unsqueeze", x, grower.choice.randint(0, len(shape))) if len(shape) < 4 else None
    )


def join(grower, x, shape):
    if not shape:
        return None
    return grower.op("cat", [x, x], grower.choice.randrange(len(shape)))


def convolution(grower, x, shape):
    if len(shape) < 3:
        return None
    rank = len(shape) - 2
    kernel = [grower.choice.randint(1, 3) for _ in range(rank)]
    stride = [grower.choice.randint(1, 2) for _ in range(rank)]
    padding = [grower.choice.randint(0, 1) for _ in range(rank)]
    if grower.choice.random() < 0.5:
        weight = grower.parameter(shape[1], 2, *kernel)
        reach = zip(shape[2:], kernel, stride, padding, strict=True)
        if any((size - 1) * step - 2 * pad + tap < 1 for size, tap, step, pad in reach):
            return None
        return grower.op(f"conv_transpose{rank}d", x, weight, None, stride, padding)
    reach = zip(shape[2:], kernel, padding, strict=True)
    if any(size + 2 * pad < tap for size, tap, pad in reach):
        return None
    return grower.op(
        f"conv{rank}d", x, grower.parameter(3, shape[1], *kernel), None, stride, padding
    )


def pool(grower, x, shape):
    if len(shape) < 3 or min(shape[2:]) < 2:
        return None
    rank = len(shape) - 2
    op = grower.choice.choice(("max", "avg"))
    padding = [grower.choice.randint(0, 1)] * rank
    return grower.op(
        f"{op}_pool{rank}d", x, [2] * rank, [grower.choice.randint(1, 2)] * rank, padding
    )


STEPS = (
    *(unary, binary, number, fold, soft, linear, product, norm, view, permute, part, unsqueeze),
    *(join, convolution, pool, convolution, pool, binary, unary),
)
