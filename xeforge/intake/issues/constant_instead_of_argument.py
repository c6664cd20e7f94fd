"""The kernel has a constant of its own where a constructor argument should count."""

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.source.constructor import unused_arguments
from xeforge.source.contents import KernelContents
from xeforge.source.facts import FileFacts
from xeforge.source.host_code import host_functions
from xeforge.source.kernel_code import kernel_nodes

NAME: Final = "constant_instead_of_argument"
_TINY: Final = 1e-2
"""A stabilising term is smaller than this."""


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Match unused constructor arguments with literals that equal their usual value.

    The usual value is the default, here or in the reference. For a stabilising term (``eps``) any
    tiny literal counts. Values that occur everywhere (0, 1, powers of two) prove nothing.
    """
    unused = unused_arguments(facts.tree, facts.contents)
    if not unused:
        return ()
    usual = {**_defaults(facts.reference), **_defaults(facts.contents)}
    literals = sorted(_literals(facts.contents, facts.tree), key=lambda each: each[1])
    found = []
    for name in unused:
        match = next((each for each in literals if _stands_for(each[0], name, usual)), None)
        if match is not None:
            value, line = match
            found.append(
                Issue(
                    type=NAME,
                    severity=Severity.WARNING,
                    message=f"the constant {value!r} is used where the constructor argument "
                    f"{name!r} should be: any other value is ignored",
                    line=line,
                    remedy=f"pass {name} to the kernel",
                )
            )
    return tuple(found)


def _stands_for(value: float, name: str, usual: Mapping[str, float]) -> bool:
    if name in usual:
        return value == usual[name] and not _is_common(value)
    return "eps" in name.lower() and isinstance(value, float) and 0 < value < _TINY


def _is_common(value: float) -> bool:
    is_power_of_two = float(value).is_integer() and value > 0 and int(value).bit_count() == 1
    return value in {0, -1, 0.5} or is_power_of_two


def _defaults(contents: KernelContents | None) -> dict[str, float]:
    if contents is None or contents.model is None:
        return {}
    found = {}
    for each in contents.model.init_parameters:
        value = _number(each.default)
        if value is not None:
            found[each.name] = value
    return found


def _number(text: str | None) -> float | None:
    try:
        value = None if text is None else ast.literal_eval(text)
    except ValueError:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None


def _literals(contents: KernelContents, tree: ast.Module) -> Iterator[tuple[float, int]]:
    """Yield the numbers that take part in the computation, written there or named outside."""
    nodes = [*kernel_nodes(tree, contents).values()]
    nodes += [each.node for each in host_functions(tree, contents)]
    for node in (inner for each in nodes for inner in ast.walk(each)):
        value: object = None
        if isinstance(node, ast.Constant):
            value = node.value
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            value = contents.constants.get(node.id)
        else:
            continue
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield value, node.lineno
