"""Decides names, formats and parameters of the kernel that replaces two."""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

import libcst as cst

from xeforge.domain.dtype import find_dtype
from xeforge.propose.flat_kernels import FlatKernel
from xeforge.propose.fusion_hosts import Pair
from xeforge.propose.fusion_hosts import data_uses
from xeforge.propose.fusion_hosts import format_of
from xeforge.propose.fusion_hosts import root
from xeforge.propose.kernel_edits import fresh_name
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.kernel_tree import bindings
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import loaded_names
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import pointer_parameters

_KERNEL_FORMATS = frozenset(
    {"float64", "float32", "float16", "bfloat16", "int64", "int32", "int16"}
)


@dataclass(frozen=True, slots=True, eq=False)
class HandOver:
    """One store of the first kernel whose value the second kernel uses.

    Attributes:
        tensor: Name of the intermediate on the host.
        statement: The store.
        pointer: Parameter of the first kernel it goes through.
        value: What is stored.
        offsets, mask: Flat element numbers and bound at that place, as text.
        prelude: Statements that set them up, put in front of the store.
        dropped: Statements of the first kernel that only served the store.
        swaps: Loads of the second kernel that have a simpler form here: pointer parameter, index
            and bound.
    """

    tensor: str
    statement: cst.SimpleStatementLine
    pointer: str
    value: cst.BaseExpression
    offsets: str
    mask: str
    prelude: tuple[str, ...] = ()
    dropped: tuple[cst.CSTNode, ...] = ()
    swaps: Mapping[cst.Call, tuple[str, str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Fusion:
    """Everything needed to write the new kernel.

    Attributes:
        tree: The file.
        pair: The launches.
        first: First kernel.
        second: Second kernel.
        given: What is handed over, by host name of the intermediate.
        same: Parameters of the second kernel that mean the same as a parameter of the first.
    """

    tree: KernelTree
    pair: Pair
    first: Jit
    second: FlatKernel
    given: Mapping[str, HandOver]
    same: Mapping[str, str]


@dataclass(slots=True)
class Plan:
    """What the new kernel will look like.

    Attributes:
        names: New name of each name of the second kernel.
        values: Local name of each value handed over, by intermediate.
        formats: Format it is rounded to, as kernel text.
        kept: Parameters of the first kernel that stay, with their arguments.
        added: Parameters of the second kernel that are added, with their new names.
        dropped_stores: Intermediates that need not be written any more.
        skipped: Statements of the second kernel that only named a value handed over.
    """

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    kept: dict[str, cst.BaseExpression] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)
    dropped_stores: set[str] = field(default_factory=set)
    skipped: set[cst.CSTNode] = field(default_factory=set)


def planned(fusion: Fusion) -> Plan | None:
    """Return the plan; None when the format of an intermediate cannot be named in the kernel."""
    plan = Plan()
    pair, second = fusion.pair, fusion.second
    roots = {root(pair.function, node): name for name, node in pair.second.arguments.items()}
    for tensor, hand in fusion.given.items():
        is_overwritten = any(each.pointer == roots.get(tensor) for each in second.stores)
        if is_overwritten or not data_uses(pair, tensor):
            plan.dropped_stores.add(tensor)
        if is_overwritten or tensor not in plan.dropped_stores:
            plan.kept[hand.pointer] = pair.first.arguments[hand.pointer]
    dropped = {hand.pointer for hand in fusion.given.values()} - set(plan.kept)
    for name in fusion.first.parameters:
        if name not in dropped and name in pair.first.arguments:
            plan.kept[name] = pair.first.arguments[name]
    nodes = walk(fusion.first.node)
    taken = {each.value for each in nodes if isinstance(each, cst.Name)} - dropped
    for tensor in fusion.given:
        plan.values[tensor] = fresh_name(tensor, cst.Module([]), taken)
        taken.add(plan.values[tensor])
    _name_second(fusion, plan, taken)
    if any(
        name not in pair.second.arguments and name not in second.jit.defaults for name in plan.added
    ):
        return None
    for tensor, hand in fusion.given.items():
        found = _format_text(fusion, plan, pair.first.arguments[hand.pointer])
        if found is None:
            return None
        plan.formats[tensor] = found
    return plan


def _name_second(fusion: Fusion, plan: Plan, taken: set[str]) -> None:
    pair, jit = fusion.pair, fusion.second.jit
    hands = next(iter(fusion.given.values()))
    plan.names[fusion.second.offsets] = hands.offsets
    if fusion.second.mask:
        plan.names[fusion.second.mask] = hands.mask
    for name in jit.parameters:
        given = pair.second.arguments.get(name)
        tensor = "" if given is None else root(pair.function, given)
        if tensor in fusion.given:
            plan.names[name] = fusion.given[tensor].pointer
        elif name in fusion.same:
            plan.names[name] = fusion.same[name]
        elif _is_mentioned(fusion, name):
            new = name if name not in taken else fresh_name(name, jit.node, taken)
            taken.add(new)
            plan.names[name] = new
            plan.added[name] = new
    for line, name, tensor in _plain_loads(fusion):
        plan.names[name] = plan.values[tensor]
        plan.skipped.add(line)
    local = {name for node in walk(jit.node.body) for name, _ in bindings(node)}
    for name in sorted(local - set(plan.names)):
        new = name if name not in taken else fresh_name(name, jit.node, taken)
        taken.add(new)
        plan.names[name] = new


def _plain_loads(fusion: Fusion) -> Iterator[tuple[cst.CSTNode, str, str]]:
    """Yield statements that only give a name to a value that is handed over."""
    pair, jit = fusion.pair, fusion.second.jit
    for access in fusion.second.loads:
        tensor = root(pair.function, pair.second.arguments[access.pointer])
        line = access.statement
        if tensor not in fusion.given or not isinstance(line, cst.SimpleStatementLine):
            continue
        bound = [pair for part in line.body for pair in bindings(part)]
        if len(bound) == 1 and bound[0][1] is access.call:
            name = bound[0][0]
            if len(assignments(jit.node, name)) == 1 and name not in jit.parameters:
                yield line, name, tensor


def _is_mentioned(fusion: Fusion, name: str) -> bool:
    """Say whether the second kernel uses a parameter outside its index set-up."""
    second = fusion.second
    bound = f"{second.offsets}<{second.extent}"
    lines = [each for each in second.jit.node.body.body if each not in second.index_lines]
    inside = {
        below
        for line in lines
        for node in walk(line)
        if isinstance(node, cst.Comparison) and text(node) == bound
        for below in walk(node)
    }
    return any(
        each.value == name and each not in inside for line in lines for each in loaded_names(line)
    )


def _format_text(fusion: Fusion, plan: Plan, node: cst.BaseExpression) -> str | None:
    pair = fusion.pair
    wanted = format_of(pair.function, node)
    if wanted.startswith("torch."):
        found = find_dtype(wanted)
        return f"tl.{found.name}" if found and found.name in _KERNEL_FORMATS else None
    stored = {each.pointer for each in fusion.second.stores} | {
        each.pointer for each in fusion.second.loads
    }
    for name, given in plan.kept.items():
        if name not in fusion.first.constexprs and format_of(pair.function, given) == wanted:
            return f"{name}.dtype.element_ty"
    for name, new in plan.added.items():
        passed = pair.second.arguments.get(name)
        if passed is not None and name in stored and format_of(pair.function, passed) == wanted:
            return f"{new}.dtype.element_ty"
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One parameter of the new kernel, with what the launch passes for it."""

    name: str
    given: cst.BaseExpression | None
    default: cst.BaseExpression | None
    is_constexpr: bool
    is_pointer: bool


def parameters(fusion: Fusion, plan: Plan) -> list[Parameter]:
    """Return the parameters of the new kernel: pointers, numbers, constants, defaulted ones."""
    dropped = {hand.pointer for hand in fusion.given.values()} - set(plan.kept)
    found = []
    sides = (
        (fusion.first, fusion.pair.first, [(n, n) for n in fusion.first.parameters]),
        (fusion.second.jit, fusion.pair.second, list(plan.added.items())),
    )
    for jit, launch, names in sides:
        pointers = pointer_parameters(fusion.tree, jit)
        for old, new in names:
            if jit is fusion.first and old in dropped:
                continue
            given = launch.arguments.get(old)
            default = jit.defaults.get(old) if given is None else None
            is_constexpr = old in jit.constexprs
            found.append(Parameter(new, given, default, is_constexpr, old in pointers))
    return sorted(
        found, key=lambda each: (each.default is not None, each.is_constexpr, not each.is_pointer)
    )
