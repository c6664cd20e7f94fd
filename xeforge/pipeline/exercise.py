"""Did the checks run the kernels whose speed is claimed?

Triton's interpreter cannot run large shapes, so smaller ones stand for them while the cost model
counts the large ones. A file may choose its kernels by shape. Then a kernel that is counted but
was never checked has shown nothing, however right the others are.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace

from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import KernelWork
from xeforge.source.contents import read_contents
from xeforge.verify.inputs import base_keys
from xeforge.verify.inputs import case_by_key
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import shapes_of


def standing(problem: Problem, *, interpreted: bool) -> dict[str, Workload]:
    """Return, for each timed workload by name, the shapes that are checked in its place."""
    keys = base_keys(problem, interpreted=interpreted)
    cases = case_by_key(problem, interpreted=interpreted)
    found = {}
    for workload in problem.timed:
        (shapes,) = shapes_of(problem, (cases[keys[workload.name]],))
        found[workload.name] = shapes
    return found


def counting(problem: Problem) -> tuple[Workload, ...]:
    """Return what is counted beside the timed workloads: where smaller shapes stand for them."""
    found = standing(problem, interpreted=True)
    return tuple(found[each.name] for each in problem.timed if not _is_same(found[each.name], each))


def _is_same(one: Workload, other: Workload) -> bool:
    return (one.inputs, one.init_args) == (other.inputs, other.init_args)


def unexercised(
    problem: Problem, source: str, works: Sequence[Sequence[KernelWork]]
) -> dict[str, tuple[str, ...]]:
    """Return, by timed workload, kernels that it launches and the shapes in its place do not.

    Kernels that the submitted file has as they are are left out: whether they are chosen by shape
    is its own affair.

    Args:
        problem: The question.
        source: Candidate.
        works: Of the timed workloads, then of `counting`, in their order.
    """
    small = standing(problem, interpreted=True)
    timed = problem.timed
    shrunk = [each for each in timed if not _is_same(small[each.name], each)]
    checked = dict(zip((each.name for each in shrunk), works[len(timed) :], strict=True))
    known = _bodies(problem.kernel.text).items() & _bodies(source).items()
    submitted = {name for name, _ in known}
    found = {}
    for workload, counted in zip(timed, works, strict=False):
        if workload.name not in checked:
            continue
        ran = {each.kernel for each in checked[workload.name]} | submitted
        new = dict.fromkeys(each.kernel for each in counted if each.kernel not in ran)
        own = tuple(each for each in new if not each.startswith("aten::"))
        if own:
            found[workload.name] = own
    return found


def _bodies(source: str) -> dict[str, str]:
    """Return the text of each jit function without its decorators, by name."""
    lines = {each.line for each in read_contents(source, "", require_kernel=False).jit_functions}
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.lineno in lines:
            node.decorator_list = []
            found[node.name] = ast.unparse(node)
    return found


def with_unexercised(
    problem: Problem, evidence: Evidence, found: dict[str, tuple[str, ...]]
) -> Evidence:
    """Return evidence in which cases that stand for such a workload count as not checked."""
    keys = base_keys(problem, interpreted=True)
    words = {
        keys[
            name
        ]: f"{', '.join(kernels)} runs at the timed shapes of {name} and on no checked ones"
        for name, kernels in found.items()
    }
    cases = tuple(
        replace(each, status=CaseStatus.UNCHECKED, message=words[case_key(each.case)])
        if case_key(each.case) in words
        else each
        for each in evidence.cases
    )
    return replace(evidence, cases=cases)
