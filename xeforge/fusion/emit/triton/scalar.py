"""Scalar functions in Triton's words: operators, members of ``tl``, and functions of our own.

What is ours is defined by ``exp``, ``log`` and the like alone: the same text compiles for every
target and runs in Triton's interpreter, which has no vendor's library.
"""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

ADDITION, MULTIPLICATION = 4, 5
INFIX: Mapping[str, tuple[str, int]] = {
    "add": ("+", ADDITION),
    "sub": ("-", ADDITION),
    "mul": ("*", MULTIPLICATION),
    "div": ("/", MULTIPLICATION),
    "lt": ("<", 1),
    "le": ("<=", 1),
    "gt": (">", 1),
    "ge": (">=", 1),
    "eq": ("==", 1),
    "ne": ("!=", 1),
    "and": ("&", 2),
    "or": ("|", 2),
}
"""Sign and how tight it binds; comparisons are loosest, as in Python."""

MEMBERS: Mapping[str, str] = {
    **{name: f"tl.{name}" for name in ("exp", "exp2", "log", "sqrt", "rsqrt", "erf", "sin", "cos")},
    **{name: f"tl.{name}" for name in ("floor", "ceil", "abs", "where")},
}


@dataclass(frozen=True, slots=True)
class Helper:
    """A jit function that emitted files define where they use it.

    Attributes:
        arguments: Their names.
        lines: Of the body.
        needs: Names of other helpers, without the underscore.
    """

    arguments: str
    lines: Sequence[str]
    needs: Sequence[str] = ()


SHORT: Mapping[str, Helper] = {
    "log1p_short": Helper(
        "x",
        (
            "far = tl.log2(1.0 + x) * 0.6931471805599453",
            "return tl.where(tl.abs(x) < 0.004, x * (1.0 - 0.5 * x), far)",
        ),
    ),
    "expm1_short": Helper(
        "x", ("return tl.where(tl.abs(x) < 0.004, x * (1.0 + 0.5 * x), tl.exp(x) - 1.0)",)
    ),
    "tanh_short": Helper(
        "x", ("return tl.where(tl.abs(x) < 0.004, x, 1.0 - 2.0 / (1.0 + tl.exp(2.0 * x)))",)
    ),
    "gelu_short": Helper(
        "x",
        (
            "# x times the normal distribution: exp(-x * x / 2) * p(t) beyond |x|, p within 2e-5.",
            "t = 1.0 / (1.0 + 0.37 * tl.abs(x))",
            "p = 0.07110626686638569 + t * (0.21612087493203813 - t * 0.0930234413263129)",
            "p = t * (0.14672543998702478 + t * (0.15906161768704982 + t * p))",
            "beyond = p * tl.exp2(x * x * -0.7213475204444817)",
            "return x * tl.where(x > 0.0, 1.0 - beyond, beyond)",
        ),
    ),
}
"""In fewer instructions, with relative errors below 1e-4: a quarter of the last place of float16.

The form of `gelu_short` is that of Abramowitz and Stegun 7.1.26; its numbers are ours, a least
largest relative error over [0, 9]. Arithmetic behind a product is not hidden by anything: on an
H200 it shortened a residual GELU from 119 to 97 us, and products with it by 2 to 4 %
(`benchmarks/results/h200-2026-12-01/fusion-variants-1.json`).
"""

HELPERS: Mapping[str, Helper] = {
    **SHORT,
    "maximum": Helper("a, b", ("return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)",)),
    "minimum": Helper("a, b", ("return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)",)),
    "grouped": Helper(
        "tile, tiles_m, tiles_n, GROUP_M: tl.constexpr",
        (
            "# Tiles that run together share columns: GROUP_M rows of tiles, column by column.",
            "per_group = GROUP_M * tiles_n",
            "first = tile // per_group * GROUP_M",
            "rows = tl.minimum(tiles_m - first, GROUP_M)",
            "within = tile % per_group",
            "return first + within % rows, within // rows",
        ),
    ),
    "multiply": Helper("a, b", ("return a * b",)),
    "tan": Helper("x", ("return tl.sin(x) / tl.cos(x)",)),
    "log1p": Helper(
        "x",
        (
            "# log(1 + x) times x / ((1 + x) - 1): the rounding of 1 + x cancels.",
            "shifted = 1.0 + x",
            "step = shifted - 1.0",
            'is_exact = (step == 0.0) | (x == float("inf"))',
            "return tl.where(is_exact, x, tl.log(shifted) * (x / tl.where(is_exact, 1.0, step)))",
        ),
    ),
    "expm1": Helper(
        "x",
        (
            "# (e - 1) * x / log(e): the rounding of e = exp(x) cancels.",
            "grown = tl.exp(x)",
            "step = grown - 1.0",
            'is_exact = (step == 0.0) | (step == -1.0) | (grown == float("inf"))',
            "bent = step * (x / tl.log(tl.where(is_exact, 2.0, grown)))",
            "return tl.where(step == 0.0, x, tl.where(is_exact, step, bent))",
        ),
    ),
    "tanh": Helper(
        "x",
        (
            "# A series near 0, where the quotient would lose digits.",
            "size = tl.abs(x)",
            "shrunk = tl.exp(-2.0 * size)",
            "far = (1.0 - shrunk) / (1.0 + shrunk)",
            "s = x * x",
            "tail = s * (0.1333333333333333 + s * (s * 0.021869488536155 - 0.05396825396825))",
            "near = x + x * s * (tail - 0.33333333333333333)",
            "return tl.where(size < 0.25, near, tl.where(x < 0.0, -far, far))",
        ),
    ),
    "tanh_wide": Helper(
        "x",
        (
            "step = _expm1(-2.0 * tl.abs(x))",
            "size = -step / (2.0 + step)",
            "return tl.where(x < 0.0, -size, size)",
        ),
        ("expm1",),
    ),
    **{
        name: Helper(
            "x",
            (
                f"# Beyond {limit} all numbers are whole; up to there the sum rounds.",
                f"moved = tl.where(x < 0.0, x - {limit}, x + {limit})",
                f"whole = tl.where(x < 0.0, moved + {limit}, moved - {limit})",
                f"return tl.where(tl.abs(x) < {limit}, whole, x)",
            ),
        )
        for name, limit in (("round", 2.0**23), ("round_wide", 2.0**52))
    },
    "trunc": Helper("x", ("return tl.where(x < 0.0, tl.ceil(x), tl.floor(x))",)),
    "sign": Helper(
        "x", ("return tl.where(x > 0.0, 1.0, tl.where(x < 0.0, -1.0, tl.where(x == 0.0, 0.0, x)))",)
    ),
    "pow": Helper(
        "a, b",
        (
            "# In float64, so that a large exponent costs no digits.",
            "base = a.to(tl.float64)",
            "power = b.to(tl.float64)",
            "size = tl.abs(base)",
            "grown = tl.where(size == 1.0, 1.0, tl.exp2(power * tl.log2(size)))",
            "is_whole = tl.floor(power) == power",
            "is_odd = is_whole & (tl.floor(power * 0.5) * 2.0 != power)",
            "# A negative base, minus zero included, has powers where the exponent is whole.",
            "is_negative = (base < 0.0) | (1.0 / base < 0.0)",
            'has_power = is_whole | (size == 0.0) | (size == float("inf"))',
            'bent = tl.where(is_odd, -grown, tl.where(has_power, grown, float("nan")))',
            "found = tl.where(is_negative, bent, grown)",
            "return tl.where((power == 0.0) | (base == 1.0), 1.0, found)",
        ),
    ),
    "relu": Helper("x", ("return tl.where(x < 0.0, 0.0, x)  # keeps NaN",)),
    "sigmoid": Helper("x", ("return 1.0 / (1.0 + tl.exp(-x))",)),
    "silu": Helper("x", ("return x / (1.0 + tl.exp(-x))",)),
    "gelu": Helper("x", ("return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))",)),
    "gelu_tanh": Helper(
        "x",
        (
            "# (1 + tanh(z)) / 2 is the sigmoid of 2 z.",
            "bent = x * (1.5957691216057308 + 0.07135481627260025 * x * x)",
            "return x / (1.0 + tl.exp(-bent))",
        ),
    ),
    "mish": Helper(
        "x",
        (
            "# tanh(log(1 + e)) is n / (n + 2) with n = e * (e + 2); from 20 on it rounds to 1.",
            "grown = tl.exp(_minimum(x, 20.0))",
            "n = grown * (grown + 2.0)",
            "return x * (n / (n + 2.0))",
        ),
        ("minimum",),
    ),
    **{
        f"softplus{short}": Helper(
            "x, beta, threshold",
            (
                "scaled = x * beta",
                f"return tl.where(scaled > threshold, x, _log1p{short}(tl.exp(scaled)) / beta)",
            ),
            (f"log1p{short}",),
        )
        for short in ("", "_short")
    },
    "leaky_relu": Helper("x, slope", ("return tl.where(x > 0.0, x, x * slope)",)),
    **{
        f"elu{short}": Helper(
            "x, alpha, scale, input_scale",
            (
                f"below = _expm1{short}(x * input_scale) * alpha * scale",
                "return tl.where(x > 0.0, x * scale, below)",
            ),
            (f"expm1{short}",),
        )
        for short in ("", "_short")
    },
    "hardsigmoid": Helper(
        "x",
        (
            "moved = x + 3.0",
            "return tl.where(moved < 0.0, 0.0, tl.where(moved > 6.0, 6.0, moved)) / 6.0",
        ),
    ),
    "hardswish": Helper("x", ("return x * _hardsigmoid(x)",), ("hardsigmoid",)),
}

_WIDE = {"tanh": "tanh_wide", "round": "round_wide"}


def helper_name(function: str, dtype: str, *, is_short: bool = False) -> str | None:
    """Return the name of the helper for a function on a dtype; None for what Triton has.

    Args:
        function: Of `xeforge.fusion.functions`.
        dtype: In which it is computed.
        is_short: Whether no more digits are wanted than 16-bit formats have.
    """
    wanted: tuple[str, ...]
    if dtype == "float64":
        wanted = (_WIDE.get(function, function),)
    else:
        wanted = (f"{function}_short", function) if is_short else (function,)
    return next((each for each in wanted if each in HELPERS), None)


def helper_source(names: set[str]) -> list[str]:
    """Return definitions of helpers and of what they need, in an order in which they may stand."""
    wanted = set(names)
    for name in names:
        wanted |= set(HELPERS[name].needs)
    lines: list[str] = []
    for name in sorted(wanted, key=lambda each: (bool(HELPERS[each].needs), each)):
        helper = HELPERS[name]
        lines += ["", "", "@triton.jit", f"def _{name}({helper.arguments}):"]
        lines += [f"    {line}" for line in helper.lines]
    return lines
