"""Which dotted name an expression stands for, following the file's own imports."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

# What a name most likely means when the file hides its import (star imports, guarded imports).
_USUAL = {"triton": "triton", "tl": "triton.language", "torch": "torch"}
_STAR = {
    "triton": ("jit", "autotune", "heuristics", "Config", "cdiv", "next_power_of_2"),
    "torch": ("nn",),
    "torch.nn": ("Module",),
}


@dataclass(frozen=True, slots=True)
class ImportTable:
    """Local name to dotted name, for all imports of a file."""

    names: Mapping[str, str]

    def dotted(self, node: ast.AST) -> str | None:
        """Return ``"triton.language.dot"`` for ``tl.dot``; None when it is no plain name."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            inner = self.dotted(node.value)
            return None if inner is None else f"{inner}.{node.attr}"
        return None

    def is_triton(self, node: ast.AST, *names: str) -> bool:
        """Say whether the expression names one of these members of Triton or its submodules."""
        dotted = self.dotted(node)
        if dotted is None:
            return False
        parts = dotted.split(".")
        return parts[0] == "triton" and len(parts) > 1 and parts[-1] in names

    def is_torch(self, node: ast.AST, *names: str) -> bool:
        """Say whether the expression names one of these members, e.g. ``"nn.Module"``."""
        dotted = self.dotted(node)
        return dotted is not None and dotted in {f"torch.{name}" for name in names}


def read_imports(tree: ast.Module) -> ImportTable:
    """Collect the imports of all scopes; a name imported twice keeps its last meaning."""
    names = dict(_USUAL)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname is not None:
                    names[alias.asname] = alias.name
                else:
                    root = alias.name.split(".")[0]
                    names[root] = root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name == "*":
                    names |= {each: f"{node.module}.{each}" for each in _STAR.get(node.module, ())}
                else:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return ImportTable(names)
