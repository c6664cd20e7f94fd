"""Fails when a file or a function is too long to read in one go.

Limits: 400 lines a file, 50 lines a function. Vendored assets and golden files are exempt.
"""

import ast
import sys
from pathlib import Path

FILE_LIMIT_LINES = 400
FUNCTION_LIMIT_LINES = 50
FOLDERS = ("xeforge", "agents", "knowledge", "bench_workers", "api", "tools", "benchmarks", "tests")
EXEMPT = ("tests/golden/",)


def too_long(path: Path) -> list[str]:
    """Return one complaint per file or function over its limit."""
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    found = []
    if lines > FILE_LIMIT_LINES:
        found.append(f"{path}: {lines} lines (limit {FILE_LIMIT_LINES})")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LIMIT_LINES:
                found.append(f"{path}:{node.lineno}: {node.name} has {length} lines")
    return found


def main() -> int:
    """Print complaints and a summary; return the exit code."""
    files = [
        path
        for folder in FOLDERS
        for path in sorted(Path(folder).rglob("*.py"))
        if not str(path).startswith(EXEMPT)
    ]
    found = [complaint for path in files for complaint in too_long(path)]
    for complaint in found:
        print(complaint)
    total = sum(path.read_text(encoding="utf-8").count("\n") for path in files)
    print(f"{len(files)} files, {total} lines, {len(found)} over the limit")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
