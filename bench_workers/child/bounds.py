"""Checks every active lane of every access against the tensor its pointer came from.

Each tensor given to a launch gets a tag in the upper 16 bits of its address, which no user address
uses. Pointer arithmetic carries the tag along, so that an access that leaves its tensor is found
even when it lands in another one. Faulty lanes are never dereferenced: reads give poison, writes
are dropped.
"""

import sys
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import numpy as np

_TAG_SHIFT = np.uint64(48)
_ADDRESS = np.uint64((1 << 48) - 1)
_MOST_TAGS = 1 << 15
_MOST_FAULTS = 16


class Uncheckable(Exception):
    """The interpreter cannot say anything about this kernel."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Memory a pointer may touch: the storage of one tensor, in bytes."""

    start: int
    end: int
    origin: int
    name: str


@dataclass(slots=True)
class Launch:
    """One launch being interpreted.

    Attributes:
        kernel: Name of the jit function.
        path: File whose lines are reported.
        names: Argument name for each tensor address.
    """

    kernel: str
    path: str
    names: dict[int, str]
    extents: list[Extent] = field(default_factory=list)


class Watch:
    """Collects faults of all launches until asked."""

    def __init__(self) -> None:
        self.launch: Launch | None = None
        self.faults: list[dict[str, Any]] = []
        self._seen: set[tuple[Any, ...]] = set()

    def add(self, fault: dict[str, Any]) -> None:
        """Remember a fault; one per access site and argument."""
        key = (fault["access"], fault["kernel"], fault["line"], fault["argument"])
        if key not in self._seen and len(self.faults) < _MOST_FAULTS:
            self._seen.add(key)
            self.faults.append(fault)

    def drain(self) -> list[dict[str, Any]]:
        """Return the faults found since the last call."""
        found, self.faults = self.faults, []
        self._seen.clear()
        return found


WATCH = Watch()


def install_bounds() -> None:
    """Patch the interpreter. Idempotent."""
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    if getattr(builder, "checks_bounds", False):
        return
    builder.checks_bounds = True
    _patch_conversion(interpreter)
    _patch_accesses(builder, interpreter)


def _patch_conversion(interpreter: Any) -> None:
    """Tag the address of each tensor as it becomes a pointer."""
    convert = interpreter._implicit_cvt  # noqa: SLF001

    def implicit_cvt(arg: Any) -> Any:
        result = convert(arg)
        if WATCH.launch is not None and hasattr(arg, "data_ptr") and hasattr(result, "handle"):
            tag = _tag_for(WATCH.launch, arg)
            result.handle.data = result.handle.data | (np.uint64(tag) << _TAG_SHIFT)
        return result

    interpreter._implicit_cvt = implicit_cvt  # noqa: SLF001


def _tag_for(launch: Launch, tensor: Any) -> int:
    tensor = getattr(tensor, "base", tensor)
    storage = tensor.untyped_storage()
    origin = tensor.data_ptr()
    name = launch.names.get(origin, "")
    for index, extent in enumerate(launch.extents):
        if extent.origin == origin and extent.name == name:
            return index + 1
    if len(launch.extents) >= _MOST_TAGS:
        raise Uncheckable("more tensors in one launch than can be told apart")
    start = storage.data_ptr()
    launch.extents.append(Extent(start, start + storage.nbytes(), origin, name))
    return len(launch.extents)


def _patch_accesses(builder: Any, interpreter: Any) -> None:
    load, store = builder.create_masked_load, builder.create_masked_store
    rmw, cas = builder.create_atomic_rmw, builder.create_atomic_cas
    handle = interpreter.TensorHandle

    def masked_load(
        self: Any, ptrs: Any, mask: Any, other: Any, *options: Any, **named: Any
    ) -> Any:
        safe, good, bad = _checked(self, ptrs, mask, "read", handle)
        result = load(self, safe, good, other, *options, **named)
        if bad is not None:
            result.data = np.where(bad, _poison(result.data.dtype), result.data)
        return result

    def masked_store(
        self: Any, ptrs: Any, value: Any, mask: Any, *options: Any, **named: Any
    ) -> Any:
        safe, good, _ = _checked(self, ptrs, mask, "write", handle)
        return store(self, safe, value, good, *options, **named)

    def atomic_rmw(self: Any, op: Any, ptr: Any, val: Any, mask: Any, *order: Any) -> Any:
        safe, good, _ = _checked(self, ptr, mask, "write", handle)
        return rmw(self, op, safe, val, good, *order)

    def atomic_cas(self: Any, ptr: Any, cmp: Any, val: Any, *order: Any) -> Any:
        everything = handle(np.ones_like(ptr.data, dtype=bool), interpreter.tl.int1)
        safe, _, bad = _checked(self, ptr, everything, "write", handle)
        return cmp if bad is not None else cas(self, safe, cmp, val, *order)

    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
    builder.create_atomic_rmw, builder.create_atomic_cas = atomic_rmw, atomic_cas


def _checked(builder: Any, ptrs: Any, mask: Any, access: str, handle: Any) -> tuple[Any, Any, Any]:
    """Return untagged pointers, the mask without faulty lanes, and the faulty lanes or None."""
    launch = WATCH.launch
    size = max(1, ptrs.get_element_ty().primitive_bitwidth // 8)
    tags = ptrs.data >> _TAG_SHIFT
    places = ptrs.data & _ADDRESS
    active = np.broadcast_to(mask.data, ptrs.data.shape)
    plain = handle(places, ptrs.dtype)
    if launch is None or not active.any():
        return plain, mask, None
    starts, ends = _limits(launch)
    numbers = tags.astype(np.int64)
    known = (numbers >= 1) & (numbers <= len(launch.extents))
    if (active & ~known).any():
        raise Uncheckable(
            f"kernel {launch.kernel} follows addresses that do not come from its tensor arguments"
        )
    numbers = np.where(known, numbers, 0)
    inside = (places >= starts[numbers]) & (places + np.uint64(size) <= ends[numbers])
    bad = active & ~inside
    if not bad.any():
        return plain, mask, None
    _report(builder, launch, access, places[bad], numbers[bad])
    return plain, handle(active & ~bad, mask.dtype), bad


def _limits(launch: Launch) -> tuple[np.ndarray, np.ndarray]:
    starts = [0, *(extent.start for extent in launch.extents)]
    ends = [0, *(extent.end for extent in launch.extents)]
    return np.array(starts, dtype=np.uint64), np.array(ends, dtype=np.uint64)


def _report(
    builder: Any, launch: Launch, access: str, places: np.ndarray, numbers: np.ndarray
) -> None:
    for number in sorted(set(numbers.tolist())):
        extent = launch.extents[number - 1]
        offset = int(places[numbers == number][0]) - extent.origin
        WATCH.add(
            {
                "access": access,
                "kernel": launch.kernel,
                "line": _line(launch.path),
                "argument": extent.name,
                "program": [int(each) for each in builder.grid_idx],
                "offset_bytes": offset,
            }
        )


def _line(path: str) -> int | None:
    """Return the line of the user's file that is being interpreted."""
    frame = sys._getframe()  # noqa: SLF001
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _poison(dtype: np.dtype) -> Any:
    if np.issubdtype(dtype, np.floating):
        return dtype.type(np.nan)
    return dtype.type(1) if dtype == np.bool_ else dtype.type(0x5B)
