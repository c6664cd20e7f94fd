"""The tiles in which a kernel accumulates products."""

import ast
import math
from collections.abc import Mapping

from xeforge.source.kernel_body import KernelBody

_TILE_RANK = 2


def accumulator_shapes(body: KernelBody) -> tuple[tuple[str, ...], ...]:
    """Return the shapes, as written, of the two-dimensional tiles that products are added to.

    Empty when the kernel itself multiplies no matrices. A tile that is made in several places
    counts once.
    """
    if not body.named("dot", "dot_scaled"):
        return ()
    added = _added_to(body)
    found: dict[str, tuple[str, ...]] = {}
    for call in body.named("zeros", "full"):
        shape = call.argument(0, "shape")
        names = [b.name for b in body.bindings if b.place.index == call.place.index]
        is_tile = isinstance(shape, ast.Tuple | ast.List) and len(shape.elts) == _TILE_RANK
        if call.place.branches:
            continue  # one arm of several: perhaps never taken with these values
        if is_tile and isinstance(shape, ast.Tuple | ast.List) and set(names) & added:
            found[names[0]] = tuple(ast.unparse(each) for each in shape.elts)
    return tuple(found.values())


def _added_to(body: KernelBody) -> set[str]:
    """Return the names whose new value has a product in it."""
    dots = {call.place.index for call in body.named("dot", "dot_scaled")}
    return {each.name for each in body.bindings if each.place.index in dots}


def elements(shape: tuple[str, ...], values: Mapping[str, int]) -> int | None:
    """Return the size of a tile; None when some extent is not certain."""
    sizes = [int(each) if each.isdigit() else values.get(each) for each in shape]
    return None if None in sizes else math.prod(each or 1 for each in sizes)


def accumulated(body: KernelBody, values: Mapping[str, int]) -> int | None:
    """Return how many elements a program accumulates products in; None when not certain."""
    sizes = [elements(each, values) for each in accumulator_shapes(body)]
    if not sizes or None in sizes:
        return None
    return sum(each or 0 for each in sizes)
