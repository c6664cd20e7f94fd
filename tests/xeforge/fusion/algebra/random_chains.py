"""Random chains of the kind that modules are: a product, then steps, norms, pools and folds."""

import torch

from tests.xeforge.fusion.algebra.cases import Case

ACTIVATIONS = ("relu", "tanh", "sigmoid", "gelu", "leaky_relu", "hardtanh", "abs", "softplus")
MOST_ELEMENTS = 2000


class Chain(Case):
    """Each operator reads the last value; now and then an earlier one is an output as well."""

    def __init__(self, seed, length=7):
        super().__init__(seed)
        self.last = self.product()
        self.made = [self.last]
        for _ in range(length):
            before = len(self.nodes)
            made = self.choice.choice(LINKS)(self, tuple(self.value(self.last).shape))
            value = None if made is None else self.value(made)
            if value is None or not torch.isfinite(value).all() or value.abs().max() > 1e6:
                del self.nodes[before:]
                continue
            self.last = made
            self.made.append(made)

    def outputs(self):
        kept = [each for each in self.made[:-1] if self.choice.random() < 0.1]
        return [*kept[:1], self.last]

    def product(self):
        kind = self.choice.choice(("linear", "matmul", "conv", "conv", "transposed"))
        features, inner = self.size(2, 6), self.size(2, 4)
        if kind in {"linear", "matmul"}:
            lead = self.sizes(self.choice.randint(1, 2))
            x = self.input(*lead, inner)
            if kind == "matmul":
                return self.op("matmul", x, self.parameter(inner, features))
            return self.op("linear", x, self.parameter(features, inner), *self.maybe(features))
        rank = self.choice.randint(1, 2)
        kernel, stride = [self.size(1, 3)] * rank, [self.choice.choice((1, 1, 2))] * rank
        padding = [self.choice.randint(0, (kernel[0] - 1))] * rank
        x = self.input(2, inner, *(self.size(4, 7) for _ in range(rank)))
        pair = (features, inner) if kind == "conv" else (inner, features)
        bias = self.parameter(features) if self.choice.random() < 0.5 else None
        op = "conv" if kind == "conv" else "conv_transpose"
        return self.op(f"{op}{rank}d", x, self.parameter(*pair, *kernel), bias, stride, padding)


def activation(chain, _):
    return chain.op(chain.choice.choice(ACTIVATIONS), chain.last)


def number(chain, _):
    op = chain.choice.choice(("add", "sub", "mul", "div"))
    return chain.op(op, chain.last, chain.choice.choice((0.5, 2, 1, -1.5)))


def vector(chain, shape):
    if not shape:
        return None
    kept = [size if chain.choice.random() < 0.3 else 1 for size in shape]
    op = chain.choice.choice(("add", "sub", "mul"))
    return chain.op(op, chain.last, chain.parameter(*kept))


def clamp(chain, _):
    low, high = chain.choice.choice(((0.0, 1.0), (-1.0, 1.0), (-0.5, 0.25)))
    return chain.op("clamp", chain.last, low, high)


def norm(chain, shape):
    if len(shape) < 3:
        return None
    kind = chain.choice.choice(("layer", "group", "batch", "eval", "instance"))
    pair = [chain.parameter(shape[1]), chain.parameter(shape[1])]
    rest = (0.1, 1e-2, False)
    if kind == "layer":
        return chain.op("layer_norm", chain.last, list(shape[-1:]), None, None, 1e-2, False)
    if kind == "group":
        groups = chain.choice.choice([1, shape[1]])
        return chain.op("group_norm", chain.last, groups, *pair, 1e-2, False)
    if kind == "eval":
        statistics = chain.parameter(shape[1]), chain.parameter(shape[1], low=0.5)
        return chain.op("batch_norm", chain.last, *pair, *statistics, False, *rest)
    if min(shape[2:]) < 2:
        return None
    op = "batch_norm" if kind == "batch" else "instance_norm"
    return chain.op(op, chain.last, *pair, None, None, True, *rest)


def pool(chain, shape):
    if len(shape) < 3 or min(shape[2:]) < 2:
        return None
    rank, kind = len(shape) - 2, chain.choice.choice(("max", "avg", "avg"))
    window, step = chain.choice.choice(((2, 2), (2, 1), (min(shape[2:]), 1)))
    return chain.op(f"{kind}_pool{rank}d", chain.last, [window] * rank, [step] * rank)


def fold(chain, shape):
    if not shape:
        return None
    op = chain.choice.choice(("sum", "mean", "mean", "amax", "logsumexp"))
    return chain.op(op, chain.last, chain.some(range(len(shape))), chain.choice.random() < 0.7)


def soft(chain, shape):
    if not shape:
        return None
    return chain.op("softmax", chain.last, chain.choice.randrange(len(shape)))


LINKS = (activation, number, number, vector, vector, clamp, norm, pool, pool, fold, soft)
