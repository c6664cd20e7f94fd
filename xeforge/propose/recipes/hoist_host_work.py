"""Take needless work out of every call of ``forward``; only what is provably needless.

- a transposed copy whose strides the kernel gets anyway: ``w.t().contiguous()`` -> ``w.t()``
- a cast to the format that a tensor has in every workload
- a copy to contiguous layout of a tensor that was allocated that way
- zeros for a tensor that a kernel then writes completely: ``torch.zeros`` -> ``torch.empty``
- a host synchronisation that nothing waits for

Results are never kept between calls: weights may change from one call to the next.
"""

from collections.abc import Iterator

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.full_stores import writes_everything
from xeforge.propose.host_tensors import CASTS
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_values import follow_forward
from xeforge.propose.rewrite import Rewrite
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import Place
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import removal
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk

NAME = "hoist_host_work"
STAGE = "memory_access"
CURES = frozenset({"device_host_sync", "non_contiguous_input", "repack_in_forward"})
_OF_VIEWS, _OF_WEIGHTS = "memory.strides_instead_of_contiguous", "tiles.weight_as_it_lies"
CARRIES_OUT: tuple[str, ...] = (_OF_VIEWS, _OF_WEIGHTS)

_OUTSIDE_FORWARD = frozenset({"__init__", "get_inputs", "get_init_inputs"})
_METADATA = frozenset({"shape", "dtype", "device", "size", "stride", "dim", "numel", "ndim"})
_ZEROS = {"zeros": "empty", "zeros_like": "empty_like", "new_zeros": "new_empty"}
_MATRIX_AXES = 2

Change = tuple[cst.CSTNode, Replacement, str, str]
"""What is replaced, by what, why, and which advice that carries out; empty: none."""


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Remove all host work that is found to be needless."""
    del device
    tree = parse_tree(source)
    found: list[Change] = []
    for place in tree.places:
        if place.node.name.value not in _OUTSIDE_FORWARD:
            found.extend(_synchronisations(place))
            found.extend(_casts(tree, place, problem))
            found.extend(_transposed_copies(tree, place))
            found.extend(_fresh_copies(place))
            found.extend(_clearings(tree, place, problem))
    if not found:
        return ()
    changes = {node: change for node, change, _, _ in found}
    reasons = dict.fromkeys(reason for _, _, reason, _ in found)
    recipes = dict.fromkeys(recipe for *_, recipe in found if recipe)
    new = replace(tree.module, changes).code
    line = min(tree.line(node) for node in changes)
    return (Rewrite(new, ", ".join(reasons), line, tuple(recipes)),)


def _synchronisations(place: Place) -> Iterator[Change]:
    for line in walk(place.node.body):
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            continue
        part = line.body[0]
        if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call):
            name = text(part.value.func)
            if name.startswith("torch.") and name.endswith(".synchronize"):
                yield line, removal(place.node, line), "no host synchronisation in every call", ""


def _casts(tree: KernelTree, place: Place, problem: Problem) -> Iterator[Change]:
    lines = {
        part.value: (line, part)
        for line in walk(place.node.body)
        if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1
        for part in line.body
        if isinstance(part, cst.Assign)
    }
    for node in walk(place.node.body):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        name = node.func.attr.value
        is_cast = (name in CASTS and not node.args) or (name == "to" and len(node.args) == 1)
        if is_cast and _keeps_format(tree, node, node.func.value, problem):
            reason = "no cast to the format a tensor has already"
            line, part = lines.get(node, (None, None))
            if line is not None and part is not None and _only_renames(part, node):
                yield line, removal(place.node, line), reason, ""
            else:
                yield node, _base, reason, ""


def _only_renames(part: cst.Assign, node: cst.Call) -> bool:
    """Say whether ``x = x.half()`` would be left as ``x = x``."""
    base = node.func.value if isinstance(node.func, cst.Attribute) else node
    return [text(each.target) for each in part.targets] == [text(base)]


def _keeps_format(
    tree: KernelTree, node: cst.Call, base: cst.BaseExpression, problem: Problem
) -> bool:
    if not problem.workloads:
        return False
    for workload in problem.workloads:
        facts = follow_forward(tree, workload)
        before, after = facts.value(base), facts.value(node)
        if not isinstance(before, HostTensor) or not isinstance(after, HostTensor):
            return False
        is_format = not node.args or isinstance(facts.value(node.args[0].value), str)
        is_device = bool(node.args) and text(node.args[0].value).startswith(("'", '"'))
        if before.dtype is None or before.dtype != after.dtype or not is_format or is_device:
            return False
    return True


def _base(node: cst.CSTNode) -> cst.CSTNode:
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return node.func.value
    return node


def _contiguous_calls(place: Place) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    for node in walk(place.node.body):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            continue
        if node.func.attr.value == "contiguous" and not node.args:
            yield node, node.func.value


def _fresh_copies(place: Place) -> Iterator[Change]:
    for node, base in _contiguous_calls(place):
        values = assignments(place.node, base.value) if isinstance(base, cst.Name) else (base,)
        value = values[0] if len(values) == 1 else None
        is_fresh = isinstance(value, cst.Call) and text(value.func) in {
            "torch.empty",
            "torch.zeros",
            "torch.ones",
            "torch.full",
        }
        if is_fresh:
            yield node, _base, "no copy of a tensor that is contiguous by construction", ""


def _transposed_copies(tree: KernelTree, place: Place) -> Iterator[Change]:
    for node, base in _contiguous_calls(place):
        if _is_transposition(base) and _strides_are_passed(tree, place, node):
            # What hangs on the module is a weight.
            recipe = _OF_WEIGHTS if text(base).startswith("self.") else _OF_VIEWS
            reason = "no transposed copy in every call: the kernel gets the strides"
            yield node, _base, reason, recipe


def _is_transposition(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Attribute):
        return node.attr.value in {"T", "mT"}
    return isinstance(node, cst.Call) and last_name(node.func) in {"t", "transpose"}


def _strides_are_passed(tree: KernelTree, place: Place, copy: cst.Call) -> bool:
    """Say whether all that happens to a copy is addressing through all of its strides."""
    names = [
        text(each.targets[0].target)
        for each in walk(place.node.body)
        if isinstance(each, cst.Assign) and each.value is copy and len(each.targets) == 1
    ]
    if len(names) != 1 or len(assignments(place.node, names[0])) != 1:
        return False
    launches = [each for each in tree.launches if each.function is place.node]
    passed = set()
    for launch in launches:
        for parameter, given in launch.arguments.items():
            if text(given) != names[0]:
                continue
            if not _gets_strides(launch, names[0]) or not launch.is_complete:
                return False
            passed.add(given)
            del parameter
    return bool(passed) and all(
        use in passed or _is_metadata(place, use)
        for use in loaded_names(place.node.body)
        if use.value == names[0] and not _is_target(place, use)
    )


def _gets_strides(launch: Launch, name: str) -> bool:
    given = {text(each) for each in launch.arguments.values()}
    positions = range(_MATRIX_AXES)
    by_number = all(f"{name}.stride({axis})" in given for axis in positions)
    return by_number or {f"{name}.stride(-2)", f"{name}.stride(-1)"} <= given


def _is_metadata(place: Place, use: cst.Name) -> bool:
    return any(
        isinstance(node, cst.Attribute) and node.value is use and node.attr.value in _METADATA
        for node in walk(place.node.body)
    )


def _is_target(place: Place, use: cst.Name) -> bool:
    return any(
        isinstance(node, cst.AssignTarget) and node.target is use for node in walk(place.node.body)
    )


def _clearings(tree: KernelTree, place: Place, problem: Problem) -> Iterator[Change]:
    for block, line in _block_assignments(place):
        name, value = text(line.targets[0].target), line.value
        if not isinstance(value, cst.Call) or last_name(value.func) not in _ZEROS:
            continue
        users = [
            (launch, parameter)
            for launch in tree.launches
            if launch.function is place.node
            for parameter, given in launch.arguments.items()
            if text(given) == name
        ]
        is_single = len(users) == 1 and len(assignments(place.node, name)) == 1
        # A launch further in may not happen at all.
        is_single = is_single and _is_launched_in(block, users[0][0])
        if is_single and writes_everything(tree, *users[0], problem.workloads):
            yield value.func, _emptied, "no zeros where the kernel writes every element", ""


def _block_assignments(place: Place) -> Iterator[tuple[cst.IndentedBlock, cst.Assign]]:
    for block in walk(place.node):
        if not isinstance(block, cst.IndentedBlock):
            continue
        for line in block.body:
            for part in line.body if isinstance(line, cst.SimpleStatementLine) else ():
                if isinstance(part, cst.Assign) and len(part.targets) == 1:
                    yield block, part


def _is_launched_in(block: cst.IndentedBlock, launch: Launch) -> bool:
    lines = [each for each in block.body if isinstance(each, cst.SimpleStatementLine)]
    return any(
        isinstance(part, cst.Expr) and part.value is launch.call
        for line in lines
        for part in line.body
    )


def _emptied(node: cst.CSTNode) -> cst.CSTNode:
    if isinstance(node, cst.Attribute):
        return node.with_changes(attr=cst.Name(_ZEROS[node.attr.value]))
    return cst.Name(_ZEROS[node.value]) if isinstance(node, cst.Name) else node
