"""Finds the numbers in a kernel file that can be tuned without changing its answer, and sets them.

A knob is a compile-time integer of a launched kernel whose value only decides how the work is cut
up: block sizes by which the grid or a loop divides an extent, the number of rows of tiles that
neighbouring programs share, warps and pipeline stages. A block size computed at run time is no
knob, and neither is a size that belongs to the problem (a head size, a filter width).
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from functools import lru_cache

import libcst as cst

from xeforge.errors import BadRequest
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.knob_binding import Binding
from xeforge.source.knob_binding import resolve
from xeforge.source.knob_configs import OPTIONS
from xeforge.source.knob_configs import Config
from xeforge.source.knob_configs import pinned
from xeforge.source.knob_configs import read_configs
from xeforge.source.knob_roles import Role
from xeforge.source.knob_roles import dot_roles
from xeforge.source.knob_roles import is_group
from xeforge.source.knob_roles import repeats_of
from xeforge.source.knob_roles import sizes_grid
from xeforge.source.knob_roles import steps_through
from xeforge.source.knob_roles import tile_roles
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import integer
from xeforge.source.syntax_tree import keyword_argument
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import with_argument
from xeforge.source.tile_values import follow

_OPTION_ROLES = {"num_warps": Role.WARPS, "num_stages": Role.STAGES}


@dataclass(frozen=True, slots=True)
class Knob:
    """One tunable compile-time integer of one kernel.

    Attributes:
        name: Parameter of the jit function, ``num_warps`` or ``num_stages``.
        kernel: The jit function.
        kind: Where its value stands: ``"literal"`` at the launch, ``"local"``, ``"module"``,
            ``"class"``, ``"default"`` of a host function, ``"jit_default"``, ``"config"`` of an
            autotuner, ``"computed"`` (warps and stages only), ``"absent"`` (Triton's default).
        role: What it decides.
        value: Present value; of an autotuned kernel that of the first configuration; None when
            absent or computed.
        line: One-based line of the value, or of the launch when there is none.
        choices: Values in the autotuner's list, ascending; empty without one.
        shared_with: Other kernels whose knob changes with it (one constant, two launches).
        is_step: The kernel itself loops over an extent in steps of it.
        in_grid_as_literal: The grid repeats the number; setting the knob rewrites it there too.
    """

    name: str
    kernel: str
    kind: str
    role: Role
    value: int | None
    line: int
    choices: tuple[int, ...] = ()
    shared_with: tuple[str, ...] = ()
    is_step: bool = False
    in_grid_as_literal: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Located:
    knob: Knob
    nodes: tuple[cst.BaseExpression, ...] = ()
    launches: tuple[Launch, ...] = ()
    configs: tuple[Config, ...] = ()


def find_knobs(source: str) -> tuple[Knob, ...]:
    """Return all knobs of all launched kernels, in the order of first launch.

    Raises:
        BadKernel: The file is not Python.
    """
    return tuple(each.knob for each in _locate(parse_tree(source)))


def set_knobs(source: str, kernel: str, values: Mapping[str, int]) -> str:
    """Return the file with some knobs of a kernel set, everything else as it was.

    Literals are replaced where they are bound, absent options are added to the launches, an
    autotuned kernel is pinned to its first configuration with these values put in.

    Raises:
        BadRequest: The kernel has no such knob.
        BadKernel: The file is not Python.
    """
    tree = parse_tree(source)
    located = {each.knob.name: each for each in _locate(tree) if each.knob.kernel == kernel}
    unknown = sorted(set(values) - set(located))
    if unknown:
        raise BadRequest(
            f"kernel {kernel} has no knob {', '.join(unknown)}",
            remedy=f"it has: {', '.join(located) or 'none'}",
        )
    changes: dict[cst.CSTNode, Replacement] = {}
    for name, value in values.items():
        for node in located[name].nodes:
            changes[node] = _number(value)
    changes.update(_added_options(located, values))
    jit = tree.jits[kernel]
    configs = next((located[name].configs for name in values if located[name].configs), ())
    listed = None if jit.autotune is None else argument(jit.autotune, 0, "configs")
    if configs and listed is not None:
        own = {name: value for name, value in values.items() if located[name].configs}
        new = pinned(configs[0], own)
        changes[listed] = lambda _: new
    return replace(tree.module, changes).code


def _number(value: int) -> Replacement:
    return lambda _: cst.Integer(str(value))


def _added_options(
    located: Mapping[str, _Located], values: Mapping[str, int]
) -> dict[cst.CSTNode, Replacement]:
    added: dict[cst.CSTNode, list[cst.Arg]] = {}
    for name in OPTIONS:
        if name in values and located[name].knob.kind == "absent":
            for launch in located[name].launches:
                added.setdefault(launch.call, []).append(keyword_argument(name, values[name]))
    return {call: _appending(arguments) for call, arguments in added.items()}


def _appending(arguments: list[cst.Arg]) -> Replacement:
    def append(node: cst.CSTNode) -> cst.CSTNode:
        for each in arguments:
            node = with_argument(node, each) if isinstance(node, cst.Call) else node
        return node

    return append


@lru_cache(maxsize=128)
def _locate(tree: KernelTree) -> tuple[_Located, ...]:
    """Keyed by the tree: nodes of another tree of the same source match nothing in it."""
    order = dict.fromkeys(each.kernel for each in tree.launches)
    found = [each for kernel in order for each in _of_kernel(tree, tree.jits[kernel])]
    return tuple(_with_sharing(found))


def _with_sharing(found: list[_Located]) -> Iterator[_Located]:
    for each in found:
        others = {
            other.knob.kernel
            for other in found
            if other.knob.kernel != each.knob.kernel and set(other.nodes) & set(each.nodes)
        }
        yield changed(each, knob=changed(each.knob, shared_with=tuple(sorted(others))))


def _of_kernel(tree: KernelTree, jit: Jit) -> Iterator[_Located]:
    launches = tree.launches_of(jit.name)
    configs = read_configs(tree, jit)
    candidates = dict(_candidates(tree, jit, launches, configs))
    roles = _roles(tree, jit, launches, frozenset(candidates))
    grids = {name: _repeats(tree, jit, launches, each) for name, each in candidates.items()}
    claimed = [node for repeats in grids.values() for node in repeats or ()]
    for name, each in candidates.items():
        repeats = grids[name]
        # A literal of the grid that could belong to two knobs belongs to none.
        is_clear = not any(claimed.count(node) > 1 for node in repeats or ())
        is_step = steps_through(tree, jit, name)
        is_covered = repeats is not None or is_step
        role = roles.get(name, Role.OTHER)
        if each.configs or role is Role.GROUP or (is_covered and is_clear and role != Role.OTHER):
            repeated = tuple(repeats or ())
            knob = changed(each.knob, role=role, is_step=is_step, in_grid_as_literal=bool(repeated))
            yield changed(each, knob=knob, nodes=(*each.nodes, *repeated))
    yield from _options(tree, jit, launches, configs)


def _roles(
    tree: KernelTree, jit: Jit, launches: tuple[Launch, ...], names: frozenset[str]
) -> Mapping[str, Role]:
    facts = follow(tree, jit)
    roles = dict(tile_roles(jit, launches, facts, names))
    roles.update(dot_roles(facts, names))
    roles.update({name: Role.GROUP for name in names - set(roles) if is_group(jit, name)})
    return roles


def _repeats(
    tree: KernelTree, jit: Jit, launches: tuple[Launch, ...], each: _Located
) -> tuple[cst.Integer, ...] | None:
    """Return literals of the grids that repeat a knob; None when some grid is not sized by it."""
    repeats: list[cst.Integer] = []
    literals = [node for node in each.nodes if isinstance(node, cst.Integer)]
    for launch in launches:
        literal = literals[0] if literals else None
        is_sized, repeated = sizes_grid(tree, launch, each.knob.name, literal)
        own = repeats_of(tree, jit, launch, each.knob.name, repeated)
        if not is_sized or (repeated and not own):
            return None
        repeats.extend(own)
    return tuple(repeats)


def _candidates(
    tree: KernelTree, jit: Jit, launches: tuple[Launch, ...], configs: tuple[Config, ...]
) -> Iterator[tuple[str, _Located]]:
    for name in jit.parameters:
        listed = [each.values[name] for each in configs if name in each.values]
        if listed:
            assert jit.autotune is not None  # noqa: S101 - configurations come from it
            line, choices = tree.line(jit.autotune), tuple(sorted(set(listed)))
            knob = Knob(name, jit.name, "config", Role.OTHER, listed[0], line, choices)
            yield name, _Located(knob, configs=configs)
        elif name in jit.constexprs and not _is_computed(jit, name):
            found = _bound(tree, jit, launches, name)
            if found is not None:
                yield name, found


def _bound(tree: KernelTree, jit: Jit, launches: tuple[Launch, ...], name: str) -> _Located | None:
    bindings: list[Binding | None] = []
    for launch in launches:
        given = launch.arguments.get(name)
        if given is not None:
            bindings.append(resolve(tree, launch, given))
        else:
            default = jit.defaults.get(name)
            if not isinstance(default, cst.Integer) or not launch.is_complete:
                return None
            bindings.append(Binding(default, "jit_default"))
    known = [each for each in bindings if each is not None]
    if not known or len(known) != len(bindings):
        return None
    first = known[0]
    nodes = tuple(dict.fromkeys(each.literal for each in known))
    line, value = tree.line(first.literal), integer(first.literal)
    return _Located(Knob(name, jit.name, first.kind, Role.OTHER, value, line), nodes, launches)


def _is_computed(jit: Jit, name: str) -> bool:
    """Say whether a heuristic decides a parameter or option at each launch."""
    return any(
        isinstance(each, cst.DictElement) and text(each.key).strip("'\"") == name
        for call in jit.heuristics
        for argument in call.args[:1]
        for each in (argument.value.elements if isinstance(argument.value, cst.Dict) else ())
    )


def _options(
    tree: KernelTree, jit: Jit, launches: tuple[Launch, ...], configs: tuple[Config, ...]
) -> Iterator[_Located]:
    for name in OPTIONS:
        role = _OPTION_ROLES[name]
        if _is_computed(jit, name) or name in jit.parameters:
            continue
        if jit.autotune is not None:
            if configs:
                listed = [each.values[name] for each in configs if name in each.values]
                value = configs[0].values.get(name)
                line, choices = tree.line(jit.autotune), tuple(sorted(set(listed)))
                knob = Knob(name, jit.name, "config", role, value, line, choices)
                yield _Located(knob, configs=configs)
            continue
        if not all(each.is_complete or name in each.arguments for each in launches):
            continue
        given = [each.arguments[name] for each in launches if name in each.arguments]
        found = _bound(tree, jit, launches, name)
        if found is not None:
            yield changed(found, knob=changed(found.knob, role=role))
        elif launches and len(given) in {0, len(launches)}:
            kind = "computed" if given else "absent"
            knob = Knob(name, jit.name, kind, role, None, tree.line(launches[0].call))
            yield _Located(knob, tuple(given), launches)
