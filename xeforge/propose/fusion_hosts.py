"""Finds pairs of launches on the host that may become one launch, and what they share.

Everything here is about the function that launches: which tensors are freshly allocated, who else
looks at them, whether the statements in between can stay where they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.kernel_tree import bindings
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import names_in
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk

_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like"})
_FRESH = frozenset({"empty", "zeros", "ones", "full"})
_FRESH_METHODS = frozenset({"new_empty", "new_zeros", "new_ones", "new_full"})
_QUIET_CALLS = frozenset(
    {"cdiv", "next_power_of_2", "numel", "size", "stride", "dim", "min", "max", "int", "len"}
)
_METADATA = frozenset({"shape", "dtype", "device", "numel", "size", "stride", "dim", "ndim"})
_VIEWS = frozenset({"view", "reshape", "flatten", "contiguous"})
_MOST_HOPS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two launches that follow each other with nothing but bookkeeping between them.

    Attributes:
        function: Host function that launches both.
        first, second: The launches.
        first_line, second_line: Their statements.
        between: Statements between them.
    """

    function: cst.FunctionDef
    first: Launch
    second: Launch
    first_line: cst.SimpleStatementLine
    second_line: cst.SimpleStatementLine
    between: tuple[cst.BaseStatement, ...]


def launch_pairs(tree: KernelTree) -> Iterator[Pair]:
    """Yield launches that can be moved next to each other, in file order."""
    by_call = {each.call: each for each in tree.launches if each.is_complete}
    for place in tree.places:
        for block in walk(place.node):
            if not isinstance(block, cst.IndentedBlock):
                continue
            lines = list(block.body)
            where = [
                (number, by_call[call])
                for number, line in enumerate(lines)
                if (call := _launched(line)) in by_call
            ]
            for (start, first), (end, second) in pairwise(where):
                one, other = lines[start], lines[end]
                between = tuple(lines[start + 1 : end])
                if isinstance(one, cst.SimpleStatementLine) and isinstance(
                    other, cst.SimpleStatementLine
                ):
                    pair = Pair(place.node, first, second, one, other, _statements(between))
                    if all(_is_quiet(pair, each) for each in between):
                        yield pair


def _statements(lines: tuple[object, ...]) -> tuple[cst.BaseStatement, ...]:
    return tuple(each for each in lines if isinstance(each, cst.BaseStatement))


def _launched(line: object) -> cst.Call | None:
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        part = line.body[0]
        if isinstance(part, cst.Expr) and isinstance(part.value, cst.Call):
            return part.value
    return None


def _is_quiet(pair: Pair, line: object) -> bool:
    """Say whether the first launch may move past a statement without anyone noticing."""
    if not isinstance(line, cst.SimpleStatementLine):
        return False
    used = set().union(*(names_in(each) for each in pair.first.arguments.values()))
    used |= names_in(pair.first.grid)
    for part in line.body:
        if not isinstance(part, cst.Assign | cst.AnnAssign):
            return False
        if any(name in used for name, _ in bindings(part)):
            return False
        for node in walk(part):
            if isinstance(node, cst.Call) and last_name(node.func) not in (
                _QUIET_CALLS | _LIKE | _FRESH | _FRESH_METHODS
            ):
                return False
    return True


def is_fresh(pair: Pair, name: str) -> bool:
    """Say whether a name of the function always means one newly allocated tensor."""
    value = _allocation(pair.function, name)
    return value is not None


def _allocation(function: cst.FunctionDef, name: str) -> cst.Call | None:
    values = assignments(function, name)
    parameters = {each.name.value for each in function.params.params}
    value = values[0] if len(values) == 1 and name not in parameters else None
    if not isinstance(value, cst.Call):
        return None
    called = last_name(value.func)
    is_torch = text(value.func).startswith("torch.") and called in _LIKE | _FRESH
    return value if is_torch or called in _FRESH_METHODS else None


def root(function: cst.FunctionDef, node: cst.BaseExpression) -> str:
    """Return a text that is equal for expressions that mean the same tensor or number.

    Names bound once to another name, a view or a formula are followed.
    """
    return _root(function, node, _MOST_HOPS)


def _root(function: cst.FunctionDef, node: cst.BaseExpression, hops: int) -> str:
    if isinstance(node, cst.Name) and hops:
        if _allocation(function, node.value) is not None:
            return node.value
        values = assignments(function, node.value)
        is_parameter = any(each.name.value == node.value for each in function.params.params)
        if len(values) == 1 and values[0] is not None and not is_parameter:
            return _root(function, values[0], hops - 1)
        return node.value
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and hops:
        base = _root(function, node.func.value, hops - 1)
        if node.func.attr.value == "numel":
            return f"{_sized_like(function, base, hops)}.numel()"
        return f"{base}.{text(node)[len(text(node.func.value)) + 1 :]}"
    return text(node)


def _sized_like(function: cst.FunctionDef, name: str, hops: int) -> str:
    """Return the tensor whose shape an allocation copies, as far as that can be followed."""
    value = _allocation(function, name) if name.isidentifier() else None
    if value is None or last_name(value.func) not in _LIKE or not hops:
        stem, _, method = name.rpartition(".")
        is_view = method.split("(")[0] in _VIEWS
        return _sized_like(function, stem, hops - 1) if stem and is_view and hops else name
    source = argument(value, 0, "input")
    return (
        name
        if source is None
        else _sized_like(function, _root(function, source, hops - 1), hops - 1)
    )


def format_of(function: cst.FunctionDef, node: cst.BaseExpression) -> str:
    """Return a text that is equal for tensors of equal format.

    ``"torch.float32"`` for a fixed format, ``"x"`` for the format of ``x``.
    """
    return _format(function, root(function, node), _MOST_HOPS)


def _format(function: cst.FunctionDef, name: str, hops: int) -> str:
    value = _allocation(function, name) if name.isidentifier() else None
    if value is None or not hops:
        stem, _, method = name.rpartition(".")
        is_view = method.split("(")[0] in _VIEWS
        return _format(function, stem, hops - 1) if stem and is_view and hops else name
    wanted = argument(value, len(value.args) + 1, "dtype")
    if wanted is not None:
        if isinstance(wanted, cst.Attribute) and wanted.attr.value == "dtype":
            return _format(function, _root(function, wanted.value, hops - 1), hops - 1)
        return text(wanted)
    if last_name(value.func) in _LIKE:
        source = argument(value, 0, "input")
        return (
            "?"
            if source is None
            else _format(function, _root(function, source, hops - 1), hops - 1)
        )
    if isinstance(value.func, cst.Attribute) and last_name(value.func) in _FRESH_METHODS:
        return _format(function, _root(function, value.func.value, hops - 1), hops - 1)
    return "torch.float32"


def data_uses(pair: Pair, name: str) -> int:
    """Count uses of a tensor's contents outside the two launches and its allocation."""
    inside = {
        node
        for line in (pair.first_line, pair.second_line)
        for node in walk(line)
        if isinstance(node, cst.Name)
    }
    return sum(
        1
        for node in _uses(pair.function, name)
        if node not in inside and not _is_metadata(pair.function, node)
    )


def metadata_uses(pair: Pair, name: str) -> tuple[cst.Name, ...]:
    """Return uses of a tensor's sizes or format outside the two launches."""
    inside = {node for line in (pair.first_line, pair.second_line) for node in walk(line)}
    return tuple(
        node
        for node in _uses(pair.function, name)
        if node not in inside and _is_metadata(pair.function, node)
    )


def _uses(function: cst.FunctionDef, name: str) -> Iterator[cst.Name]:
    targets = {each.target for each in walk(function.body) if isinstance(each, cst.AssignTarget)}
    for node in loaded_names(function.body):
        if node.value == name and node not in targets:
            yield node


def _is_metadata(function: cst.FunctionDef, name: cst.Name) -> bool:
    for node in walk(function.body):
        if isinstance(node, cst.Attribute) and node.value is name:
            return node.attr.value in _METADATA
        is_like = isinstance(node, cst.Call) and last_name(node.func) in _LIKE
        if is_like and any(each is name for each in walk(node)):
            return True
    return False


def allocation_line(pair: Pair, name: str) -> cst.SimpleStatementLine | None:
    """Return the statement that allocates a tensor, if it does nothing else."""
    for node in walk(pair.function.body):
        if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
            continue
        if [bound for bound, _ in bindings(node.body[0])] == [name]:
            return node
    return None


def template_of(pair: Pair, name: str) -> str:
    """Return the tensor that an allocation copies sizes and format from; empty when none."""
    value = _allocation(pair.function, name)
    if value is None or last_name(value.func) not in _LIKE or len(value.args) != 1:
        return ""
    source = value.args[0].value
    is_stable = isinstance(source, cst.Name) and len(assignments(pair.function, source.value)) <= 1
    return code(source) if is_stable else ""
