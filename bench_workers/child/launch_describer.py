"""Describes every launch of a call of ``forward`` so plainly that another Triton can compile it.

Nothing is compiled and no back-end is asked: types and divisibility come from the rules that all
back-ends share, and every name that the jit functions use is written down with what it stands for.
"""

import ast
import types
from dataclasses import dataclass
from typing import Any

import triton.language as tl
from launch_compiler import LaunchCompiler
from launch_compiler import constants
from triton.backends.compiler import BaseBackend
from triton.runtime.jit import JITFunction
from triton.runtime.jit import create_function_from_signature


class Indescribable(Exception):
    """A value has no plain form; the message names its type."""


@dataclass(slots=True)
class LaunchDescriber(LaunchCompiler):
    """Stands in for the launch of jit functions: describes, remembers, returns.

    Its ``reports`` hold ``kernel``, ``workload`` (the first that makes this launch), ``constants``,
    ``arguments`` (name, type and, where constant, value; whether 16 divides it), ``options``,
    ``functions`` (source texts) and ``names``; or ``refused`` with the reason in place of all that
    only a compiler needs.
    """

    def compile(self, function: Any, args: Any, grid: Any, kwargs: dict[str, Any]) -> Any:
        """Describe one launch."""
        launch = {
            "kernel": function.fn.__name__,
            "constants": constants(function, args, kwargs),
        }
        binder = create_function_from_signature(function.signature, function.params, BaseBackend)
        bound, kinds, options = binder(*args, **kwargs)
        try:
            closure = Closure()
            described = [
                _argument(closure, name, value, kind)
                for (name, value), kind in zip(bound.items(), kinds, strict=True)
            ]
            closure.follow(function)
        except Indescribable as error:
            launch["refused"] = str(error)
        else:
            launch |= {
                "arguments": described,
                "options": {name: options[name] for name in options if _is_simple(options[name])},
                "functions": list(closure.functions.values()),
                "names": closure.names,
            }
        known = [{**each, "workload": ""} for each in self.reports]
        if {**launch, "workload": ""} not in known:
            self.reports.append({**launch, "workload": self.workload})
        if callable(grid):
            grid(bound)


class Closure:
    """Collects the jit functions that a kernel calls, and what their names stand for.

    Attributes:
        functions: ``name``, ``source`` and ``noinline`` by function name.
        names: Plain form of each value by the name it is used under.
    """

    def __init__(self) -> None:
        self.functions: dict[str, dict[str, Any]] = {}
        self.names: dict[str, dict[str, Any]] = {}

    def follow(self, function: Any) -> None:
        """Add a jit function and everything it uses.

        Raises:
            Indescribable: Two functions share a name.
        """
        name = function.fn.__name__
        text = {"name": name, "source": function.src, "noinline": bool(function.noinline)}
        if name in self.functions:
            if self.functions[name] != text:
                raise Indescribable(f"two jit functions are called {name}")
            return
        self.functions[name] = text
        scope = _scope(function.fn)
        for node in ast.walk(ast.parse(function.src)):
            if isinstance(node, ast.Name) and node.id in scope:
                self._name(node.id, scope[node.id])

    def _name(self, name: str, value: Any) -> None:
        """Remember a name; one that cannot be described may be a local that hides a global."""
        try:
            plain = self.plain(value)
        except Indescribable:
            return
        if self.names.setdefault(name, plain) != plain:
            raise Indescribable(f"two functions mean different things by {name}")

    def plain(self, value: Any) -> dict[str, Any]:
        """Return a value's plain form.

        Raises:
            Indescribable: It has none.
        """
        value = value.value if isinstance(value, tl.constexpr) else value
        if value is None or _is_simple(value):
            return {"value": value}
        if isinstance(value, tl.dtype):
            return {"dtype": value.name}
        if isinstance(value, tuple | list):
            return {"items": [self.plain(each) for each in value]}
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}
        while not isinstance(value, JITFunction) and hasattr(value, "fn"):
            value = value.fn  # tuners and heuristics wrap it
        home, name = str(getattr(value, "__module__", "")), getattr(value, "__name__", None)
        if home.partition(".")[0] == "triton" and isinstance(name, str):
            return {"member": [home, name]}
        if isinstance(value, JITFunction):
            self.follow(value)
            return {"function": value.fn.__name__}
        raise Indescribable(f"a value of type {type(value).__name__}")


def _argument(closure: Closure, name: str, value: Any, kind: Any) -> dict[str, Any]:
    """Describe one argument of a launch from Triton's own specialisation of it."""
    kind, rule = kind if isinstance(kind, tuple) else (kind, None)
    if not isinstance(kind, str) or kind.startswith("tensordesc"):
        what = "a tensor descriptor made by the host" if isinstance(kind, str) else "a tuple"
        raise Indescribable(f"argument {name} is {what}")
    if kind != "constexpr":
        return {"name": name, "type": kind, "by_16": isinstance(rule, str) and "D" in rule}
    return {"name": name, "type": kind, **closure.plain(value)}


def _scope(function: Any) -> dict[str, Any]:
    """Return what a function's free names stand for."""
    scope = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        scope[name] = cell.cell_contents
    return scope


def _is_simple(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)
