"""Kernels that were made for several sizes and differ in numbers alone become one kernel.

The numbers that differ become compile-time parameters, so the code that Triton makes is what it
was. What is gained: a check at small sizes runs the very function that is timed at large ones.
"""

import ast
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.propose.emitted_file import Edit
from xeforge.propose.emitted_file import appended
from xeforge.propose.emitted_file import edited
from xeforge.propose.emitted_file import line_starts
from xeforge.propose.emitted_file import numbers_in

_PARAMETER = "FIXED"


@dataclass(frozen=True, slots=True)
class SharedKernel:
    """One jit function for several sizes.

    Attributes:
        text: Its definition.
        values: For each of the texts it came from, the source text of each new parameter.
    """

    text: str
    values: tuple[Mapping[str, str], ...]


def form_of(text: str) -> str:
    """Return what kernels that differ in numbers alone have in common."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            node.value = 0.0 if isinstance(node.value, float) else 0
    return ast.dump(tree)


def share(texts: Sequence[str]) -> SharedKernel:
    """Return one kernel for all texts, which have the same form.

    Args:
        texts: Definitions of jit functions; at least one.

    Raises:
        ValueError: Their forms differ.
    """
    if len({form_of(each) for each in texts}) != 1:
        raise ValueError("kernels of different forms cannot be one")
    columns = list(zip(*(list(numbers_in(each)) for each in texts), strict=True))
    first = texts[0]
    stem = _stem(first)
    names: dict[tuple[str, ...], str] = {}
    edits: list[Edit] = []
    for column in columns:
        spelt = tuple(each[2] for each in column)
        if len(set(spelt)) == 1:
            continue
        name = names.setdefault(spelt, f"{stem}_{len(names) + 1}")
        edits.append((column[0][0], column[0][1], name))
    if names:
        end = _end_of_parameters(first)
        edits.append(appended(first, end, [f"{name}: tl.constexpr" for name in names.values()]))
    values = tuple(
        {name: spelt[place] for spelt, name in names.items()} for place in range(len(texts))
    )
    return SharedKernel(edited(first, edits), values)


def _stem(text: str) -> str:
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    used |= {node.arg for node in ast.walk(ast.parse(text)) if isinstance(node, ast.arg)}
    stem = _PARAMETER
    while any(each.startswith(stem) for each in used):
        stem = f"{stem}_VALUE"
    return stem


def _end_of_parameters(text: str) -> int:
    """Return the offset behind the last parameter of the function that a text defines."""
    (function,) = (each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef))
    last = function.args.args[-1]
    return line_starts(text)[(last.end_lineno or last.lineno) - 1] + (last.end_col_offset or 0)
