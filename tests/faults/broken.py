"""Kernel files that are no Python text, kept as bytes so that no tool trips over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
_HONEST = (FOLDER / "honest_words.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Broken:
    """Contents of a kernel file that must be refused with exit code 2.

    Attributes:
        content: Bytes to write.
        words: Each must occur in the message, in any case of letters.
        line: One-based line that must be named; None: none.
    """

    content: bytes
    words: tuple[str, ...]
    line: int | None = None


def _line_of(text: str, fragment: str) -> int:
    return text[: text.index(fragment)].count("\n") + 1


def _unclosed() -> Broken:
    fragment = "y = torch.empty_like(x)"
    text = _HONEST.replace(fragment, "y = torch.empty_like(x")
    return Broken(text.encode(), ("not valid Python",), _line_of(_HONEST, fragment))


def _null_bytes() -> Broken:
    text = _HONEST.replace("items = x.numel()", "items = \0x.numel()")
    return Broken(text.encode(), ("null bytes",), _line_of(_HONEST, "items = x.numel()"))


BROKEN: Mapping[str, Broken] = {
    "empty.py": Broken(b"", ("empty",)),
    "only_blanks.py": Broken(b"\n   \n\t\n", ("empty",)),
    "syntax_error.py": _unclosed(),
    "bad_indentation.py": Broken(
        _HONEST.replace("        items = x.numel()", "      items = x.numel()").encode(),
        ("not valid Python",),
        _line_of(_HONEST, "items = x.numel()"),
    ),
    "latin1.py": Broken(
        _HONEST.replace("Doubles a vector.", "Verdoppelt größere Vektoren.").encode("latin-1"),
        ("UTF-8",),
    ),
    "utf16.py": Broken(_HONEST.encode("utf-16"), ("UTF-8",)),
    "null_bytes.py": _null_bytes(),
    "elf_binary.py": Broken(b"\x7fELF\x02\x01\x01" + bytes(200), ()),
    "only_text.py": Broken(b"Please make my kernel faster.\n", ("not valid Python",), 1),
    "only_comments.py": Broken(b"# a kernel will be here some day\n", ("jit",)),
}


def write_broken(name: str, folder: Path) -> Path:
    """Write a broken kernel file into a folder and return its path."""
    path = folder / name
    path.write_bytes(BROKEN[name].content)
    return path
