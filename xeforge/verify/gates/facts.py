"""The facts that constraints and recipes may ask for: names, kinds, meanings, values to try."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from xeforge.domain.device import Device
from xeforge.verify.gates.predicate import Kind
from xeforge.verify.gates.predicate import Value


@dataclass(frozen=True, slots=True)
class Fact:
    """One name of the language.

    Attributes:
        kind: What its values are.
        means: Its meaning, with unit.
        samples: Typical values; a lint tries them to see what can be true at all.
    """

    kind: Kind
    means: str
    samples: tuple[Value, ...] = ()


_TRUTH: Final = (False, True)
_SIZES: Final = (1, 3, 8, 16, 32, 64, 128, 256, 1024, 65536)

DEVICE: Final[Mapping[str, Fact]] = {
    "device.name": Fact("text", "name of the device model"),
    "device.vendor": Fact("text", "nvidia, intel, amd or generic"),
    "device.backend": Fact("text", "torch device type: cuda, xpu or cpu"),
    "device.architecture": Fact("text", "generation, e.g. hopper or xe2"),
    "device.capability": Fact("number", "compute capability times ten; NVIDIA only"),
    "device.compute_units": Fact("number", "streaming multiprocessors, Xe-cores, compute units"),
    "device.bandwidth_bytes_per_s": Fact("number", "peak rate of device memory"),
    "device.l2_bytes": Fact("number", "size of the last-level cache"),
    "device.shared_bytes_per_group": Fact("number", "on-chip bytes one program may claim"),
    "device.shared_bytes_per_unit": Fact("number", "on-chip bytes of one compute unit"),
    "device.registers_per_thread": Fact("number", "most 32-bit registers of a thread"),
    "device.registers_per_unit": Fact("number", "32-bit registers of one compute unit"),
    "device.threads_per_group": Fact("number", "most threads of one program"),
    "device.threads_per_unit": Fact("number", "most threads resident on one compute unit"),
    "device.lanes": Fact("number", "lanes of a warp as compiled, the widest legal one if open"),
    "device.lane_counts": Fact("numbers", "legal widths of a warp"),
    "device.num_warps": Fact("numbers", "legal values of num_warps"),
    "device.matrix_formats": Fact("texts", "operand formats of the matrix units"),
    "device.matrix_n": Fact("number", "columns of a 16-bit matrix instruction"),
    "device.ridge_16bit": Fact("number", "16-bit matrix FLOP per byte of device memory"),
    "device.block_load": Fact("text", "hardware loads of tiles: tma, block_2d or none"),
    "device.block_load_pitch": Fact("number", "bytes that strides of such tiles are multiples of"),
    "device.block_load_extent": Fact("number", "most elements of such a tile along an axis"),
    "device.dot_precisions": Fact("texts", "input precisions that Triton accepts"),
    "device.fp8_formats": Fact("texts", "8-bit floats that Triton accepts, in its names"),
    "device.options": Fact("texts", "launch options that do something"),
    "device.has_descriptors": Fact("truth", "tensor descriptors become hardware loads"),
    "device.has_register_modes": Fact("truth", "the register file is divided at launch"),
}
KERNEL: Final[Mapping[str, Fact]] = {
    "kind": Fact(
        "text", "product, reduction or elementwise", ("product", "reduction", "elementwise")
    ),
    "has_dot": Fact("truth", "the kernel multiplies matrices", _TRUTH),
    "has_loop": Fact("truth", "it has a loop", _TRUTH),
    "loads_in_loop": Fact("number", "loads inside loops", (0, 1, 2, 4)),
    "products": Fact("number", "calls of tl.dot", (0, 1, 2)),
    "reductions": Fact("number", "calls of tl.sum, tl.max and the like", (0, 1, 2)),
    "has_masks": Fact("truth", "a load or store is masked or checked", _TRUTH),
    "uses_block_pointers": Fact("truth", "it makes block pointers", _TRUTH),
    "uses_descriptors": Fact("truth", "it makes tensor descriptors", _TRUTH),
    "uses_atomics": Fact("truth", "it uses atomics", _TRUTH),
    "uses_exp": Fact("truth", "it calls the natural exponential", _TRUTH),
    "uses_float64": Fact("truth", "it names float64", _TRUTH),
    "uses_cache_hints": Fact("truth", "a load or store names a cache modifier or policy", _TRUTH),
    "program_axes": Fact("number", "axes of the grid that it reads", (1, 2, 3)),
    "is_tuned": Fact("truth", "it has an autotuner", _TRUTH),
    "kernels": Fact("number", "kernels that the file launches", (1, 2, 3)),
    "launches": Fact("number", "places where the file launches kernels", (1, 2, 4)),
}
LAUNCH: Final[Mapping[str, Fact]] = {
    "num_warps": Fact("number", "warps of one program", (1, 2, 3, 4, 8, 16, 32, 64)),
    "num_stages": Fact("number", "depth of the software pipeline", (1, 2, 3, 4, 5, 8)),
    "num_ctas": Fact("number", "programs of one cluster", (1, 2, 4)),
    "maxnreg": Fact("number", "most registers a thread may use", (32, 64, 128, 255, 256)),
    "grf_mode": Fact("text", "register mode", ("default", "128", "256", "512", "auto")),
    "warp_size": Fact("number", "lanes of a warp that the launch asks for", (8, 16, 32, 64)),
    "block_m": Fact("number", "rows of a product's tile", _SIZES),
    "block_n": Fact("number", "columns of a product's tile", _SIZES),
    "block_k": Fact("number", "depth of a product's tile", _SIZES),
    "group_m": Fact("number", "rows of tiles that neighbouring programs share", (1, 4, 8)),
    "block": Fact("number", "longest other block of the kernel, in elements", _SIZES),
    "configs": Fact("number", "configurations of the autotuner; 1 without one", (1, 2, 8, 64)),
}
SHAPE: Final[Mapping[str, Fact]] = {
    "dtype": Fact(
        "text",
        "widest floating format of the timed inputs",
        ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"),
    ),
    "operand_bytes": Fact(
        "number", "bytes of an element of the narrowest floating input", (1, 2, 4, 8)
    ),
    "elements": Fact("number", "elements of the largest timed input", (1024, 2**20, 2**26, 2**32)),
    "row_elements": Fact("number", "longest innermost extent", (7, 64, 1024, 65536)),
    "rows": Fact(
        "number", "elements of the largest input over its innermost extent", (1, 64, 4096, 10**6)
    ),
    "is_ragged": Fact("truth", "an innermost extent is no multiple of 16", _TRUTH),
    "intensity": Fact("number", "FLOP per compulsory byte", (0.5, 5.0, 50.0, 500.0)),
    "workloads": Fact("number", "timed workloads", (1, 3)),
}
CALLS: Final[Mapping[str, Mapping[str, Fact]]] = {
    "dot": {
        "input_precision": Fact(
            "text", "as written", ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
        ),
        "out_dtype": Fact(
            "text", "format of the result", ("float32", "float16", "bfloat16", "int32")
        ),
        "has_accumulator": Fact("truth", "the sum so far is given to it", _TRUTH),
        "is_in_loop": Fact("truth", "it stands in a loop", _TRUTH),
    },
    "descriptor": {
        "rank": Fact("number", "axes", (1, 2, 3, 5, 6)),
        "last_stride": Fact("number", "stride of the last axis", (1, 2, 64)),
        "inner_elements": Fact("number", "elements of the tile along the last axis", _SIZES),
        "largest_extent": Fact("number", "most elements of the tile along an axis", (16, 256, 512)),
        "tile_elements": Fact("number", "elements of the tile", (64, 4096, 2**20, 2**21)),
        "is_in_loop": Fact("truth", "it is made in a loop", _TRUTH),
    },
    "block_pointer": {
        "rank": Fact("number", "axes", (1, 2, 3)),
        "tile_elements": Fact("number", "elements of the tile", (64, 4096, 2**20, 2**21)),
        "is_in_loop": Fact("truth", "it is made in a loop", _TRUTH),
    },
    "load": {
        "addresses": Fact(
            "text",
            "pointers, block_pointer or descriptor",
            ("pointers", "block_pointer", "descriptor"),
        ),
        "has_mask": Fact("truth", "a mask is given", _TRUTH),
        "has_other": Fact("truth", "a value for masked elements is given", _TRUTH),
        "has_boundary_check": Fact("truth", "boundary_check is given", _TRUTH),
        "has_padding": Fact("truth", "padding_option is given", _TRUTH),
        "cache_modifier": Fact(
            "text", "as written; empty: none", ("", ".ca", ".cg", ".cv", ".cs", ".wt")
        ),
        "eviction_policy": Fact(
            "text", "as written; empty: none", ("", "evict_first", "evict_last", "no_evict")
        ),
    },
    "store": {
        "addresses": Fact(
            "text",
            "pointers, block_pointer or descriptor",
            ("pointers", "block_pointer", "descriptor"),
        ),
        "has_mask": Fact("truth", "a mask is given", _TRUTH),
        "has_boundary_check": Fact("truth", "boundary_check is given", _TRUTH),
        "cache_modifier": Fact(
            "text", "as written; empty: none", ("", ".wb", ".cg", ".cs", ".wt", ".ca")
        ),
        "eviction_policy": Fact(
            "text", "as written; empty: none", ("", "evict_first", "evict_last", "no_evict")
        ),
    },
    "atomic": {
        "operation": Fact(
            "text", "add, max, cas, ...", ("add", "max", "min", "cas", "xchg", "and")
        ),
        "sem": Fact(
            "text",
            "memory order as written; empty: the default",
            ("", "relaxed", "acq_rel", "acquire", "release", "seq_cst"),
        ),
        "memory_scope": Fact(
            "text", "as written; empty: the default", ("", "gpu", "cta", "sys", "device")
        ),
        "has_mask": Fact("truth", "a mask is given", _TRUTH),
        "addresses": Fact(
            "text",
            "pointers, block_pointer or descriptor",
            ("pointers", "block_pointer", "descriptor"),
        ),
    },
    "arange": {
        "start": Fact("number", "first element", (0, 1, 16)),
        "length": Fact("number", "elements", (1, 3, 16, 100, 1024, 2**20, 2**21)),
    },
    "program_id": {
        "axis": Fact("number", "axis of the grid", (0, 1, 2, 3)),
    },
}
SCOPES: Final[Mapping[str, Mapping[str, Fact]]] = {
    "launch": {**DEVICE, **KERNEL, **LAUNCH, **SHAPE},
    "kernel": {**DEVICE, **KERNEL, **SHAPE},
    **{name: {**DEVICE, **KERNEL, **SHAPE, **facts} for name, facts in CALLS.items()},
}
"""Which facts a predicate may name, by what it is about."""


def kinds_of(scope: str) -> Mapping[str, Kind]:
    """Return what kind of value each name of a scope has."""
    return {name: fact.kind for name, fact in SCOPES[scope].items()}


def device_facts(device: Device) -> dict[str, Value]:
    """Return the facts about a device; what its file does not know is None."""
    target, block, triton = device.compile_target, device.block_load, device.triton
    arch = target.arch if target is not None else None
    lanes = target.warp_size if target is not None else max(device.lane_counts, default=None)
    fast = device.matrix_flops_per_s.get("float16")
    wide = [each.n for each in device.matrix_shapes if each.dtype == "float16"]
    has_data = device.architecture != ""
    return {
        "device.name": device.name,
        "device.vendor": device.vendor,
        "device.backend": device.backend,
        "device.architecture": device.architecture or None,
        "device.capability": arch if device.vendor == "nvidia" and isinstance(arch, int) else None,
        "device.compute_units": device.compute_units,
        "device.bandwidth_bytes_per_s": device.bandwidth_bytes_per_s,
        "device.l2_bytes": device.l2_bytes,
        "device.shared_bytes_per_group": device.shared_bytes_per_group,
        "device.shared_bytes_per_unit": device.shared_bytes_per_unit,
        "device.registers_per_thread": device.registers_per_thread,
        "device.registers_per_unit": device.registers_per_unit,
        "device.threads_per_group": device.threads_per_group,
        "device.threads_per_unit": device.threads_per_unit,
        "device.lanes": lanes,
        "device.lane_counts": device.lane_counts or None,
        "device.num_warps": device.num_warps or None,
        "device.matrix_formats": tuple(device.matrix_flops_per_s),
        "device.matrix_n": wide[0] if wide else None,
        "device.ridge_16bit": fast / device.bandwidth_bytes_per_s if fast else None,
        "device.block_load": block.kind if block else "none" if has_data else None,
        "device.block_load_pitch": block.pitch_multiple_bytes if block else None,
        "device.block_load_extent": block.max_extent if block else None,
        "device.dot_precisions": triton.dot_precisions if triton else None,
        "device.fp8_formats": triton.fp8_formats if triton else None,
        "device.options": triton.options if triton else None,
        "device.has_descriptors": triton.descriptors if triton else None,
        "device.has_register_modes": bool(device.register_modes) if has_data else None,
    }
