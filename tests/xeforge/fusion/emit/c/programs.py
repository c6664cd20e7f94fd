"""Programs in other dtypes, values for them, and the judgement of what C computes."""

from dataclasses import replace

import numpy as np

from xeforge.fusion.emit.c.build import compile_text
from xeforge.fusion.emit.c.load import load
from xeforge.fusion.emit.c.source import emit
from xeforge.fusion.emit.c.source import joined
from xeforge.fusion.emit.c.target import Limits
from xeforge.fusion.emit.c.target import this_machine
from xeforge.fusion.formats import Formats
from xeforge.fusion.fuse import canonical
from xeforge.fusion.fuse import growing
from xeforge.fusion.fuse.growing import grow
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.interpret import interpret
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select

# Small limits, so that small programs run through every way of cutting and sharing loops.
LIMITS = Limits(
    parallel_points=24, block_points=4, parts=3, chunk=3, few=3, tile_rows=4, lanes=32, lane_chunk=2
)
TARGET = replace(this_machine(), limits=LIMITS, first_cache_bytes=256, cache_bytes=1024)
QUICK = ("-O1", "-fno-math-errno", "-fno-trapping-math")
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}


def in_dtype(program: Program, dtype: str) -> Program:
    """Return the program with float64 replaced by another float format throughout."""

    def named(name):
        return dtype if name == "float64" else name

    def changed(value):
        if isinstance(value, Select):
            return replace(value, then=changed(value.then), otherwise=changed(value.otherwise))
        if isinstance(value, Call):
            args = tuple(changed(each) for each in value.args)
            return replace(value, args=args, dtype=named(value.dtype))
        if isinstance(value, Read):
            return replace(value, dtype=named(value.dtype))
        return replace(value, dtype=named(value.dtype))

    statements = tuple(
        replace(
            each,
            body=changed(each.body),
            reduce=each.reduce and replace(each.reduce, dtype=named(each.reduce.dtype)),
        )
        for each in program.statements
    )
    arrays = tuple(replace(each, dtype=named(each.dtype)) for each in program.arrays)
    return replace(program, arrays=arrays, statements=statements)


def fused(program: Program):
    """Return a plan with everything fused that may be."""
    return grow(canonical.run(program), growing.Limits(CPU))


def stored(values, dtype):
    """Return values as calls take them."""
    kept = Formats(is_exact=False).rounded(np.asarray(values), dtype)
    if dtype != "bfloat16":
        return np.asarray(kept, order="C")
    bits = np.asarray(kept, order="C").view(np.uint32)
    return np.asarray((bits >> np.uint32(16)).astype(np.uint16))


def as_numbers(values, dtype):
    """Return what a call gave as float64."""
    if dtype == "bfloat16":
        values = (values.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return values.astype(np.float64)


def build_all(plans, folder, *, options=QUICK, target=TARGET):
    """Compile plans into one library; return one callable each."""
    sources = [emit(plan, target, entry=f"plan{at}") for at, plan in enumerate(plans)]
    flags = ("-std=gnu11", *options, f"-march={target.march}", "-fopenmp")
    library = compile_text(joined(sources), flags, folder=folder)
    return [load(library, each) for each in sources]


def faults(program, compiled, given):
    """Return one sentence per output that is wrong.

    What C computed may be off by a few roundings of the largest number there, and by four times
    what numpy is off by when it rounds to the same dtypes.
    """
    arrays = program.arrays_by_name()
    dtypes = {each.name: each.dtype for each in program.arrays}
    kept = {
        name: as_numbers(stored(values, dtypes[name]), dtypes[name])
        if dtypes[name] in EPS
        else values
        for name, values in given.items()
    }
    got = compiled({name: stored(each, dtypes[name]) for name, each in given.items()})
    exact = interpret(program, kept)
    near = interpret(program, kept, exact=False)
    found = []
    for name in program.outputs:
        dtype = arrays[name].dtype
        values, wanted = as_numbers(got[name], dtype), exact[name].astype(np.float64)
        allowed = _allowed(wanted, near[name].astype(np.float64), EPS.get(dtype, 0.0))
        same = (values == wanted) | (np.isnan(values) & np.isnan(wanted))
        # An infinity that rounding makes is right too.
        same |= values == near[name]
        with np.errstate(invalid="ignore"):
            wrong = ~(same | (np.abs(values - wanted) <= allowed))
        if wrong.any():
            at = tuple(int(each) for each in np.argwhere(wrong)[0])
            found.append(f"{name}{list(at)}: {values[at]} instead of {wanted[at]}")
    return found


def _allowed(wanted, near, eps):
    finite = np.abs(wanted[np.isfinite(wanted)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    with np.errstate(invalid="ignore"):
        off = np.abs(near - wanted)
    usual = off[np.isfinite(off)]
    return 64 * eps * scale + 4 * (float(usual.max()) if usual.size else 0.0)
