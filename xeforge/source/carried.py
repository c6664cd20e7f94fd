"""The part of a file that some of its functions need, as source text."""

import ast
from collections.abc import Iterator
from collections.abc import Sequence

_DEFINING = (ast.FunctionDef, ast.ClassDef)


def carried(source: str, names: Sequence[str]) -> str:
    """Return the named module-level functions with everything of the file that they need.

    Constants, imports and functions are followed from name to name; names that the file does not
    define are left to Python. Comments between statements do not come along.

    Args:
        source: A readable Python file.
        names: Functions; those that the file does not have are left out.
    """
    tree = ast.parse(source)
    defined = {name: each for each in tree.body for name in _defines(each)}
    wanted: set[ast.stmt] = set()
    waiting = [each for each in names if each in defined]
    while waiting:
        stmt = defined[waiting.pop()]
        if stmt not in wanted:
            wanted.add(stmt)
            waiting += [name for name in _used(stmt) if name in defined]
    kept = [each for each in tree.body if each in wanted]
    return "\n".join(_text(source, each) for each in kept)


def _defines(stmt: ast.stmt) -> Iterator[str]:
    if isinstance(stmt, _DEFINING):
        yield stmt.name
    elif isinstance(stmt, ast.Import | ast.ImportFrom):
        yield from ((each.asname or each.name).partition(".")[0] for each in stmt.names)
    else:
        for each in ast.walk(stmt):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                yield each.id


def _used(stmt: ast.stmt) -> Iterator[str]:
    for each in ast.walk(stmt):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each.id


def _text(source: str, stmt: ast.stmt) -> str:
    text = ast.get_source_segment(source, stmt) or ast.unparse(stmt)
    decorators = getattr(stmt, "decorator_list", [])
    lines = [f"@{ast.unparse(each)}" for each in decorators]
    space = "\n\n" if isinstance(stmt, _DEFINING) else ""
    return space + "\n".join([*lines, text])
