"""Lines of a kernel under construction, and names that do not clash in it."""

import keyword
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Union

_INDENT = "    "
_WIDTH = 88
_TAKEN = frozenset(
    {"tl", "triton", "torch", "nn", "range", "float", "self", "device", "Model", "tuple", "None"}
)


class Names:
    """Hands out identifiers, each once."""

    def __init__(self) -> None:
        self._taken = set(_TAKEN)

    def fresh(self, wanted: str) -> str:
        """Return the wanted name, with a number behind it where it is taken."""
        name, count = wanted, 1
        while name in self._taken or keyword.iskeyword(name):
            name, count = f"{wanted}_{count}", count + 1
        self._taken.add(name)
        return name


class Lines:
    """A block of source text; inner blocks may be filled after what follows them."""

    def __init__(self, lead: str = "") -> None:
        self._parts: list[Union[str, Lines]] = []
        self._lead = lead

    def add(self, *lines: str) -> None:
        """Append lines, written without indentation."""
        self._parts.extend(lines)

    def block(self) -> "Lines":
        """Append an empty block at the same depth, to be filled later."""
        made = Lines()
        self._parts.append(made)
        return made

    def inner(self) -> "Lines":
        """Append an empty block one step deeper."""
        made = Lines(_INDENT)
        self._parts.append(made)
        return made

    def follow(self, other: "Lines") -> None:
        """Append another block, with whatever will be added to it."""
        self._parts.append(other)

    def text(self) -> list[str]:
        """Return all lines."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        for part in self._parts:
            inner = part.text() if isinstance(part, Lines) else [part]
            yield from (self._lead + line for line in inner)


def call_lines(head: str, arguments: Sequence[str], tail: str = "") -> list[str]:
    """Return a call on one line, or with one argument a line where that is too long."""
    text = f"{head}({', '.join(arguments)}){tail}"
    if len(text) <= _WIDTH:
        return [text]
    return [f"{head}(", *(f"{_INDENT}{each}," for each in arguments), f"){tail}"]


@contextmanager
def scoped(known: dict[str, str]) -> Iterator[None]:
    """Forget at the end what was added to a mapping within."""
    before = dict(known)
    try:
        yield
    finally:
        known.clear()
        known.update(before)
