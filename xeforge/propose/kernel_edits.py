"""Small edits that several recipes need: new parameters, new arguments, fresh names."""

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import keyword_argument
from xeforge.source.syntax_tree import walk
from xeforge.source.syntax_tree import with_argument


def fresh_name(wanted: str, node: cst.CSTNode, also: Iterable[str] = ()) -> str:
    """Return a name that is not used below a node, the wanted one if possible."""
    taken = {each.value for each in walk(node) if isinstance(each, cst.Name)} | set(also)
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


def statements(lines: Iterable[str], module: cst.Module) -> list[cst.BaseStatement]:
    """Parse one-line statements."""
    config = module.config_for_parsing
    return [
        each
        for line in lines
        if isinstance(each := cst.parse_statement(line, config), cst.BaseStatement)
    ]


def adding_constexpr(name: str, default: str) -> Replacement:
    """Return the edit that appends ``name: tl.constexpr`` to the parameters of a jit function.

    Args:
        name: The new parameter.
        default: Used only when earlier parameters have defaults, so that one is needed.
    """
    return lambda node: (
        _with_constexpr(node, name, default) if isinstance(node, cst.Parameters) else node
    )


def adding_flags(names: Sequence[str]) -> Replacement:
    """Return the edit that appends several compile-time flags, which a heuristic sets."""

    def change(node: cst.CSTNode) -> cst.CSTNode:
        for name in names:
            changed = adding_constexpr(name, "False")(node)
            node = changed if isinstance(changed, cst.CSTNode) else node
        return node

    return change


def heuristics(conditions: Mapping[str, str]) -> cst.Decorator:
    """Build ``@triton.heuristics`` from conditions on ``args``, by name of the flag."""
    lines = "".join(
        f'        "{name}": lambda args: {condition},\n' for name, condition in conditions.items()
    )
    return cst.Decorator(cst.parse_expression(f"triton.heuristics(\n    {{\n{lines}    }}\n)"))


def _with_constexpr(node: cst.Parameters, name: str, default: str) -> cst.Parameters:
    annotation = cst.Annotation(cst.parse_expression("tl.constexpr"))
    has_defaults = any(each.default is not None for each in node.params)
    added = cst.Param(cst.Name(name), annotation)
    if has_defaults:
        added = added.with_changes(
            default=cst.parse_expression(default),
            equal=cst.AssignEqual(),
        )
    *before, last = node.params
    space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    if isinstance(last.comma, cst.Comma):
        between = before[-1].comma if before else space
        last, added = last.with_changes(comma=between), added.with_changes(comma=last.comma)
    else:
        between = before[-1].comma if before else space
        after = last.whitespace_after_param
        last = last.with_changes(
            comma=between if isinstance(between, cst.Comma) else space,
            whitespace_after_param=cst.SimpleWhitespace(""),
        )
        added = added.with_changes(whitespace_after_param=after)
    return node.with_changes(params=[*before, last, added])


def passing(name: str, value: int | cst.BaseExpression) -> Replacement:
    """Return the edit that adds a keyword argument to a launch."""

    def change(node: cst.CSTNode) -> cst.CSTNode:
        added = keyword_argument(name, value)
        return with_argument(node, added) if isinstance(node, cst.Call) else node

    return change


def is_called_by_kernels(tree: KernelTree, jit: Jit) -> bool:
    """Say whether other jit functions call this one."""
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == jit.name
        for other in tree.jits.values()
        for node in walk(other.node.body)
    )


def with_lead(
    node: cst.BaseStatement, lines: Sequence[cst.EmptyLine]
) -> cst.SimpleStatementLine | cst.BaseStatement:
    """Give a one-line statement these comment and blank lines in front."""
    if isinstance(node, cst.SimpleStatementLine):
        return node.with_changes(leading_lines=list(lines))
    return node
