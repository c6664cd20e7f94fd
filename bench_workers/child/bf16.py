"""Makes bfloat16 right in Triton's interpreter, which keeps it as raw 16-bit codes.

Here a bfloat16 tensor is held as float32 values that bfloat16 can represent. Memory is read and
written in codes; every new tensor handle rounds to nearest even. So NumPy's arithmetic, reductions
and products are right without a special case for each operator.
"""

from typing import Any

import numpy as np

_ROUND = np.uint32(0x7FFF)
_SIXTEEN = np.uint32(16)
_ONE = np.uint32(1)
_QUIET = np.uint16(0x7FC0)


def widen(codes: np.ndarray) -> np.ndarray:
    """Turn 16-bit codes into float32 values."""
    raised = codes.view(np.uint16).astype(np.uint32) << _SIXTEEN
    return raised.view(np.float32)


def narrow(values: np.ndarray) -> np.ndarray:
    """Round float32 values to nearest even and return 16-bit codes."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    with np.errstate(over="ignore"):
        rounded = (bits + _ROUND + ((bits >> _SIXTEEN) & _ONE)) >> _SIXTEEN
    codes = rounded.astype(np.uint16)
    return np.where(np.isnan(values), _QUIET, codes)


def truncate(values: np.ndarray) -> np.ndarray:
    """Round float32 values towards zero to what bfloat16 can represent."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def install_bf16() -> None:
    """Patch the interpreter. Idempotent."""
    import triton.language as tl
    from triton.runtime import interpreter

    builder = interpreter.InterpreterBuilder
    if getattr(builder, "holds_bf16_as_float32", False):
        return
    builder.holds_bf16_as_float32 = True
    handle = interpreter.TensorHandle
    _patch_types(interpreter, tl)
    _patch_handle(handle, tl)
    _patch_memory(builder, interpreter, tl)
    _patch_casts(builder, interpreter, tl)

    def get_bf16(_self: Any, value: float) -> Any:
        return handle(np.array([value], dtype=np.float32), tl.bfloat16)

    def create_fabs(self: Any, arg: Any, original: Any = builder.create_fabs) -> Any:
        if arg.dtype.scalar == tl.bfloat16:
            return handle(np.abs(arg.data), tl.bfloat16)
        return original(self, arg)

    builder.get_bf16 = get_bf16
    builder.create_fabs = create_fabs


def _patch_types(interpreter: Any, tl: Any) -> None:
    """Say that bfloat16 lives in float32 arrays, and allow for their size."""
    dtype_of, validate = interpreter._get_np_dtype, interpreter._validate_np_data_size  # noqa: SLF001

    def np_dtype(tt_dtype: Any) -> Any:
        is_pointer = isinstance(tt_dtype.scalar, tl.pointer_type)
        if not is_pointer and tt_dtype.scalar == tl.bfloat16:
            return np.dtype(np.float32)
        return dtype_of(tt_dtype)

    def fits(array: Any, tl_dtype: Any) -> bool:
        if not isinstance(tl_dtype, tl.pointer_type) and tl_dtype.scalar == tl.bfloat16:
            return bool(array.itemsize <= np.dtype(np.float32).itemsize)
        return bool(validate(array, tl_dtype))

    interpreter._get_np_dtype = np_dtype  # noqa: SLF001
    interpreter._validate_np_data_size = fits  # noqa: SLF001


def _patch_handle(handle: Any, tl: Any) -> None:
    """Round whatever becomes a bfloat16 tensor."""
    check = handle.__post_init__

    def post_init(self: Any) -> None:
        if self.dtype.scalar == tl.bfloat16 and isinstance(self.data, np.ndarray):
            if self.data.dtype == np.float64:
                self.data = self.data.astype(np.float32)
            if self.data.dtype == np.float32:
                self.data = widen(narrow(self.data))
        check(self)

    handle.__post_init__ = post_init


def _patch_memory(builder: Any, interpreter: Any, tl: Any) -> None:
    """Read and write codes."""
    load, store = builder.create_masked_load, builder.create_masked_store
    rmw, cas = builder.create_atomic_rmw, builder.create_atomic_cas
    handle, native = interpreter.TensorHandle, interpreter._interpreter  # noqa: SLF001

    def masked_load(
        self: Any, ptrs: Any, mask: Any, other: Any, *options: Any, **named: Any
    ) -> Any:
        if ptrs.get_element_ty() != tl.bfloat16:
            return load(self, ptrs, mask, other, *options, **named)
        given = np.zeros(ptrs.data.shape, np.uint16) if other is None else narrow(other.data)
        given = np.ascontiguousarray(np.broadcast_to(given, ptrs.data.shape))
        codes = native.load(ptrs.data, mask.data, given, np.dtype(np.uint16))
        return handle(widen(codes), tl.bfloat16)

    def masked_store(
        self: Any, ptrs: Any, value: Any, mask: Any, *options: Any, **named: Any
    ) -> Any:
        if ptrs.get_element_ty() != tl.bfloat16:
            return store(self, ptrs, value, mask, *options, **named)
        return native.store(ptrs.data, narrow(value.data), mask.data)

    def atomic_rmw(self: Any, op: Any, ptr: Any, val: Any, mask: Any, *order: Any) -> Any:
        if ptr.get_element_ty() != tl.bfloat16:
            return rmw(self, op, ptr, val, mask, *order)
        return handle(_one_by_one(self, op, ptr.data, val.data, mask.data), tl.bfloat16)

    def atomic_cas(self: Any, ptr: Any, cmp: Any, val: Any, *order: Any) -> Any:
        if ptr.get_element_ty() != tl.bfloat16:
            return cas(self, ptr, cmp, val, *order)
        semantic = self.ir_sem_to_interpreter_sem[order[0]]
        codes = native.atomic_cas(ptr.data, narrow(cmp.data), narrow(val.data), semantic)
        return handle(widen(codes), tl.bfloat16)

    builder.create_masked_load, builder.create_masked_store = masked_load, masked_store
    builder.create_atomic_rmw, builder.create_atomic_cas = atomic_rmw, atomic_cas


def _one_by_one(
    builder: Any, op: Any, ptrs: np.ndarray, values: np.ndarray, mask: np.ndarray
) -> np.ndarray:
    """Apply a read-modify-write lane by lane; lanes may share an address."""
    from triton.runtime import interpreter

    native = interpreter._interpreter  # noqa: SLF001
    kinds = native.RMW_OP
    combine = {
        kinds.FADD: lambda old, new: old + new,
        kinds.ADD: lambda old, new: old + new,
        kinds.MAX: max,
        kinds.MIN: min,
        kinds.XCHG: lambda _old, new: new,
    }.get(builder.ir_rmw_op_to_interpreter_rmw_op[op])
    if combine is None:
        from bounds import Uncheckable

        raise Uncheckable(f"atomic operation {op} on bfloat16 in the interpreter")
    shape = ptrs.shape
    values, mask = np.broadcast_to(values, shape), np.broadcast_to(mask, shape)
    result = np.zeros(shape, np.float32)
    always, zero = np.ones(1, dtype=bool), np.zeros(1, np.uint16)
    for index in np.ndindex(shape):
        if mask[index]:
            place = np.array([ptrs[index]], dtype=np.uint64)
            old = widen(native.load(place, always, zero, np.dtype(np.uint16)))
            new = np.array([combine(old[0], values[index])], dtype=np.float32)
            native.store(place, narrow(new), always)
            result[index] = old[0]
    return result


def _patch_casts(builder: Any, interpreter: Any, tl: Any) -> None:
    """Cast through float32; keep codes only where bits are reinterpreted."""
    cast, convert, bitcast = builder.cast_impl, builder.create_fp_to_fp, builder.create_bitcast
    handle = interpreter.TensorHandle
    to_zero = getattr(interpreter._ir.ROUNDING_MODE, "RTZ", None)  # noqa: SLF001

    def cast_impl(self: Any, src: Any, dst_type: Any) -> Any:
        if tl.bfloat16 not in (src.dtype.scalar, dst_type.scalar):
            if src.dtype.scalar == tl.float32 and dst_type.scalar == tl.float16:
                return handle(src.data.astype(np.float16), tl.float16)
            return cast(self, src, dst_type)
        return handle(src.data.astype(interpreter._get_np_dtype(dst_type)), dst_type.scalar)  # noqa: SLF001

    def fp_to_fp(self: Any, src: Any, dst_type: Any, rounding: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        if source == tl.bfloat16:
            src, source = handle(src.data, tl.float32), tl.float32
        if target != tl.bfloat16:
            return src if source == target else convert(self, src, dst_type, rounding)
        wide = src if source == tl.float32 else convert(self, src, tl.float32, rounding)
        data = truncate(wide.data) if to_zero is not None and rounding == to_zero else wide.data
        return handle(data, tl.bfloat16)

    def create_bitcast(self: Any, src: Any, dst_type: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        if source == tl.bfloat16 and target != tl.bfloat16:
            return handle(narrow(src.data).view(interpreter._get_np_dtype(dst_type)), target)  # noqa: SLF001
        if target == tl.bfloat16 and source != tl.bfloat16:
            return handle(widen(src.data), target)
        return bitcast(self, src, dst_type)

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, fp_to_fp
    builder.create_bitcast = create_bitcast
