"""Changes the sizes of a workload and keeps everything that hangs together with them."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import prod

from xeforge.domain.problem import Argument
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload

Sizes = dict[str, int]
Relation = tuple[str, str, str]
"""Names ``(a, b, c)`` with ``a == b * c``, e.g. model width = heads x head size."""

_SIZE_LIKE = 16
"""Constructor literals from here on may be sizes (16: the smallest edge of a matrix tile)."""


def sizes_of(workload: Workload) -> Sizes:
    """Return the named whole-number dimensions that inputs or constructor arguments use."""
    used = {name for spec in workload.inputs for name in spec.dims} | set(workload.init_dims)
    return {
        name: value
        for name, value in workload.dims.items()
        if name in used and isinstance(value, int) and not isinstance(value, bool)
    }


def input_dims(workload: Workload) -> tuple[str, ...]:
    """Return the named dimensions that occur in an input's shape, in order of appearance."""
    known = sizes_of(workload)
    names = (name for spec in workload.inputs for name in spec.dims if name in known)
    return tuple(dict.fromkeys(names))


def relations_of(workload: Workload) -> tuple[Relation, ...]:
    """Return products that hold between named sizes; some hold by chance, which does no harm.

    A tensor that has all three sizes side by side has them independently, as far as anyone
    can tell: ``[heads, tokens, size]`` may hold ``tokens == heads * size`` by chance only.
    """
    sizes = sizes_of(workload)
    shapes = [set(spec.dims) for spec in workload.inputs]
    names = [name for name, value in sizes.items() if value > 1]
    return tuple(
        (whole, one, other)
        for one, other in combinations(names, 2)
        for whole in names
        if sizes[whole] == sizes[one] * sizes[other]
        and whole not in (one, other)
        and not any({whole, one, other} <= shape for shape in shapes)
    )


def repaired(sizes: Sizes, relations: tuple[Relation, ...], changed: set[str]) -> Sizes | None:
    """Return sizes in which every product holds again, or nothing when that is impossible.

    Args:
        sizes: Sizes after a change.
        relations: Products that held before it.
        changed: Names that were changed on purpose and must stay as they are.
    """
    new, fixed = dict(sizes), set(changed)
    while True:
        # Each turn fixes one more name, so this ends.
        broken = [each for each in relations if new[each[0]] != new[each[1]] * new[each[2]]]
        if not broken:
            return new
        whole, one, other = broken[0]
        if whole not in fixed:
            new[whole], touched = new[one] * new[other], whole
        else:
            free = [name for name in (one, other) if name not in fixed]
            fits = [name for name in free if new[whole] % new[other if name == one else one] == 0]
            if not fits:
                return None
            touched = max(fits, key=lambda name: new[name])
            new[touched] = new[whole] // new[other if touched == one else one]
        fixed.add(touched)


def resized(workload: Workload, sizes: Mapping[str, int]) -> Workload:
    """Return the workload with other values for some named dimensions.

    A dimension changes in every input and constructor argument that names it. Unnamed whole
    numbers of the constructor (list elements and literals) follow when they equal the old value
    of exactly one changed size: ``[1536]`` beside ``FOUT: 1536`` is the same thing written twice.
    """
    old = sizes_of(workload)
    changes = {name: value for name, value in sizes.items() if old.get(name, value) != value}
    init_args = workload.init_args
    if init_args is not None:
        names = workload.init_dims or ("",) * len(init_args)
        by_value = _by_value(old, changes)
        init_args = tuple(
            changes[name] if name in changes else _follow(value, by_value, is_named=name in old)
            for name, value in zip(names, init_args, strict=True)
        )
    return replace(
        workload,
        inputs=tuple(_resized_input(spec, changes) for spec in workload.inputs),
        init_args=init_args,
        dims={**workload.dims, **changes},
    )


def with_argument(workload: Workload, index: int, value: Argument) -> Workload:
    """Return the workload with another value for one constructor argument."""
    arguments = workload.init_args or ()
    return replace(workload, init_args=(*arguments[:index], value, *arguments[index + 1 :]))


def element_count(workload: Workload) -> int:
    """Return the elements of all inputs together."""
    return sum(prod(spec.shape) for spec in workload.inputs)


def work_proxy(workload: Workload) -> int:
    """Return the product of the three largest sizes: multiply-adds if it is a matrix product."""
    sizes = list(sizes_of(workload).values())
    sizes += [size for spec in workload.inputs for size in spec.shape if size not in sizes]
    return prod(sorted(sizes)[-3:])


def _resized_input(spec: TensorSpec, changes: Mapping[str, int]) -> TensorSpec:
    bounds = spec.range
    if bounds is not None:
        low, high = (
            float(changes.get(name, bound))
            for name, bound in zip(spec.range_dims, bounds, strict=True)
        )
        bounds = low, high
    if not spec.dims:
        return replace(spec, range=bounds)
    pairs = zip(spec.dims, spec.shape, strict=True)
    shape = tuple(changes.get(name, size) for name, size in pairs)
    return replace(spec, shape=shape, range=bounds)


def _by_value(old: Sizes, changes: Mapping[str, int]) -> dict[int, int]:
    """Map old values to new ones where there is only one way to read them."""
    result: dict[int, int] = {}
    for value in {old[name] for name in changes}:
        targets = {changes.get(name, value) for name, size in old.items() if size == value}
        if len(targets) == 1 and value >= _SIZE_LIKE:
            result[value] = targets.pop()
    return result


def _follow(value: Argument, by_value: Mapping[int, int], *, is_named: bool) -> Argument:
    if isinstance(value, tuple):
        return tuple(_follow(each, by_value, is_named=False) for each in value)
    if isinstance(value, bool) or not isinstance(value, int) or is_named:
        return value
    return by_value.get(value, value)
