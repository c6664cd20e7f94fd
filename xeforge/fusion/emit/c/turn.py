"""Turning lines into panels: eight by eight numbers at a time in registers."""

from collections.abc import Iterator
from collections.abc import Mapping

_SIDE = 8
_PAIRS = "0, 8, 1, 9, 4, 12, 5, 13"
_OTHERS = "2, 10, 3, 11, 6, 14, 7, 15"
_FIRST = "0, 1, 8, 9, 4, 5, 12, 13"
_SECOND = "2, 3, 10, 11, 6, 7, 14, 15"
_LOW = "0, 1, 2, 3, 8, 9, 10, 11"
_HIGH = "4, 5, 6, 7, 12, 13, 14, 15"

_HEAD = """\
/* to[k * width + lane] = from[lane * stride + k]; `from` has lines up to a multiple of 8. */
static inline void xf_turn_{suffix}(
    const {value} *restrict from, int64_t stride, int64_t terms, {value} *restrict to,
    int64_t width)
{{
"""

_PLAIN = """\
    for (int64_t k = 0; k < terms; k++)
        for (int64_t lane = 0; lane < width; lane++)
            to[k * width + lane] = from[lane * stride + k];
}
"""


def _shuffled(name: str, left: str, right: str, order: str) -> str:
    return f"const block {name} = __builtin_shufflevector({left}, {right}, {order});"


def _steps() -> Iterator[str]:
    """Yield the lines that turn a block of eight lines."""
    for row in range(_SIDE):
        yield f"const block r{row} = *(const block *)(from + (lane + {row}) * stride + k);"
    for row in range(0, _SIDE, 2):
        yield _shuffled(f"s{row}", f"r{row}", f"r{row + 1}", _PAIRS)
        yield _shuffled(f"s{row + 1}", f"r{row}", f"r{row + 1}", _OTHERS)
    for row in range(0, _SIDE, 4):
        for at in range(2):
            yield _shuffled(f"t{row + 2 * at}", f"s{row + at}", f"s{row + at + 2}", _FIRST)
            yield _shuffled(f"t{row + 2 * at + 1}", f"s{row + at}", f"s{row + at + 2}", _SECOND)
    for half, order in enumerate((_LOW, _HIGH)):
        for at in range(4):
            value = f"__builtin_shufflevector(t{at}, t{at + 4}, {order})"
            yield f"*(block *)(to + (k + {4 * half + at}) * width + lane) = {value};"


def _turn() -> str:
    steps = "\n".join(f"            {step}" for step in _steps())
    return f"""\
    typedef float block __attribute__((vector_size(32), aligned(4)));
    for (int64_t lane = 0; lane < width; lane += 8) {{
        int64_t k = 0;
        /* Where a line of a panel is shorter than a block, the next ones come over its end; the
           last ones and the end of a longer line are copied one by one. */
        const int is_whole = lane + 8 <= width || lane == 0;
        for (; is_whole && k + 8 <= terms && (k + 7) * width + lane + 8 <= terms * width; k += 8) {{
{steps}
        }}
        for (; k < terms; k++)
            for (int64_t at = lane; at < lane + 8 && at < width; at++)
                to[k * width + at] = from[at * stride + k];
    }}
}}
"""


TURNS: Mapping[str, str] = {
    "xf_turn_f32": _HEAD.format(suffix="f32", value="float") + _turn(),
    "xf_turn_f64": _HEAD.format(suffix="f64", value="double") + _PLAIN,
}
"""The functions by name."""
