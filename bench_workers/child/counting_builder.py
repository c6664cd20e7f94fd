"""Replaces the operations of Triton's interpreter by ones that count instead of computing.

No memory is read or written: loads give zeros. Integers, addresses and masks are still computed,
since they decide what is accessed and how often loops run. Floating-point values are computed where
that is cheap and are meaningless otherwise. Every 8-bit and bfloat16 value is held as float32.
"""

import dataclasses
from typing import Any

import numpy as np
import scalar_indices
import triton.language as tl
from tally import Tally
from triton.runtime import interpreter

TORCH_NAMES = {
    "fp64": "float64",
    "fp32": "float32",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp8e5": "float8_e5m2",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5b16": "float8_e5m2fnuz",
    "fp8e4b8": "float8_e4m3fnuz",
    "fp8e4b15": "float8_e4m3fn",
}
_WIDE_IN_NUMPY = frozenset({"bf16", *(name for name in TORCH_NAMES if name.startswith("fp8"))})
_PASSES = {
    "TF32": ("tf32", 1),
    "TF32X3": ("tf32", 3),
    "BF16X3": ("bfloat16", 3),
    "BF16X6": ("bfloat16", 6),
}
_SCALED = {"E2M1": "float4_e2m1fn_x2", "E4M3": "float8_e4m3fn", "E5M2": "float8_e5m2"}
_ZERO, _PRODUCT = "is_zero", "is_product"
_Handle = interpreter.TensorHandle


class CurrentTally:
    """Holds the tally of the launch that is being interpreted."""

    def __init__(self) -> None:
        self.tally = Tally(regions=[], ends_at_seconds=float("inf"))

    def arithmetic(self, dtype: Any, count: int) -> None:
        """Count element-wise floating-point operations; integers only make addresses."""
        name = TORCH_NAMES.get(dtype.scalar.name)
        if name is not None:
            self.tally.vector[name] += count

    def loads(self, pointers: Any, mask: Any) -> None:
        """Count a load."""
        lanes = None if mask is None else mask.data
        self.tally.access(self.tally.loaded, pointers.data, lanes, width_of(pointers))

    def stores(self, pointers: Any, mask: Any) -> None:
        """Count a store."""
        lanes = None if mask is None else mask.data
        self.tally.access(self.tally.stored, pointers.data, lanes, width_of(pointers))


NOW = CurrentTally()


def width_of(pointers: Any) -> int:
    """Return the bytes of one element behind a pointer."""
    return max(1, int(pointers.get_element_ty().primitive_bitwidth) // 8)


def install(default_precision: str) -> None:
    """Patch the interpreter for good; calling again only changes the precision.

    Args:
        default_precision: What ``tl.dot`` does with float32 operands unless told:
            ``"tf32"`` or ``"ieee"``.
    """
    builder = interpreter.InterpreterBuilder
    if not hasattr(builder, "counts_work"):
        builder.counts_work = True
        _hold_narrow_floats_wide()
        scalar_indices.install()
        for name, method in vars(CountingMethods).items():
            if not name.startswith("__"):
                setattr(builder, name, method)
        interpreter.ReduceOps.apply_impl = _reduce
        interpreter.ScanOps.apply_impl = _scan
    interpreter.interpreter_builder.options = dataclasses.replace(
        interpreter.interpreter_builder.options,
        sanitize_overflow=False,  # costs half of the time
        default_dot_input_precision=default_precision,
        allowed_dot_input_precisions=("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
    )


def _hold_narrow_floats_wide() -> None:
    """Make the interpreter keep bfloat16 and 8-bit floats in float32 arrays."""
    original = interpreter._get_np_dtype  # noqa: SLF001
    address = np.dtype(np.uint64)
    table: dict[str, Any] = dict.fromkeys(_WIDE_IN_NUMPY, np.dtype(np.float32))

    def np_dtype(dtype: Any) -> Any:
        # Called for every operation, so answers are kept by name.
        scalar = dtype.scalar
        if isinstance(scalar, tl.pointer_type):
            return address
        if scalar.name not in table:
            table[scalar.name] = original(scalar)
        return table[scalar.name]

    interpreter._get_np_dtype = np_dtype  # noqa: SLF001
    interpreter._validate_np_data_size = lambda _array, _dtype: True  # noqa: SLF001
    _Handle.__post_init__ = lambda _self: None


def _zeros(shape: Any, dtype: Any) -> Any:
    return np.zeros(shape, interpreter._get_np_dtype(dtype))  # noqa: SLF001


def _active(value: Any, mask: Any) -> int:
    return int(value.data.size) if mask is None else int(np.count_nonzero(mask.data))


class CountingMethods:
    """Methods that are copied onto the interpreter's builder, under the same names."""

    def get_bf16(self, value: float) -> Any:
        """Make a bfloat16 scalar, which some releases lack."""
        return _Handle(np.array([value], np.float32), tl.bfloat16)

    # Memory

    def create_load(self, ptr: Any, *_: Any) -> Any:
        """Count an unmasked load."""
        NOW.loads(ptr, None)
        return _Handle(_zeros(ptr.data.shape, ptr.get_element_ty()), ptr.get_element_ty())

    def create_masked_load(self, ptrs: Any, mask: Any, *_: Any, **__: Any) -> Any:
        """Count a load's active lanes."""
        NOW.loads(ptrs, mask)
        return _Handle(_zeros(ptrs.data.shape, ptrs.get_element_ty()), ptrs.get_element_ty())

    def create_store(self, ptr: Any, *_: Any) -> None:
        """Count an unmasked store."""
        NOW.stores(ptr, None)

    def create_masked_store(self, ptrs: Any, _value: Any, mask: Any, *_: Any) -> None:
        """Count a store's active lanes."""
        NOW.stores(ptrs, mask)

    def create_atomic_rmw(self, _op: Any, ptr: Any, val: Any, mask: Any, *_: Any) -> Any:
        """Count an atomic as a load, a store and one operation per active lane."""
        NOW.loads(ptr, mask)
        NOW.stores(ptr, mask)
        NOW.arithmetic(val.dtype, _active(val, mask))
        return _Handle(_zeros(ptr.data.shape, val.dtype), val.dtype.scalar)

    def create_atomic_cas(self, ptr: Any, cmp: Any, *_: Any) -> Any:
        """Count a compare-and-swap, which always succeeds, so that locks are free."""
        NOW.loads(ptr, None)
        NOW.stores(ptr, None)
        return _Handle(cmp.data, cmp.dtype.scalar)

    def create_descriptor_reduce(self, _kind: Any, desc: Any, value: Any, indices: Any) -> None:
        """Count a reduction into memory as load and store."""
        pointers, mask = desc.materialize_pointers(indices)
        lanes = _Handle(mask, tl.int1)
        NOW.loads(pointers, lanes)
        NOW.stores(pointers, lanes)
        NOW.arithmetic(value.dtype, int(np.count_nonzero(mask)))

    # Matrix products

    def create_dot(self, a: Any, b: Any, d: Any, input_precision: Any, *_: Any) -> Any:
        """Count a matrix product under the format in which the operands are multiplied."""
        name, passes = TORCH_NAMES.get(a.dtype.scalar.name, a.dtype.scalar.name), 1
        if name == "float32":
            name, passes = _PASSES.get(str(input_precision.name).upper(), ("float32", 1))
        NOW.tally.steps += 1
        NOW.tally.dot[name] += passes * 2 * a.data.size * b.data.shape[-1]
        return _Handle(d.data, d.dtype.scalar, {_PRODUCT: _ZERO in d.attr})

    def create_dot_scaled(self, a: Any, _a_scale: Any, a_format: Any, *rest: Any) -> Any:
        """Count a block-scaled product under its left operand's format."""
        d, name = rest[-1], str(a_format.name).upper()
        depth = a.data.size * (2 if name == "E2M1" else 1)  # two values in each byte
        dtype = _SCALED.get(name, TORCH_NAMES.get(a.dtype.scalar.name, "float16"))
        NOW.tally.dot[dtype] += 2 * depth * d.data.shape[-1]
        return _Handle(d.data, d.dtype.scalar)

    # Element-wise arithmetic

    def create_splat(self, ret_ty: Any, arg: Any) -> Any:
        """Fill a tile with a scalar; a tile of zeros is marked as such."""
        value = arg.data.reshape(-1)[0]
        data = np.full(ret_ty.shape, value, interpreter._get_np_dtype(arg.dtype))  # noqa: SLF001
        return _Handle(data, arg.dtype.scalar, {} if value else {_ZERO: True})

    def create_fadd(self, lhs: Any, rhs: Any) -> Any:
        """Add; free where a fresh product is added, since the matrix units accumulate."""
        if lhs.attr.get(_PRODUCT) or rhs.attr.get(_PRODUCT):
            return _Handle(lhs.data + rhs.data, lhs.dtype.scalar)
        return self.binary_op(lhs, rhs, np.add)

    def binary_op(self, lhs: Any, rhs: Any, op: Any) -> Any:
        """Compute, and count where the operands are floating-point."""
        output = op(lhs.data, rhs.data)
        if output.dtype != np.bool_:
            NOW.arithmetic(lhs.dtype, output.size)
            output = output.astype(interpreter._get_np_dtype(lhs.dtype), copy=False)  # noqa: SLF001
        return _Handle(output, lhs.dtype.scalar)

    def ternary_op(self, lhs: Any, rhs: Any, other: Any, op: Any) -> Any:
        """Compute; a choice costs nothing, a clamp one operation."""
        output = op(lhs.data, rhs.data, other.data)
        if op is not np.where:
            NOW.arithmetic(lhs.dtype, output.size)
        dtype = interpreter._get_np_dtype(other.dtype)  # noqa: SLF001
        return _Handle(output.astype(dtype, copy=False), other.dtype.scalar)

    def unary_op(self, arg: Any, op: Any) -> Any:
        """Compute and count; exponentials and their like count as one operation, too."""
        NOW.arithmetic(arg.dtype, arg.data.size)
        dtype = interpreter._get_np_dtype(arg.dtype)  # noqa: SLF001
        return _Handle(op(arg.data).astype(dtype, copy=False), arg.dtype.scalar)

    def create_fma(self, x: Any, y: Any, z: Any) -> Any:
        """Count two operations."""
        NOW.arithmetic(z.dtype, 2 * z.data.size)
        return _Handle(x.data * y.data + z.data, z.dtype.scalar)

    def create_fabs(self, arg: Any) -> Any:
        """Compute and count; the interpreter's own looks at bits."""
        NOW.arithmetic(arg.dtype, arg.data.size)
        return _Handle(np.abs(arg.data), arg.dtype.scalar)

    def create_erf(self, arg: Any) -> Any:
        """Count; the interpreter's own takes a Python call for each element."""
        NOW.arithmetic(arg.dtype, arg.data.size)
        return _Handle(arg.data, arg.dtype.scalar)

    def create_rsqrt(self, arg: Any) -> Any:
        """Count."""
        NOW.arithmetic(arg.dtype, arg.data.size)
        return _Handle(arg.data, arg.dtype.scalar)

    def create_umulhi(self, lhs: Any, _rhs: Any) -> Any:
        """Leave the value alone: it only feeds random numbers."""
        return _Handle(lhs.data, lhs.dtype.scalar)

    # Casts

    def cast_impl(self, src: Any, dst_type: Any) -> Any:
        """Cast; free, as it mostly is on a device."""
        dtype = interpreter._get_np_dtype(dst_type)  # noqa: SLF001
        return _Handle(src.data.astype(dtype, copy=False), dst_type.scalar)

    def create_fp_to_fp(self, src: Any, dst_type: Any, _rounding: Any) -> Any:
        """Cast without caring about rounding."""
        dtype = interpreter._get_np_dtype(dst_type)  # noqa: SLF001
        return _Handle(src.data.astype(dtype, copy=False), dst_type.scalar)

    def create_bitcast(self, src: Any, dst_type: Any) -> Any:
        """Reinterpret where the arrays have the same width; zeros elsewhere."""
        dtype = interpreter._get_np_dtype(dst_type)  # noqa: SLF001
        same = dtype.itemsize == src.data.dtype.itemsize
        data = src.data.view(dtype) if same else np.zeros(src.data.shape, dtype)
        return _Handle(data, dst_type.scalar)

    # Foreign code and checks

    def create_extern_elementwise(
        self, _lib: Any, _path: Any, _symbol: Any, args: Any, result: Any, _is_pure: Any
    ) -> Any:
        """Count a library function as one operation per element."""
        shape = np.broadcast_shapes(*(each.data.shape for each in args))
        NOW.arithmetic(result, int(np.prod(shape)))
        return _Handle(_zeros(shape, result), result.scalar)

    def create_inline_asm(self, _asm: Any, _names: Any, values: Any, types: Any, *_: Any) -> Any:
        """Count inline assembly as one operation per element and result."""
        shape = np.broadcast_shapes(*(each.data.shape for each in values)) if values else ()
        results = []
        for dtype in types:
            NOW.arithmetic(dtype, int(np.prod(shape)))
            results.append(_Handle(_zeros(shape, dtype), dtype.scalar))
        return _InlineResults(results)

    def create_print(self, *_: Any) -> None:
        """Print nothing."""

    def create_assert(self, *_: Any) -> None:
        """Check nothing: there are no values."""

    def create_assume(self, *_: Any) -> None:
        """Check nothing: there are no values."""


@dataclasses.dataclass(frozen=True, slots=True)
class _InlineResults:
    values: list[Any]

    def get_result(self, index: int) -> Any:
        return self.values[index]


def _reduce(self: Any, inputs: Any) -> list[Any]:
    """Count one operation per element; the result is the first element along the axis."""
    results = []
    for each in inputs:
        data = each.handle.data
        NOW.arithmetic(each.dtype, data.size)
        if self.axis is None:
            shape = (1,) * data.ndim if self.keep_dims else ()
            value = data.reshape(-1)[0]
            results.append(self.to_tensor(np.full(shape, value) if shape else value, each.dtype))
            continue
        taken = np.take(data, [0], axis=self.axis)
        if not self.keep_dims:
            taken = np.squeeze(taken, axis=self.axis)
        results.append(self.to_tensor(taken if taken.shape else taken.item(), each.dtype))
    return results


def _scan(self: Any, inputs: Any) -> list[Any]:
    """Count one operation per element; the values stay as they are."""
    for each in inputs:
        NOW.arithmetic(each.dtype, each.handle.data.size)
    return [self.to_tensor(each.handle.data, each.dtype) for each in inputs]
