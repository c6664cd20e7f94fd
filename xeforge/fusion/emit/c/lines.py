"""Indented lines of C."""

from collections.abc import Iterator
from contextlib import contextmanager


class Lines:
    """Collects lines; blocks indent what is written inside them."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def add(self, *texts: str) -> None:
        """Write lines at the present depth."""
        self._lines += [f"{'    ' * self._depth}{text}" if text else "" for text in texts]

    def pragma(self, text: str) -> None:
        """Write a line for OpenMP."""
        self.add(f"#pragma omp {text}")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write ``head {`` and, after what is written inside, ``}``."""
        self.add(f"{head} {{" if head else "{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add("}")

    @contextmanager
    def blocks(self, *heads: str) -> Iterator[None]:
        """Write nested blocks."""
        if not heads:
            yield
            return
        with self.block(heads[0]), self.blocks(*heads[1:]):
            yield

    def text(self) -> str:
        """Return everything, with a newline at the end."""
        return "\n".join(self._lines) + "\n"
