"""Shapes of results, for the nodes that rules make and for graphs at other sizes."""

import math
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import TypeAlias

from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.algebra.signature import spread
from xeforge.fusion.front.covered import FAMILIES
from xeforge.fusion.front.covered import Family
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Ref

Shape: TypeAlias = tuple[int, ...]
ShapeOf: TypeAlias = Callable[[Arg], Shape]


class NoShape(ValueError):
    """Operands do not fit, or the operator's result has no rule here."""


def infer(op: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    """Return the shape of an operator's result.

    Args:
        op: ATen name.
        args: By name, see `xeforge.fusion.algebra.signature`.
        shape_of: Shape of a reference; of a number it is never asked.

    Raises:
        NoShape: See there.
    """
    rule = _LAYOUTS.get(op) or _BY_FAMILY.get(FAMILIES.get(op, Family.LOSS))
    if rule is None:
        raise NoShape(f"{op} has no rule for its shape")
    try:
        return rule(op, args, shape_of)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise NoShape(f"{op}: {error}") from None


def _same_as_first(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    return shape_of(args.get("self", args.get("input")))


def _pointwise(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    return broadcast([shape_of(each) for each in args.values() if isinstance(each, Ref)])


def _constant(_: str, args: Mapping[str, Arg], __: ShapeOf) -> Shape:
    return integers(args["size"])


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Return the common shape of operands.

    Raises:
        NoShape: There is none.
    """
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(each)) + each for each in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        wide = {each for each in sizes if each != 1}
        if len(wide) > 1:
            raise NoShape(f"{sorted(wide)} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def reduced_axes(args: Mapping[str, Arg], rank: int) -> tuple[int, ...]:
    """Return the axes that a reduction folds, ascending; none given means all."""
    given = args.get("dim")
    named = () if given is None else integers(given)
    return tuple(sorted({each % rank for each in named} if rank and named else range(rank)))


def _reduced(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    axes = reduced_axes(args, len(shape))
    if args.get("keepdim"):
        return tuple(1 if place in axes else size for place, size in enumerate(shape))
    return tuple(size for place, size in enumerate(shape) if place not in axes)


def _product(op: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    if op == "linear":
        left, weight = shape_of(args["input"]), shape_of(args["weight"])
        _same(left[-1], weight[1])
        return (*left[:-1], weight[0])
    first, second = ("mat1", "mat2") if op in {"addmm", "baddbmm"} else ("self", "other")
    left, right = shape_of(args[first]), shape_of(args[second])
    _same(left[-1], right[max(len(right) - 2, 0)])
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return (*broadcast([left[:-2], right[:-2]]), *rows, *columns)


def _windowed(op: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    rank = int(op[-2])
    shape = shape_of(args.get("input", args.get("self")))
    sizes = shape[len(shape) - rank :]
    lead = shape[: len(shape) - rank]
    if op.startswith("adaptive"):
        return (*lead, *spread(args["output_size"], rank, 1))
    if "pool" in op:
        return (*lead, *_pooled(args, sizes))
    weight = shape_of(args["weight"])
    groups = args.get("groups", 1)
    if not isinstance(groups, int) or len(lead) != 2:  # noqa: PLR2004 - batch and channels
        raise NoShape("a batch and channels are needed")
    stride, dilation = spread(args.get("stride"), rank, 1), spread(args.get("dilation"), rank, 1)
    spans = [each * (size - 1) + 1 for each, size in zip(dilation, weight[2:], strict=True)]
    if "transpose" in op:
        _same(lead[1], weight[0])
        padding = spread(args.get("padding"), rank, 0)
        extra = spread(args.get("output_padding"), rank, 0)
        out = [
            (size - 1) * step - 2 * pad + span + more
            for size, step, pad, span, more in zip(
                sizes, stride, padding, spans, extra, strict=True
            )
        ]
        return _positive((lead[0], weight[1] * groups, *out))
    _same(lead[1], weight[1] * groups)
    given = args.get("padding")
    if given == "same":
        return (lead[0], weight[0], *sizes)
    padding = (0,) * rank if given == "valid" else spread(given, rank, 0)
    out = [
        (size + 2 * pad - span) // step + 1
        for size, pad, span, step in zip(sizes, padding, spans, stride, strict=True)
    ]
    return _positive((lead[0], weight[0], *out))


def _pooled(args: Mapping[str, Arg], sizes: Shape) -> Shape:
    rank = len(sizes)
    kernel = spread(args["kernel_size"], rank, 1)
    stride = spread(args["stride"], rank, 1) if args.get("stride") else kernel
    padding, dilation = spread(args.get("padding"), rank, 0), spread(args.get("dilation"), rank, 1)
    out = []
    for size, tap, step, pad, each in zip(sizes, kernel, stride, padding, dilation, strict=True):
        rest = size + 2 * pad - each * (tap - 1) - 1
        count = rest // step + 1
        if args.get("ceil_mode"):
            count = -(-rest // step) + 1
            count -= (count - 1) * step >= size + pad
        out.append(count)
    return _positive(tuple(out))


def _positive(shape: Shape) -> Shape:
    if any(each < 1 for each in shape):
        raise NoShape(f"{list(shape)} holds nothing")
    return shape


def _same(left: int, right: int) -> None:
    if left != right:
        raise NoShape(f"{left} is not {right}")


def _viewed(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    count = math.prod(shape_of(args["self"]))
    wanted = integers(args["size"])
    known = math.prod(each for each in wanted if each != -1)
    shape = tuple(count // known if each == -1 else each for each in wanted)
    _same(math.prod(shape), count)
    return shape


def _flattened(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    first, last = (
        integers(args.get(name, default))[0] % max(len(shape), 1)
        for name, default in (("start_dim", 0), ("end_dim", -1))
    )
    return (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :])


def _unflattened(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    place = integers(args["dim"])[0] % len(shape)
    sizes = integers(args["sizes"])
    known = math.prod(each for each in sizes if each != -1)
    parts = tuple(shape[place] // known if each == -1 else each for each in sizes)
    _same(math.prod(parts), shape[place])
    return (*shape[:place], *parts, *shape[place + 1 :])


def _squeezed(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    given = args.get("dim")
    places = range(len(shape)) if given is None else [each % len(shape) for each in integers(given)]
    return tuple(size for place, size in enumerate(shape) if size != 1 or place not in places)


def _unsqueezed(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    place = integers(args["dim"])[0] % (len(shape) + 1)
    return (*shape[:place], 1, *shape[place:])


def _permuted(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    return tuple(shape[each] for each in integers(args["dims"]))


def _expanded(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape, wanted = shape_of(args["self"]), integers(args["size"])
    own = (1,) * (len(wanted) - len(shape)) + shape
    return broadcast([own, tuple(b if a == -1 else a for a, b in zip(wanted, own, strict=True))])


def _sliced(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    place = integers(args.get("dim", 0))[0] % len(shape)
    limits = (args.get("start"), args.get("end"), args.get("step"))
    plain = (None if each is None else integers(each)[0] for each in limits)
    length = len(range(*slice(*plain).indices(shape[place])))
    return _positive((*shape[:place], length, *shape[place + 1 :]))


def _narrowed(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    place = integers(args["dim"])[0] % len(shape)
    start, length = integers(args["start"])[0], integers(args["length"])[0]
    if start % shape[place] + length > shape[place]:
        raise NoShape("the stretch leaves the axis")
    return (*shape[:place], length, *shape[place + 1 :])


def _selected(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape = shape_of(args["self"])
    place, at = integers(args["dim"])[0] % len(shape), integers(args["index"])[0]
    if not -shape[place] <= at < shape[place]:
        raise NoShape("the place leaves the axis")
    return (*shape[:place], *shape[place + 1 :])


def _joined(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    refs = args["tensors"]
    shapes = [shape_of(each) for each in refs] if isinstance(refs, tuple) else []
    place = integers(args.get("dim", 0))[0] % len(shapes[0])
    rest = {(*each[:place], *each[place + 1 :]) for each in shapes}
    if len(rest) != 1:
        raise NoShape("what is joined differs in other axes")
    total = sum(each[place] for each in shapes)
    return (*shapes[0][:place], total, *shapes[0][place + 1 :])


def _padded(_: str, args: Mapping[str, Arg], shape_of: ShapeOf) -> Shape:
    shape, pads = list(shape_of(args["self"])), integers(args["pad"])
    for count in range(len(pads) // 2):
        shape[len(shape) - 1 - count] += pads[2 * count] + pads[2 * count + 1]
    return _positive(tuple(shape))


_Rule: TypeAlias = Callable[[str, Mapping[str, Arg], ShapeOf], Shape]

_BY_FAMILY: Mapping[Family, _Rule] = {
    Family.POINTWISE: _pointwise,
    Family.SOFTMAX: _same_as_first,
    Family.NORM: _same_as_first,
    Family.REDUCTION: _reduced,
    Family.CONTRACTION: _product,
    Family.CONVOLUTION: _windowed,
    Family.POOL: _windowed,
}

_LAYOUTS: Mapping[str, _Rule] = {
    **dict.fromkeys(("full", "ones", "zeros"), _constant),
    "view": _viewed,
    "reshape": _viewed,
    "flatten": _flattened,
    "unflatten": _unflattened,
    "squeeze": _squeezed,
    "unsqueeze": _unsqueezed,
    "permute": _permuted,
    "expand": _expanded,
    "slice": _sliced,
    "narrow": _narrowed,
    "select": _selected,
    "cat": _joined,
    "pad": _padded,
}
