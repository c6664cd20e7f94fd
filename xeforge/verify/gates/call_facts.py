"""Facts of single calls into Triton's language: loads, stores, atomics, products, tiles."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from xeforge.source.addresses import made_by
from xeforge.source.declarations import JitFunction
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody
from xeforge.verify.gates.predicate import Value

Sizes = Mapping[str, int]
_NOT_GIVEN: Final = ast.Constant(value=None)
_MAKERS: Final = {"make_block_ptr": "block_pointer", "make_tensor_descriptor": "descriptor"}
_MOST_SETTINGS: Final = 8


def call_sites(  # noqa: C901 - one case per kind of call
    file: FileFacts, kernel: JitFunction, settings: Sequence[Sizes]
) -> Iterator[tuple[str, int, dict[str, Value]]]:
    """Yield scope, line and facts of every call of a kernel that a scope is about.

    Args:
        file: What stands in the file.
        kernel: A launched kernel; what it calls is left to that function's own callers.
        settings: Compile-time sizes it is run with.
    """
    body = file.bodies[kernel.name]
    for call in body.calls:
        match call.name:
            case "dot":
                yield "dot", call.line, _dot(call)
            case "load" if not call.is_method:
                yield "load", call.line, _load(body, call)
            case "store" if not call.is_method:
                yield "store", call.line, _store(body, call)
            case "program_id":
                yield "program_id", call.line, {"axis": _number(call.argument(0, "axis"), {})}
            case "arange":
                for sizes in _some(settings):
                    yield "arange", call.line, _arange(call, sizes)
            case "make_block_ptr" | "make_tensor_descriptor":
                for sizes in _some(settings):
                    yield _MAKERS[call.name], call.line, _tile(call, sizes)
            case name if name.startswith("atomic_") and not call.is_method:
                yield "atomic", call.line, _atomic(body, call)


def _some(settings: Sequence[Sizes]) -> Sequence[Sizes]:
    return settings[:_MOST_SETTINGS] or ({},)


def _dot(call: Call) -> dict[str, Value]:
    return {
        "input_precision": _text(call.argument(3, "input_precision"), absent=None),
        "out_dtype": _format(call.argument(6, "out_dtype")),
        "has_accumulator": _is_given(call.argument(2, "acc")),
        "is_in_loop": bool(call.place.loops),
    }


def _load(body: KernelBody, call: Call) -> dict[str, Value]:
    return {
        "addresses": _addresses(body, call),
        "has_mask": _is_given(call.argument(1, "mask")),
        "has_other": _is_given(call.argument(2, "other")),
        "has_boundary_check": _is_given(call.argument(3, "boundary_check")),
        "has_padding": _is_given(call.argument(4, "padding_option")),
        "cache_modifier": _text(call.argument(5, "cache_modifier"), absent=""),
        "eviction_policy": _text(call.argument(6, "eviction_policy"), absent=""),
    }


def _store(body: KernelBody, call: Call) -> dict[str, Value]:
    return {
        "addresses": _addresses(body, call),
        "has_mask": _is_given(call.argument(2, "mask")),
        "has_boundary_check": _is_given(call.argument(3, "boundary_check")),
        "cache_modifier": _text(call.argument(4, "cache_modifier"), absent=""),
        "eviction_policy": _text(call.argument(5, "eviction_policy"), absent=""),
    }


def _atomic(body: KernelBody, call: Call) -> dict[str, Value]:
    has_compare = call.name == "atomic_cas"  # its third argument is the new value, not a mask
    return {
        "operation": call.name.removeprefix("atomic_"),
        "sem": _text(call.argument(3, "sem"), absent=""),
        "memory_scope": _text(call.argument(4, "scope"), absent=""),
        "has_mask": None if has_compare else _is_given(call.argument(2, "mask")),
        "addresses": _addresses(body, call),
    }


def _arange(call: Call, sizes: Sizes) -> dict[str, Value]:
    start, end = (_number(call.argument(i, n), sizes) for i, n in enumerate(("start", "end")))
    return {
        "start": start,
        "length": end - start if isinstance(start, int) and isinstance(end, int) else None,
    }


def _tile(call: Call, sizes: Sizes) -> dict[str, Value]:
    is_block = call.name == "make_block_ptr"
    strides = _parts(call.argument(2, "strides"))
    extents = [
        _number(each, sizes) for each in _parts(call.argument(4 if is_block else 3, "block_shape"))
    ]
    known = [each for each in extents if isinstance(each, int)]
    total: int | None = 1 if extents and len(known) == len(extents) else None
    for each in known:
        total = total * each if total is not None else None
    found: dict[str, Value] = {
        "rank": len(extents) or None,
        "tile_elements": total,
        "is_in_loop": bool(call.place.loops),
    }
    if not is_block:
        found["last_stride"] = _number(strides[-1], sizes) if strides else None
        found["inner_elements"] = extents[-1] if extents else None
        found["largest_extent"] = max(known) if known and len(known) == len(extents) else None
    return found


def _addresses(body: KernelBody, call: Call) -> Value:
    """Say through what a call reaches memory; None where that is decided by a caller."""
    made = made_by(body, call.first, call.place.index)
    if made is not None:
        name = made.func.attr if isinstance(made.func, ast.Attribute) else ""
        return _MAKERS.get(name)
    is_handed_in = isinstance(call.first, ast.Name) and call.first.id in body.parameters
    return None if is_handed_in else "pointers"


def _parts(node: ast.expr | None) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple | ast.List) else []


def _is_given(node: ast.expr | None) -> bool:
    """Say whether an argument is there and says something."""
    match node:
        case None | ast.Constant(value=None | "") | ast.Tuple(elts=[]) | ast.List(elts=[]):
            return False
    return True


def _text(node: ast.expr | None, *, absent: str | None) -> Value:
    match node:
        case None | ast.Constant(value=None):
            return absent
        case ast.Constant(value=str() as text):
            return text
    return None


def _format(node: ast.expr | None) -> Value:
    return node.attr if isinstance(node, ast.Attribute) else None


def _number(node: ast.expr | None, sizes: Sizes) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return sizes.get(name)
    return None
