"""Reads Triton's decorators: jit, autotune, heuristics."""

import ast
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from xeforge.source.declarations import Autotune
from xeforge.source.declarations import AutotuneConfig
from xeforge.source.imports import ImportTable
from xeforge.source.literals import LiteralReader
from xeforge.source.literals import NotLiteral
from xeforge.source.values import ModuleValues

_CONFIG_FIELDS = ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook")


@dataclass(frozen=True, slots=True)
class Decoration:
    """What the decorators of one function say."""

    is_jit: bool = False
    autotune: Autotune | None = None
    heuristics: dict[str, str] = field(default_factory=dict)


def read_decorators(
    decorators: list[ast.expr], imports: ImportTable, values: ModuleValues
) -> Decoration:
    """Read a stack of decorators (or of wrapping calls); foreign ones are passed over."""
    is_jit = False
    autotune: Autotune | None = None
    heuristics: dict[str, str] = {}
    for written in decorators:
        # A decorator kept under a name: tuner = triton.autotune(...).
        kept = values.expressions.get(written.id) if isinstance(written, ast.Name) else None
        each = kept if isinstance(kept, ast.Call) else written
        call = each if isinstance(each, ast.Call) else None
        target = each if call is None else call.func
        if imports.is_triton(target, "jit"):
            is_jit = True
        elif call is not None and imports.is_triton(target, "autotune"):
            autotune = _autotune(call, imports, values)
        elif call is not None and imports.is_triton(target, "heuristics"):
            heuristics |= _heuristics(call, values)
    return Decoration(is_jit, autotune, heuristics)


def _autotune(call: ast.Call, imports: ImportTable, values: ModuleValues) -> Autotune:
    given = dict(zip(("configs", "key"), call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg is not None}
    configs: tuple[AutotuneConfig, ...] = ()
    is_dynamic = True
    if "configs" in given:
        try:
            found = config_reader(imports, values).value(given["configs"])
        except NotLiteral:
            found = None
        if isinstance(found, tuple) and all(isinstance(each, AutotuneConfig) for each in found):
            configs = found
            is_dynamic = False
    key: tuple[str, ...] = ()
    if "key" in given:
        try:
            read = values.reader(imports).value(given["key"])
        except NotLiteral:
            read = ()
        key = tuple(each for each in read if isinstance(each, str))
    rest = {
        name: ast.unparse(node) for name, node in given.items() if name not in {"configs", "key"}
    }
    return Autotune(configs, key, call.lineno, is_dynamic, rest)


def config_reader(imports: ImportTable, values: ModuleValues) -> LiteralReader:
    """Return an evaluator that understands ``triton.Config`` and plain config-making functions."""

    def read_call(call: ast.Call, reader: LiteralReader) -> Any:
        if imports.is_triton(call.func, "Config"):
            return _config(call, reader)
        if isinstance(call.func, ast.Name) and not (call.args or call.keywords):
            body = values.returned.get(call.func.id)
            return None if body is None else reader.module_value(body)
        return None

    return values.reader(imports, read_call=read_call)


def _config(call: ast.Call, reader: LiteralReader) -> AutotuneConfig:
    given: dict[str, Any] = {}
    for name, node in zip(_CONFIG_FIELDS, call.args, strict=False):
        given[name] = reader.value(node)
    for each in call.keywords:
        if each.arg is None:
            given |= reader.value(each.value)
        elif each.arg == "pre_hook":
            given["pre_hook"] = ast.unparse(each.value)
        else:
            given[each.arg] = reader.value(each.value)
    meta = given.pop("kwargs", {})
    if not isinstance(meta, dict) or not all(isinstance(name, str) for name in meta):
        raise NotLiteral("meta-parameters that are no mapping")
    warps, stages = given.pop("num_warps", None), given.pop("num_stages", None)
    if not all(each is None or isinstance(each, int) for each in (warps, stages)):
        raise NotLiteral("launch settings that are no integers")
    return AutotuneConfig(
        values={name: value for name, value in meta.items() if isinstance(value, int)},
        num_warps=warps,
        num_stages=stages,
        line=call.lineno,
        options={name: value for name, value in meta.items() if not isinstance(value, int)} | given,
    )


def _heuristics(call: ast.Call, values: ModuleValues) -> dict[str, str]:
    node = call.args[0] if call.args else call.keywords[0].value if call.keywords else None
    if isinstance(node, ast.Name):
        node = values.expressions.get(node.id)
    if not isinstance(node, ast.Dict):
        return {}
    return {
        key.value: ast.unparse(value)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
