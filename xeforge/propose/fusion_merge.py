"""Writes one kernel for two launches: the second works on what the first would have stored.

The second kernel is element-wise over a flat index space. Each value it would have loaded from
the intermediate is replaced by the value the first would have stored, rounded to the
intermediate's format first, so that results stay the same bit for bit.
"""

from collections.abc import Mapping

import libcst as cst

from xeforge.propose.fusion_hosts import Pair
from xeforge.propose.fusion_hosts import allocation_line
from xeforge.propose.fusion_hosts import data_uses
from xeforge.propose.fusion_hosts import metadata_uses
from xeforge.propose.fusion_hosts import root
from xeforge.propose.fusion_hosts import template_of
from xeforge.propose.fusion_plan import Fusion
from xeforge.propose.fusion_plan import HandOver
from xeforge.propose.fusion_plan import Plan
from xeforge.propose.fusion_plan import parameters
from xeforge.propose.fusion_plan import planned
from xeforge.propose.kernel_edits import fresh_name
from xeforge.propose.kernel_edits import statements
from xeforge.propose.kernel_edits import with_lead
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import removal
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk

_LINE_LENGTH = 100
_NAME_LENGTH = 60


def fused_source(fusion: Fusion) -> str | None:
    """Return the file with both launches fused; None when a format cannot be named."""
    plan = planned(fusion)
    if plan is None:
        return None
    pair, tree = fusion.pair, fusion.tree
    name = _kernel_name(fusion)
    kernel = _kernel(fusion, plan, name)
    changes: dict[cst.CSTNode, Replacement] = dict(_host_changes(fusion, plan, name))
    first, second = fusion.first.node, fusion.second.jit.node
    keeps_first = _is_used_elsewhere(tree, fusion.first.name, pair)
    keeps_second = _is_used_elsewhere(tree, fusion.second.jit.name, pair)
    order = [each for each in tree.module.body if each is first or each is second]
    for node, keeps in ((first, keeps_first), (second, keeps_second)):
        is_last = node is order[-1]
        if is_last:
            kept = [node, kernel] if keeps else [kernel]
            changes[node] = _standing_in(kept)
        elif not keeps:
            changes[node] = lambda _: cst.RemoveFromParent()
    return replace(tree.module, changes).code


def _standing_in(nodes: list[cst.FunctionDef]) -> Replacement:
    return lambda _: cst.FlattenSentinel(nodes)


def _kernel_name(fusion: Fusion) -> str:
    parts = [each.removesuffix("_kernel") for each in (fusion.first.name, fusion.second.jit.name)]
    name = "_".join(parts)
    if len(name) > _NAME_LENGTH:
        name = f"{parts[0].split('_and_')[0]}_and_{parts[1]}"[:_NAME_LENGTH]
    suffix = "_kernel" if fusion.first.name.endswith("_kernel") else ""
    return fresh_name(name + suffix, fusion.tree.module)


def _kernel(fusion: Fusion, plan: Plan, name: str) -> cst.FunctionDef:
    body = [*_first_body(fusion, plan), *_second_body(fusion, plan)]
    stub = cst.parse_statement(_signature(fusion, plan, name))
    if not isinstance(stub, cst.FunctionDef):
        raise TypeError(name)
    node = fusion.first.node
    last = max(fusion.tree.line(each) for each in (node, fusion.second.jit.node))
    lead = node if fusion.tree.line(node) == last else fusion.second.jit.node
    return node.with_changes(
        name=cst.Name(name),
        params=stub.params,
        whitespace_before_params=stub.whitespace_before_params,
        leading_lines=lead.leading_lines,
        body=node.body.with_changes(body=body),
    )


def _signature(fusion: Fusion, plan: Plan, name: str) -> str:
    entries = []
    for each in parameters(fusion, plan):
        entry = f"{each.name}: tl.constexpr" if each.is_constexpr else each.name
        entries.append(entry if each.default is None else f"{entry} = {code(each.default)}")
    line = f"def {name}({', '.join(entries)}):"
    if len(line) <= _LINE_LENGTH:
        return f"{line} pass"
    return f"def {name}(\n    " + ",\n    ".join(entries) + ",\n): pass"


def _first_body(fusion: Fusion, plan: Plan) -> list[cst.BaseStatement]:
    hands = {hand.statement: hand for hand in fusion.given.values()}
    dropped = {line for hand in fusion.given.values() for line in hand.dropped}
    gone = _gone_from_first(fusion, plan)
    body: list[cst.BaseStatement] = []
    for line in fusion.first.node.body.body:
        if not isinstance(line, cst.BaseStatement) or line in dropped:
            continue
        hand = hands.get(line) if isinstance(line, cst.SimpleStatementLine) else None
        if hand is None:
            body.append(replace(line, _format_changes(plan, line, gone)))
            continue
        value = _rounded(fusion, plan, hand)
        new = statements([*hand.prelude, f"{plan.values[hand.tensor]} = 0"], fusion.tree.module)
        assign = cst.Assign([cst.AssignTarget(cst.Name(plan.values[hand.tensor]))], value)
        new[-1] = cst.SimpleStatementLine([assign])
        new[0] = with_lead(new[0], hand.statement.leading_lines)
        body.extend(new)
        if hand.tensor not in plan.dropped_stores:
            stored = {hand.value: _expression(plan.values[hand.tensor])}
            kept = replace(line, _format_changes(plan, line, gone) | stored)
            body.append(with_lead(kept, []))
    return body


def _rounded(fusion: Fusion, plan: Plan, hand: HandOver) -> cst.BaseExpression:
    wanted = plan.formats[hand.tensor]
    value = replace(hand.value, _format_changes(plan, hand.value, _gone_from_first(fusion, plan)))
    if text(value).endswith(f".to({wanted})"):
        return value
    plain = isinstance(value, cst.Name | cst.Call | cst.Attribute | cst.Subscript) or value.lpar
    inner = code(value) if plain else f"({code(value)})"
    return cst.parse_expression(f"{inner}.to({wanted})")


def _format_changes(
    plan: Plan, node: cst.CSTNode, gone: Mapping[str, str]
) -> dict[cst.CSTNode, Replacement]:
    """Return edits for ``ptr.dtype.element_ty`` of pointers (by intermediate) that are no more."""
    changes: dict[cst.CSTNode, Replacement] = {}
    for each in walk(node):
        if isinstance(each, cst.Attribute) and text(each).endswith(".dtype.element_ty"):
            pointer = text(each).removesuffix(".dtype.element_ty")
            if pointer in gone:
                changes[each] = _expression(plan.formats[gone[pointer]])
    return changes


def _gone_from_first(fusion: Fusion, plan: Plan) -> dict[str, str]:
    return {
        hand.pointer: hand.tensor for hand in fusion.given.values() if hand.pointer not in plan.kept
    }


def _gone_from_second(fusion: Fusion, plan: Plan) -> dict[str, str]:
    pair = fusion.pair
    roots = {name: root(pair.function, node) for name, node in pair.second.arguments.items()}
    return {
        name: tensor
        for name, tensor in roots.items()
        if tensor in fusion.given and fusion.given[tensor].pointer not in plan.kept
    }


def _expression(wanted: str) -> Replacement:
    return lambda _: cst.parse_expression(wanted)


def _second_body(fusion: Fusion, plan: Plan) -> list[cst.BaseStatement]:
    second, pair = fusion.second, fusion.pair
    loads = {
        each.call: root(pair.function, pair.second.arguments[each.pointer]) for each in second.loads
    }
    gone = _gone_from_second(fusion, plan)
    bound = f"{second.offsets}<{second.extent}"
    mask = next(iter(fusion.given.values())).mask
    swaps = {k: v for hand in fusion.given.values() for k, v in hand.swaps.items()}
    body: list[cst.BaseStatement] = []
    for line in second.jit.node.body.body:
        is_skipped = line in second.index_lines or line in plan.skipped or _is_docstring(line)
        if is_skipped or not isinstance(line, cst.BaseStatement):
            continue
        changes = _format_changes(plan, line, gone)
        for node in walk(line):
            # A tile has other bounds than a flat range: always ask the first kernel's.
            if isinstance(node, cst.Comparison) and text(node) == bound:
                changes[node] = _expression(mask)
        for call, tensor in loads.items():
            if tensor in fusion.given:
                changes[call] = _expression(plan.values[tensor])
        for name in loaded_names(line):
            if name not in changes and name.value in plan.names:
                changes[name] = _expression(plan.names[name.value])
        for call, (pointer, index, limit) in swaps.items():
            base = plan.names.get(pointer, pointer)
            changes[call] = _expression(f"tl.load({base} + {index}, mask={limit}, other=0.0)")
        body.append(replace(line, changes))
    return body


def _is_docstring(line: cst.CSTNode) -> bool:
    part = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    return isinstance(part, cst.Expr) and isinstance(part.value, cst.SimpleString)


def _is_used_elsewhere(tree: KernelTree, kernel: str, pair: Pair) -> bool:
    inside = {node for line in (pair.first_line, pair.second_line) for node in walk(line)}
    definition = tree.jits[kernel].node.name
    return any(
        isinstance(node, cst.Name)
        and node.value == kernel
        and node is not definition
        and node not in inside
        for node in walk(tree.module)
    )


def _host_changes(fusion: Fusion, plan: Plan, name: str) -> list[tuple[cst.CSTNode, Replacement]]:
    pair = fusion.pair
    changes: list[tuple[cst.CSTNode, Replacement]] = []
    launch = _launch(fusion, plan, name)
    lead = [*pair.first_line.leading_lines, *pair.second_line.leading_lines]
    line = pair.second_line.with_changes(body=[cst.Expr(launch)], leading_lines=lead)
    changes.append((pair.second_line, lambda _: line))
    changes.append((pair.first_line, removal(pair.function, pair.first_line)))
    for tensor in plan.dropped_stores:
        is_needed = any(root(pair.function, each) == tensor for each in _passed(fusion, plan))
        uses = metadata_uses(pair, tensor)
        template = template_of(pair, tensor)
        allocated = allocation_line(pair, tensor)
        if is_needed or data_uses(pair, tensor) or allocated is None or (uses and not template):
            continue
        changes.extend((each, _expression(template)) for each in uses)
        changes.append((allocated, removal(pair.function, allocated)))
    return changes


def _passed(fusion: Fusion, plan: Plan) -> list[cst.BaseExpression]:
    second = fusion.pair.second.arguments
    added = [second[name] for name in plan.added if name in second]
    return [*plan.kept.values(), *added]


def _launch(fusion: Fusion, plan: Plan, name: str) -> cst.BaseExpression:
    pair = fusion.pair
    entries = []
    for each in parameters(fusion, plan):
        if each.given is not None:
            value = code(each.given)
            entries.append(f"{each.name}={value}" if each.is_constexpr else value)
    for key, given in pair.first.arguments.items():
        if key not in fusion.first.parameters:
            entries.append(f"{key}={code(given)}")
    head = f"{name}[{code(pair.first.grid)}]"
    source = fusion.tree.module.code.splitlines()[fusion.tree.line(pair.second_line) - 1]
    depth = len(source) - len(source.lstrip())
    flat = f"{head}({', '.join(entries)})"
    if depth + len(flat) <= _LINE_LENGTH:
        return cst.parse_expression(flat)
    inner = ", ".join(entries)
    if depth + 4 + len(inner) > _LINE_LENGTH:
        inner = ",\n    ".join(entries) + ","
    # The printer adds the indentation of the block to every line.
    return cst.parse_expression(f"{head}(\n    {inner}\n)")
