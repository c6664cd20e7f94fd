"""What addresses inside a jit function are made of: pointer parameter, lanes, strides, rank."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace
from typing import Final

from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody

_MOST_DEPTH: Final = 12
_SAME: Final = frozenset({"multiple_of", "max_contiguous", "max_constancy", "assume", "cast"})
_POINTER_MAKERS: Final = frozenset({"make_block_ptr", "make_tensor_descriptor", "advance"})
_REDUCTIONS: Final = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce"})


@dataclass(frozen=True, slots=True)
class Lane:
    """One ``arange`` inside an address.

    Attributes:
        axis: Axis of the tile it runs along; None for a one-dimensional tile.
        extent: Source text of its length.
        factors: What it is multiplied with.
        is_plain: Nothing but sums and products stands around it.
        is_loaded: It is part of the address of another load: this access is a gather.
    """

    axis: int | None
    extent: str
    factors: tuple[ast.expr, ...]
    is_plain: bool = True
    is_loaded: bool = False


def pointer_of(body: KernelBody, node: ast.expr | None, index: int, depth: int = 0) -> str | None:
    """Return the parameter that an address, block pointer or descriptor starts from."""
    if node is None or depth > _MOST_DEPTH:
        return None
    match node:
        case ast.Name(id=name):
            found = body.before(name, index)
            if found is None or found.value is None:
                return name if name in body.parameters else None
            return pointer_of(body, found.value, found.place.index, depth + 1)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return pointer_of(body, left, index, depth + 1) or pointer_of(
                body, right, index, depth + 1
            )
        case ast.Call():
            inner = _inner(body, node)
            return None if inner is None else pointer_of(body, inner, index, depth + 1)
        case _:
            return None


def _inner(body: KernelBody, node: ast.Call) -> ast.expr | None:
    """Return what a call passes through: the base of a block pointer, a hinted value."""
    if not body.imports.is_triton(node.func, *_POINTER_MAKERS, *_SAME):
        is_cast = isinstance(node.func, ast.Attribute) and node.func.attr == "to"
        return node.func.value if is_cast and isinstance(node.func, ast.Attribute) else None
    if node.args:
        return node.args[0]
    return next((each.value for each in node.keywords if each.arg in {"base", "input"}), None)


def made_by(body: KernelBody, node: ast.expr | None, index: int) -> ast.Call | None:
    """Return the call that made a block pointer or descriptor, through ``advance`` and names."""
    for _ in range(_MOST_DEPTH):
        if isinstance(node, ast.Name):
            # The first binding counts: those in loops move the pointer on.
            found = body.by_name.get(node.id, [])
            made = [b for b in found if b.value is not None and b.place.index < index]
            if not made:
                return None
            node, index = made[0].value, made[0].place.index
        elif isinstance(node, ast.Call):
            if body.imports.is_triton(node.func, "make_block_ptr", "make_tensor_descriptor"):
                return node
            node = _inner(body, node)
        else:
            return None
    return None


def address_of(call: Call) -> ast.expr | None:
    """Return the address of a load or store; None for methods of descriptors."""
    return None if call.is_method else call.first


def lanes_of(body: KernelBody, node: ast.expr | None, index: int) -> tuple[Lane, ...]:
    """Return the lanes of an address, through local names."""
    return () if node is None else tuple(_lanes(body, node, index, 0))


def _lanes(  # noqa: C901 - one case per kind of expression
    body: KernelBody, node: ast.expr, index: int, depth: int
) -> Iterator[Lane]:
    if depth > _MOST_DEPTH:
        return
    match node:
        case ast.Name(id=name):
            yield from _of_name(body, name, index, depth)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            yield from _lanes(body, left, index, depth + 1)
            yield from _lanes(body, right, index, depth + 1)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield from _scaled(_lanes(body, left, index, depth + 1), right)
            yield from _scaled(_lanes(body, right, index, depth + 1), left)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=parts)):
            full = [i for i, part in enumerate(parts) if isinstance(part, ast.Slice)]
            axis = full[0] if len(full) == 1 else None
            for each in _lanes(body, value, index, depth + 1):
                yield replace(each, axis=axis)
        case ast.Call() if body.imports.is_triton(node.func, "arange"):
            yield Lane(None, ast.unparse(node.args[1]) if len(node.args) > 1 else "", ())
        case ast.Call() if (inner := _inner(body, node)) is not None:
            yield from _lanes(body, inner, index, depth + 1)
        case _:
            is_load = isinstance(node, ast.Call) and body.name_of(node) == "load"
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    for each in _lanes(body, child, index, depth + 1):
                        yield replace(each, is_plain=False, is_loaded=is_load or each.is_loaded)


def _of_name(body: KernelBody, name: str, index: int, depth: int) -> Iterator[Lane]:
    found = body.before(name, index)
    if found is not None and found.is_step and found.place.loops:
        # Moved on in a loop: the tile it started as tells the lanes.
        started = [b for b in body.by_name[name] if not b.is_step and b.place.index < index]
        found = started[-1] if started else None
    if found is not None and found.value is not None:
        yield from _lanes(body, found.value, found.place.index, depth + 1)


def _scaled(lanes: Iterator[Lane], factor: ast.expr) -> Iterator[Lane]:
    for each in lanes:
        yield replace(each, factors=(*each.factors, factor))


def rank_of(body: KernelBody, node: ast.expr | None, index: int, depth: int = 0) -> int:
    """Return the number of axes of a tile, as far as can be told; 0 for scalars and unknown."""
    if node is None or depth > _MOST_DEPTH:
        return 0
    match node:
        case ast.Name(id=name):
            found = [b for b in body.by_name.get(name, ()) if b.place.index < index]
            return max(
                (rank_of(body, b.value, b.place.index, depth + 1) for b in found[-2:]), default=0
            )
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return len(parts)
        case ast.Call():
            return _rank_of_call(body, node, index, depth)
        case ast.Attribute(value=value):
            return rank_of(body, value, index, depth + 1)
        case _:
            inner = (c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr))
            return max((rank_of(body, each, index, depth + 1) for each in inner), default=0)


def _rank_of_call(  # noqa: PLR0911 - one line per kind of call
    body: KernelBody, node: ast.Call, index: int, depth: int
) -> int:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if isinstance(node.func, ast.Name):
        name = (body.imports.dotted(node.func) or "").rpartition(".")[2]
    is_triton = body.imports.is_triton(node.func, name)
    given = [*node.args, *(each.value for each in node.keywords)]
    first = given[0] if given else None
    if not is_triton and isinstance(node.func, ast.Attribute):
        if name == "load":
            return len(first.elts) if isinstance(first, ast.List | ast.Tuple) else 0
        first = node.func.value
    if name == "arange":
        return 1
    if name in {"zeros", "full"}:
        return len(first.elts) if isinstance(first, ast.List | ast.Tuple) else 1
    if name == "dot":
        return 2
    if name == "make_block_ptr":
        shape = next((k.value for k in node.keywords if k.arg == "block_shape"), None)
        shape = shape or (node.args[4] if len(node.args) > 4 else None)  # noqa: PLR2004
        return len(shape.elts) if isinstance(shape, ast.List | ast.Tuple) else 0
    if name in _REDUCTIONS:
        has_axis = len(node.args) > int(is_triton) or any(k.arg == "axis" for k in node.keywords)
        return max(rank_of(body, first, index, depth + 1) - 1, 0) if has_axis else 0
    return max((rank_of(body, each, index, depth + 1) for each in (first, *given)), default=0)


def canonical(body: KernelBody, node: ast.expr, index: int, depth: int = 0) -> str:
    """Return the text of an expression with local names written out, for comparisons.

    Loop variables become ``@``, so that equal walks of two loops compare equal.
    """
    if depth > _MOST_DEPTH:
        return "?"
    if isinstance(node, ast.Name):
        return _canonical_name(body, node.id, index, depth)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    inner = (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    parts = ",".join(canonical(body, each, index, depth + 1) for each in inner)
    kind = type(node.op).__name__ if isinstance(node, ast.BinOp | ast.UnaryOp) else ""
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return f"{type(node).__name__}{kind}{name}({parts})"


def address_key(body: KernelBody, node: ast.expr, index: int) -> str:
    """Return `canonical` of an address whose terms may stand in any order."""
    return "+".join(sorted(_terms(body, node, index, 0)))


def _terms(body: KernelBody, node: ast.expr, index: int, depth: int) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth <= _MOST_DEPTH:
        yield from _terms(body, node.left, index, depth + 1)
        yield from _terms(body, node.right, index, depth + 1)
        return
    found = body.before(node.id, index) if isinstance(node, ast.Name) else None
    is_followed = found is not None and not (found.is_step and found.place.loops)
    if found is not None and found.value is not None and is_followed and depth <= _MOST_DEPTH:
        yield from _terms(body, found.value, found.place.index, depth + 1)
    else:
        yield canonical(body, node, index)


def _canonical_name(body: KernelBody, name: str, index: int, depth: int) -> str:
    found = body.before(name, index)
    if found is None:
        return name
    if found.value is None:
        return "@" if found.place.loops else name
    if found.is_step and found.place.loops:
        return f"{name}@"
    return canonical(body, found.value, found.place.index, depth + 1)
