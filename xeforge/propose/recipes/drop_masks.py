"""Load and store without masks where sizes are multiples of the block, and only there.

Before:  a = tl.load(p, mask=offs_k[None, :] < K, other=0.0)
After:   @triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
         if EVEN_K:
             a = tl.load(p)
         else:
             a = tl.load(p, mask=offs_k[None, :] < K, other=0.0)

The flag is worked out at each launch, so that ragged shapes stay right. A mask is taken for
redundant only when the grid or the loop is seen to stop at the extent it compares with.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.host_values import follow_forward
from xeforge.propose.kernel_edits import adding_flags
from xeforge.propose.kernel_edits import heuristics
from xeforge.propose.kernel_edits import is_called_by_kernels
from xeforge.propose.mask_terms import MaskTerm
from xeforge.propose.mask_terms import redundant_terms
from xeforge.propose.rewrite import Rewrite
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.knobs import find_knobs
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import walk

NAME = "drop_masks"
STAGE = "memory_access"
CURES = frozenset({"high_register_pressure", "uncoalesced_access"})
CARRIES_OUT: tuple[str, ...] = ("memory.even_sizes_without_masks",)


@dataclass(frozen=True, slots=True, eq=False)
class _Access:
    """A load or store with terms of its mask that an even size makes redundant.

    Attributes:
        call: The call.
        flags: Names of the flags under which the terms may go.
        rest: Mask that stays, as text; empty when none does.
    """

    call: cst.Call
    flags: tuple[str, ...]
    rest: str


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Add unmasked variants where at least one timed workload can use them."""
    del device
    tree = parse_tree(source)
    changes: dict[cst.CSTNode, Replacement] = {}
    flags: list[str] = []
    lines: list[int] = []
    for kernel in dict.fromkeys(each.kernel for each in tree.launches):
        jit = tree.jits[kernel]
        if is_called_by_kernels(tree, jit):
            continue
        terms = _useful_terms(tree, jit, problem)
        accesses = list(_accesses(jit, terms))
        if not accesses:
            continue
        used = sorted({flag for each in accesses for flag in each.flags})
        by_flag = {term.flag: term for term in terms}
        changes.update(_kernel_changes(jit, accesses, {name: by_flag[name] for name in used}))
        flags.extend(used)
        lines.append(tree.line(jit.node))
    if not changes:
        return ()
    because = (
        f"accesses go without masks where {', '.join(dict.fromkeys(flags))} holds, worked out at "
        "each launch: fewer registers and comparisons, wider loads"
    )
    return (Rewrite(replace(tree.module, changes).code, because, min(lines), CARRIES_OUT),)


def _useful_terms(tree: KernelTree, jit: Jit, problem: Problem) -> tuple[MaskTerm, ...]:
    found = []
    for term in redundant_terms(tree, jit):
        is_taken = term.flag in {
            each.value for each in walk(jit.node) if isinstance(each, cst.Name)
        }
        if not is_taken and _is_passed(tree, jit, term) and _divides(tree, jit, term, problem):
            found.append(term)
    return tuple(found)


def _is_passed(tree: KernelTree, jit: Jit, term: MaskTerm) -> bool:
    """Say whether a heuristic can see both values: arguments of every launch or of a config."""
    configured = {each.name for each in find_knobs(tree.module.code) if each.kind == "config"}
    return all(
        term.extent in launch.arguments
        and (term.block in launch.arguments or term.block in configured)
        for launch in tree.launches_of(jit.name)
    )


def _divides(tree: KernelTree, jit: Jit, term: MaskTerm, problem: Problem) -> bool:
    """Say whether some timed workload has an extent that is a multiple of a present block."""
    knobs = [each for each in find_knobs(tree.module.code) if each.kernel == jit.name]
    blocks = {n for each in knobs if each.name == term.block for n in (each.value, *each.choices)}
    for workload in problem.timed:
        facts = follow_forward(tree, workload)
        for launch in tree.launches_of(jit.name):
            extent = facts.value(launch.arguments.get(term.extent))
            block = facts.value(launch.arguments.get(term.block))
            candidates = blocks | ({block} if isinstance(block, int) else set())
            for each in candidates:
                if isinstance(extent, int) and each and extent % each == 0:
                    return True
    return False


def _accesses(jit: Jit, terms: tuple[MaskTerm, ...]) -> Iterator[_Access]:
    for node in walk(jit.node.body):
        if language_call(node) not in {"load", "store"} or not isinstance(node, cst.Call):
            continue
        own = [each for each in terms if node in each.calls]
        if own:
            redundant = {text for each in own for text in each.texts}
            rest = [text for text in own[0].conjuncts[node] if text not in redundant]
            yield _Access(node, tuple(each.flag for each in own), " & ".join(rest))


def _kernel_changes(
    jit: Jit, accesses: list[_Access], terms: dict[str, MaskTerm]
) -> Iterator[tuple[cst.CSTNode, Replacement]]:
    yield jit.node.params, adding_flags(tuple(terms))
    decorator = heuristics(
        {flag: f'args["{term.extent}"] % args["{term.block}"] == 0' for flag, term in terms.items()}
    )
    innermost = jit.node.decorators[-1]
    yield innermost, lambda node: cst.FlattenSentinel([decorator, node])
    by_statement: dict[cst.CSTNode, list[_Access]] = {}
    for each in accesses:
        by_statement.setdefault(_statement_of(jit, each.call), []).append(each)
    for statement, inside in by_statement.items():
        if len({each.flags for each in inside}) == 1 and _can_stand_twice(statement):
            yield statement, _branch(statement, inside)
        else:
            for each in inside:
                yield each.call, _choice(each)


def _statement_of(jit: Jit, call: cst.Call) -> cst.CSTNode:
    lines = [each for each in walk(jit.node.body) if isinstance(each, cst.SimpleStatementLine)]
    return next(each for each in lines if call in walk(each))


def _can_stand_twice(statement: cst.CSTNode) -> bool:
    is_line = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
    part = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return is_line and isinstance(part, cst.Assign | cst.AugAssign | cst.Expr)


def _branch(statement: cst.CSTNode, accesses: list[_Access]) -> Replacement:
    """Return the edit that writes a statement twice: without masks and as it was."""

    def change(node: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(statement, cst.SimpleStatementLine):
            return node
        plain = statement.with_changes(leading_lines=[])
        even = replace(plain, {each.call: _unmasked(each) for each in accesses})
        return cst.If(
            test=cst.parse_expression(" and ".join(accesses[0].flags)),
            body=cst.IndentedBlock([even]),
            orelse=cst.Else(cst.IndentedBlock([plain])),
            leading_lines=statement.leading_lines,
        )

    return change


def _unmasked(access: _Access) -> Replacement:
    return lambda node: (
        _without(node, access.rest) if isinstance(node, cst.BaseExpression) else node
    )


def _choice(access: _Access) -> Replacement:
    def change(node: cst.CSTNode) -> cst.CSTNode:
        if not isinstance(node, cst.Call):
            return node
        return cst.IfExp(
            test=cst.parse_expression(" and ".join(access.flags)),
            body=_without(node, access.rest),
            orelse=node,
            lpar=[cst.LeftParen()],
            rpar=[cst.RightParen()],
        )

    return change


def _without(node: cst.BaseExpression, rest: str) -> cst.BaseExpression:
    """Return an access with the rest of its mask, or with no mask and no stand-in value."""
    if not isinstance(node, cst.Call):
        return node
    count = 2 if language_call(node) == "store" else 1
    words = []
    for position, each in enumerate(node.args):
        name = each.keyword.value if each.keyword is not None else ""
        is_mask = name == "mask" or (not name and position == count)
        is_other = name == "other" or (not name and position > count)
        if is_mask and rest:
            words.append(f"mask={rest}")
        elif not is_mask and (rest or not is_other):
            plain = each.with_changes(comma=cst.MaybeSentinel.DEFAULT)
            words.append(code(plain).strip() if not is_other or name else f"other={code(plain)}")
    return cst.parse_expression(f"{code(node.func)}({', '.join(words)})")
