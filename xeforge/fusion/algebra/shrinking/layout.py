"""Views, slices and joins: where the axes of a result come from."""

import math
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from xeforge.fusion.algebra.shrinking.axes import ONE
from xeforge.fusion.algebra.shrinking.axes import Axis
from xeforge.fusion.algebra.shrinking.seen import Axes
from xeforge.fusion.algebra.shrinking.seen import Seen
from xeforge.fusion.algebra.signature import integers
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Ref


def _reshaped(seen: Seen) -> Axes:
    result = list(_regrouped(seen, [each for each in seen.first if each.full != 1]))
    axes = tuple(ONE if full == 1 else result.pop(0) for full in seen.node.shape)
    seen.changed.update(_size_arguments(seen, axes))
    return axes


def _size_arguments(seen: Seen, axes: Axes) -> dict[str, Arg]:
    sizes = tuple(each.size for each in axes)
    if seen.node.op in {"view", "reshape"}:
        return {"size": sizes}
    if seen.node.op == "unflatten":
        place = integers(seen.args["dim"])[0] % len(seen.first)
        return {"sizes": sizes[place : place + len(integers(seen.args["sizes"]))]}
    return {}


def _regrouped(seen: Seen, given: Sequence[Axis]) -> Axes:
    """Cut both sides into shortest runs of equal size, and treat each run alone."""
    left, right = list(given), [each for each in seen.node.shape if each != 1]
    result: list[Axis] = []
    while right:
        before, after = [left.pop(0)], [right.pop(0)]
        while (have := math.prod(each.full for each in before)) != (want := math.prod(after)):
            if have < want:
                before.append(left.pop(0))
            else:
                after.append(right.pop(0))
        result += _run(seen, before, after)
    return tuple(result)


def _run(seen: Seen, before: list[Axis], after: list[int]) -> list[Axis]:
    if len(after) == 1:
        return before if len(before) == 1 else [_merged(before)]
    parts = [part for each in before for part in (each.parts or (each,))]
    if [each.full for each in parts] == after:
        return parts
    total = _merged(before)
    largest = after.index(max(after))
    small = [min(each, 2) for each in after]
    rest = math.prod(small) // small[largest]
    if total.size % rest or total.size // rest < min(after[largest], 2):
        seen.sizes.grow(before)
    small[largest] = total.size // rest
    return [Axis(size, full, None, total.needs) for size, full in zip(small, after, strict=True)]


def _merged(axes: Sequence[Axis]) -> Axis:
    needs = frozenset(each for axis in axes for each in axis.needs)
    parts = tuple(part for axis in axes for part in (axis.parts or (axis,)))
    size, full = math.prod(each.size for each in axes), math.prod(each.full for each in axes)
    return Axis(size, full, None, needs, parts)


def _permuted(seen: Seen) -> Axes:
    return tuple(seen.first[each] for each in integers(seen.args["dims"]))


def _expanded(seen: Seen) -> Axes:
    lead = len(seen.node.shape) - len(seen.first)
    axes = []
    for place, full in enumerate(seen.node.shape):
        own = seen.first[place - lead] if place >= lead else ONE
        axes.append(own if own.full == full else seen.sizes.axis(seen.node.name, place, full))
    seen.changed["size"] = tuple(each.size for each in axes)
    return tuple(axes)


def _place(seen: Seen) -> int:
    return integers(seen.args.get("dim", 0))[0] % len(seen.first)


def _cut(seen: Seen) -> Axes:
    """A stretch of an axis keeps its ends in proportion."""
    place = _place(seen)
    axis, full = seen.first[place], seen.node.shape[place]
    if full == axis.full:
        return seen.first
    step = integers(seen.args.get("step") or 1)[0]
    start = integers(seen.args.get("start") or 0)[0]
    start = max(start + axis.full, 0) if start < 0 else start
    begin = start * axis.size // axis.full
    end = (start + full * step) * axis.size // axis.full
    if seen.node.op == "narrow":
        seen.changed.update({"start": begin, "length": end - begin})
    else:
        seen.changed.update({"start": begin, "end": end})
    if begin >= end:
        seen.sizes.grow([axis])
    return _only(seen, seen.follow([place], [axis]), place)


def _only(seen: Seen, found: Axes, place: int) -> Axes:
    """Keep the axes of the operand but one."""
    return (*seen.first[:place], found[place], *seen.first[place + 1 :])


def _selected(seen: Seen) -> Axes:
    place = _place(seen)
    at = integers(seen.args["index"])[0]
    size = seen.first[place].size
    seen.changed["index"] = max(min(at, size - 1), -size)
    return (*seen.first[:place], *seen.first[place + 1 :])


def _split(seen: Seen) -> Axes:
    place = _place(seen)
    axis, full = seen.first[place], seen.node.shape[place]
    name = "chunks" if seen.node.op == "chunk" else "split_size"
    if axis.full % full or not isinstance(seen.args.get(name), int):
        raise seen.refuse("cuts an axis into unequal parts")
    parts = axis.full // full
    if axis.size % parts or axis.size // parts < min(full, 2):
        seen.sizes.grow([axis])
    size = axis.size // parts
    seen.changed[name] = parts if name == "chunks" else size
    new = replace(axis, size=size, full=full, variable=None, parts=())
    return (*seen.first[:place], new, *seen.first[place + 1 :])


def _joined(seen: Seen) -> Axes:
    refs = seen.args["tensors"]
    given = (
        [seen.known[each.name] for each in refs if isinstance(each, Ref)]
        if isinstance(refs, tuple)
        else []
    )
    place = integers(seen.args.get("dim", 0))[0] % len(seen.node.shape)
    axes = []
    for at, column in enumerate(zip(*given, strict=True)):
        axes.append(seen.sizes.agree(column) if at != place else replace(_merged(column), parts=()))
    size = sum(each[place].size for each in given)
    axes[place] = replace(axes[place], size=size, full=seen.node.shape[place])
    return tuple(axes)


def _padded(seen: Seen) -> Axes:
    pads = integers(seen.args["pad"])
    rank = len(seen.first)
    places = [rank - 1 - count for count in range(len(pads) // 2)]
    found = seen.follow(places, [seen.first[each] for each in places])
    return tuple(found[each] if each in places else seen.first[each] for each in range(rank))


LAYOUTS: Mapping[str, Callable[[Seen], Axes]] = {
    **dict.fromkeys(("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze"), _reshaped),
    "permute": _permuted,
    "expand": _expanded,
    **dict.fromkeys(("slice", "narrow"), _cut),
    "select": _selected,
    **dict.fromkeys(("chunk", "split"), _split),
    "cat": _joined,
    "pad": _padded,
}
