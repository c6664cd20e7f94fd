"""With which compile-time values and launch options a kernel runs, as far as the file tells."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from xeforge.source.declarations import JitFunction
from xeforge.source.declarations import KernelContents
from xeforge.source.declarations import LaunchSite
from xeforge.source.host_code import integer
from xeforge.source.host_code import local_values
from xeforge.source.scopes import FunctionNode

DEFAULT_WARPS: Final = 4
"""What Triton takes when nothing is said: ``num_warps`` of ``triton.Config`` and of a launch."""
OPTIONS: Final = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg", "grf_mode"})

Values = Mapping[str, ast.expr | object]


@dataclass(frozen=True, slots=True)
class Setting:
    """One way in which a kernel is run.

    Attributes:
        line: Of the configuration, or of the launch of an untuned kernel.
        values: Compile-time integers that are certain.
        num_warps: Warps; None: computed at run time.
        says_warps: Whether they are written down.
        options: Names of other launch options given.
        is_config: From an autotuner.
    """

    line: int
    values: Mapping[str, int]
    num_warps: int | None
    says_warps: bool
    options: frozenset[str]
    is_config: bool


def arguments_of(launch: LaunchSite, kernel: JitFunction) -> Mapping[str, ast.expr]:
    """Return the arguments of a launch by parameter name; those behind a ``*`` are left out."""
    found: dict[str, ast.expr] = {}
    for parameter, text in zip(kernel.params, launch.positional, strict=False):
        if text.startswith("*"):
            break
        found[parameter.name] = ast.parse(text, mode="eval").body
    for name, text in launch.keywords.items():
        if name != "**":
            found[name] = ast.parse(text, mode="eval").body
    return found


def values_at(
    launch: LaunchSite, contents: KernelContents, functions: Mapping[str, FunctionNode]
) -> Values:
    """Return what names certainly mean where a kernel is launched."""
    if launch.function in functions:
        return local_values(functions[launch.function], contents.constants)
    return contents.constants


def settings_of(
    kernel: JitFunction, contents: KernelContents, functions: Mapping[str, FunctionNode]
) -> tuple[Setting, ...]:
    """Return every configuration, or every launch when the kernel is not tuned."""
    launches = [each for each in contents.launches if each.kernel == kernel.name]
    found = [
        _of_launch(each, kernel, values_at(each, contents, functions), contents.constants)
        for each in launches
    ]
    if kernel.autotune is None:
        return tuple(found)
    return tuple(_of_configs(kernel, found[0].values if found else {}))


def _of_configs(kernel: JitFunction, launched: Mapping[str, int]) -> Iterator[Setting]:
    assert kernel.autotune is not None  # noqa: S101 - the caller has looked
    for each in kernel.autotune.configs:
        yield Setting(
            line=each.line,
            values={**launched, **each.values},
            num_warps=DEFAULT_WARPS if each.num_warps is None else each.num_warps,
            says_warps=each.num_warps is not None,
            options=frozenset(each.options),
            is_config=True,
        )


def _of_launch(
    launch: LaunchSite, kernel: JitFunction, values: Values, constants: Mapping[str, object]
) -> Setting:
    given = arguments_of(launch, kernel)
    sizes: dict[str, int] = {}
    for each in kernel.params:
        node = given.get(each.name)
        scope = values
        if node is None and each.default is not None:
            node, scope = ast.parse(each.default, mode="eval").body, constants
        size = None if node is None or not each.is_constexpr else integer(node, scope)
        if size is not None:
            sizes[each.name] = size
    warps = given.get("num_warps")
    number = DEFAULT_WARPS if warps is None else integer(warps, values)
    if "num_warps" in kernel.heuristics or "**" in launch.keywords:
        number = None
    options = frozenset(name for name in given if name in OPTIONS)
    return Setting(launch.line, sizes, number, warps is not None, options, is_config=False)
