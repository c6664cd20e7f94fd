"""The C functions that emitted files contain: only those that a file uses, in order."""

import re
from collections.abc import Iterator
from collections.abc import Mapping

from xeforge.fusion.affine import Affine
from xeforge.fusion.emit.c import micro
from xeforge.fusion.emit.c.expression import expression
from xeforge.fusion.emit.c.runtime_math import MATH
from xeforge.fusion.emit.c.turn import TURNS
from xeforge.fusion.expand import expand
from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import call
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Read

HEAD = """\
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
"""

_NAME = re.compile(r"\bxf_\w+")
_VALUES = {"f32": "float", "f64": "double"}
_DTYPES = {"f32": "float32", "f64": "float64"}

_INTEGERS = {
    "xf_floor_div": """\
static inline int64_t xf_floor_div(int64_t of, int64_t by)
{
    return of / by - (of % by < 0);
}
""",
    "xf_floor_mod": """\
static inline int64_t xf_floor_mod(int64_t of, int64_t by)
{
    int64_t rest = of % by;
    return rest < 0 ? rest + by : rest;
}
""",
}
_HALVES = {
    "xf_from_bf16": """\
static inline float xf_from_bf16(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}
""",
    "xf_to_bf16": """\
/* To the nearest, ties to even; NaN stays NaN. */
static inline uint16_t xf_to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t near = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)(value != value ? 0x7FC0u : near);
}
""",
    "xf_round_bf16": """\
static inline float xf_round_bf16(float value)
{
    return xf_from_bf16(xf_to_bf16(value));
}
""",
    "xf_round_f16": """\
static inline float xf_round_f16(float value)
{
    return (float)(_Float16)value;
}
""",
}
_ARENA = {
    "xf_arena": """\
/* Memory of this thread, kept between calls; NULL where there is none. */
static char *xf_arena(size_t bytes)
{
    static _Thread_local char *kept;
    static _Thread_local size_t size;
    if (bytes > size) {
        free(kept);
        bytes = (bytes + 63) / 64 * 64;
        kept = aligned_alloc(64, bytes);
        size = kept ? bytes : 0;
    }
    return kept;
}
""",
}


def _extrema(suffix: str, value: str) -> Iterator[tuple[str, str]]:
    for name, relation in (("max", ">="), ("min", "<=")):
        chosen = f"a {relation} b || a != a" if suffix in _VALUES else f"a {relation} b"
        yield (
            f"xf_{name}_{suffix}",
            f"static inline {value} xf_{name}_{suffix}({value} a, {value} b)\n"
            f"{{\n    return {chosen} ? a : b;\n}}\n" + _declared(name, suffix, value),
        )
    text = "x != x ? x : (VALUE)((x > 0) - (x < 0))"
    if suffix not in _VALUES:
        text = "(x > 0) - (x < 0)"
    yield f"xf_sign_{suffix}", _unary(f"xf_sign_{suffix}", value, text.replace("VALUE", value))
    absolute = {"f32": "fabsf(x)", "f64": "fabs(x)"}.get(suffix, "x < 0 ? -x : x")
    yield f"xf_abs_{suffix}", _unary(f"xf_abs_{suffix}", value, absolute)


def _declared(name: str, suffix: str, value: str) -> str:
    if suffix not in _VALUES:
        return ""
    start = "-INFINITY" if name == "max" else "INFINITY"
    full = f"xf_{name}_{suffix}"
    step = f"omp_out = {full}(omp_out, omp_in)"
    return (
        f"#pragma omp declare reduction({full} : {value} : {step}) "
        f"initializer(omp_priv = {start})\n"
    )


def _unary(name: str, value: str, result: str) -> str:
    return f"static inline {value} {name}({value} x)\n{{\n    return {result};\n}}\n"


def _library(suffix: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the functions that the C library or the processor has."""
    end = "f" if suffix == "f32" else ""
    names = ("exp", "log", "sqrt", "erf", "tanh", "log1p", "expm1", "sin", "cos", "tan", "exp2")
    for name in (*names, "floor", "ceil", "trunc"):
        yield (
            f"xf_{name}_{suffix}",
            _unary(f"xf_{name}_{suffix}", value, f"{name}{end}(x)"),
        )
    yield f"xf_round_{suffix}", _unary(f"xf_round_{suffix}", value, f"rint{end}(x)")
    yield f"xf_rsqrt_{suffix}", _unary(f"xf_rsqrt_{suffix}", value, f"1 / sqrt{end}(x)")
    name = f"xf_pow_{suffix}"
    head = f"static inline {value} {name}({value} x, {value} y)"
    yield name, f"{head}\n{{\n    return pow{end}(x, y);\n}}\n"


def _composites(suffix: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what `expand` defines by other functions."""
    for function in FUNCTIONS.values():
        if function.is_primitive:
            continue
        names = [f"x{at}" for at in range(function.arity)]
        args = [Read(Access(name, (Affine(),)), _DTYPES[suffix]) for name in names]
        body = expression(expand(call(function.name, *args)), {}, lambda read: read.access.array)
        name = f"xf_{function.name}_{suffix}"
        listed = ", ".join(f"{value} {each}" for each in names)
        yield name, f"static inline {value} {name}({listed})\n{{\n    return {body};\n}}\n"


def _pieces() -> Mapping[str, str]:
    found: dict[str, str] = {**_INTEGERS, **_HALVES, **_ARENA}
    for suffix, value in (*_VALUES.items(), ("i64", "int64_t"), ("i32", "int32_t")):
        found.update(_extrema(suffix, value))
    for suffix, value in _VALUES.items():
        found.update(_library(suffix, value))
    found.update(MATH)
    for suffix, value in _VALUES.items():
        found.update(_composites(suffix, value))
    return found


PIECES = _pieces()
"""Each function's text by name."""


def used_by(text: str) -> str:
    """Return the functions that a text needs, what they need themselves first."""
    wanted: dict[str, str] = {}

    def want(name: str) -> None:
        if name in wanted:
            return
        if micro.NAME.fullmatch(name):
            wanted[name] = micro.micro_text(name)
        elif name in TURNS:
            wanted[name] = TURNS[name]
        elif name in PIECES:
            for inner in _NAME.findall(PIECES[name]):
                if inner != name:
                    want(inner)
            wanted[name] = PIECES[name]

    for name in _NAME.findall(text):
        want(name)
    return "\n".join(wanted.values())
