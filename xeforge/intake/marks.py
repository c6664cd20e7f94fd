"""Reads YAML so that every value still knows its line."""

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from difflib import get_close_matches
from typing import Any
from typing import Final
from typing import TypeAlias

import yaml
from yaml.constructor import SafeConstructor

from xeforge.errors import BadSpec

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indices from the top of the document down to a value."""

NODE_LIMIT: Final = 50_000
"""Most values of one document after aliases are followed; guards against alias bombs."""
SIZE_LIMIT_CHARACTERS: Final = 250_000
"""Longer documents are refused; the largest known spec has a twentieth of this."""
NESTING_LIMIT: Final = 50
"""Deepest nesting of brackets; the parser's time grows with its square."""
_MERGE: Final = "tag:yaml.org,2002:merge"
_PLAIN_TAGS: Final = {
    f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str")
}


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document with places.

    Attributes:
        file: As the user named it.
        data: Plain values; keys are always text, as written.
        lines: One-based line of every value, by path; for mappings, of their key.
        texts: Scalars as written, by path.
    """

    file: str
    data: Any
    lines: Mapping[Path, int] = field(repr=False)
    texts: Mapping[Path, str] = field(repr=False)

    def line(self, path: Path) -> int | None:
        """Return the line of a value, or of the nearest thing around it."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None

    def bad(self, path: Path, message: str, *, remedy: str | None = None) -> BadSpec:
        """Return an error that points at a value."""
        return BadSpec(
            message, file=self.file, line=self.line(path), field=dotted(path) or None, remedy=remedy
        )


def dotted(path: Path) -> str:
    """Return ``bench-gpu[0].dims.M`` for ``("bench-gpu", 0, "dims", "M")``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``"; did you mean 'float16'?"``, or nothing."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {found[0]!r}?" if found else ""


def read_yaml(text: str, file: str) -> Document:
    """Read one YAML document.

    Raises:
        BadSpec: Empty, not YAML, a key given twice, a value of an unusual type, or too large.
    """
    if not text.strip("\ufeff \t\r\n"):
        raise BadSpec("the file is empty", file=file, remedy="check the path and the contents")
    _check_size(text, file)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadSpec(
            f"not valid YAML: {error.problem or error.context}",
            file=file,
            line=None if mark is None else mark.line + 1,
            remedy="mend the syntax; indentation takes spaces, not tabs",
        ) from error
    except yaml.YAMLError as error:
        raise BadSpec(
            f"not valid YAML: {str(error).splitlines()[0]}",
            file=file,
            remedy="save the file as UTF-8 text",
        ) from error
    except RecursionError as error:
        raise BadSpec("nested too deeply", file=file, remedy="flatten the document") from error
    if root is None:
        raise BadSpec("the file holds only comments", file=file, remedy="add inputs and variants")
    reader = _Reader(file)
    try:
        data = reader.value(root, ())
    except RecursionError as error:
        raise BadSpec("nested too deeply", file=file, remedy="flatten the document") from error
    return Document(file, data, reader.lines, reader.texts)


def _check_size(text: str, file: str) -> None:
    if len(text) > SIZE_LIMIT_CHARACTERS:
        raise BadSpec(
            f"the file has {len(text):,} characters, more than {SIZE_LIMIT_CHARACTERS:,}",
            file=file,
            remedy="check that it is the spec",
        )
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        depth += sum(line.count(each) for each in "[{") - sum(line.count(each) for each in "]}")
        # Brackets in text or comments may unbalance the count, but never by this much.
        if depth > NESTING_LIMIT:
            raise BadSpec(
                "nested too deeply", file=file, line=number, remedy="flatten the document"
            )


class _Reader:
    """Turns composed nodes into plain values, noting lines."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._constructor = SafeConstructor()
        self._seen = 0
        self.lines: dict[Path, int] = {}
        self.texts: dict[Path, str] = {}

    def value(self, node: yaml.Node, path: Path) -> Any:
        """Return the plain value of a node."""
        self._seen += 1
        if self._seen > NODE_LIMIT:
            raise self._bad(
                node,
                path,
                f"more than {NODE_LIMIT:,} values",
                "shorten the file; avoid nested aliases",
            )
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, (*path, index)) for index, each in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key, inner in node.value:
            if key.tag == _MERGE:
                for each in inner.value if isinstance(inner, yaml.SequenceNode) else [inner]:
                    merged |= {name: merged.get(name, v) for name, v in self._merged(each, path)}
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise self._bad(key, path, "a key must be a plain word", "write NAME: VALUE")
            # Keys stay as written: YAML 1.1 would read a dimension named NO as a truth value.
            name = key.value
            if name in found:
                raise self._bad(
                    key, (*path, name), f"the key {name!r} is given twice", "keep one of them"
                )
            self.lines[(*path, name)] = key.start_mark.line + 1
            found[name] = self.value(inner, (*path, name))
        return {**merged, **found}

    def _merged(self, node: yaml.Node, path: Path) -> list[tuple[str, Any]]:
        if not isinstance(node, yaml.MappingNode):
            raise self._bad(node, path, "only mappings can be merged with <<", "merge a mapping")
        return list(self._mapping(node, path).items())

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        self.texts[path] = node.value
        if node.tag not in _PLAIN_TAGS:
            kind = node.tag.removeprefix("tag:yaml.org,2002:")
            raise self._bad(
                node, path, f"a value of type {kind} is not expected here", "put it in quotes"
            )
        try:
            return self._constructor.construct_object(node)
        except (ValueError, yaml.YAMLError) as error:
            raise self._bad(
                node, path, f"{node.value[:40]!r} cannot be read", "write a plain number or text"
            ) from error

    def _bad(self, node: yaml.Node, path: Path, message: str, remedy: str) -> BadSpec:
        return BadSpec(
            message,
            file=self._file,
            line=node.start_mark.line + 1,
            field=dotted(path) or None,
            remedy=remedy,
        )
