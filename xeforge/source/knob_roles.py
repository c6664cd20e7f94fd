"""Says what each compile-time integer of a kernel does, from data flow, never from its name."""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import libcst as cst

from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.knob_binding import resolve
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import integer
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import names_in
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import unparenthesized
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_pointers import additive_leaves
from xeforge.source.tile_types import TileFacts
from xeforge.source.tile_values import follow


class Role(StrEnum):
    """What a knob decides."""

    M = "m"
    """Rows of the tile of a matrix product."""
    N = "n"
    """Columns of the tile of a matrix product."""
    K = "k"
    """Depth of one step of a matrix product."""
    GROUP = "group"
    """How many rows of tiles neighbouring programs share."""
    BLOCK = "block"
    """Elements handled at a time along the contiguous (or only) axis."""
    ROWS = "rows"
    """Elements handled at a time along an axis that is not contiguous."""
    WARPS = "warps"
    STAGES = "stages"
    OTHER = "other"
    """Offered by an autotuner, meaning not known."""


_SHAPE_CALLS = frozenset(
    {
        "arange",
        "zeros",
        "full",
        "make_block_ptr",
        "make_tensor_descriptor",
        "reshape",
        "broadcast_to",
    }
)
_DIVISIONS = (cst.FloorDivide, cst.Divide)
_MOST_DEPTH = 4
_RANGES = frozenset({"range", "static_range"})


@dataclass(frozen=True, slots=True, eq=False)
class Divisor:
    """Something the host divides by to size a grid.

    Attributes:
        divisor: Expression below the line.
        dividend: Expression above it; None when not of a plain form.
    """

    divisor: cst.BaseExpression
    dividend: cst.BaseExpression | None


def dot_roles(facts: TileFacts, names: frozenset[str]) -> Mapping[str, Role]:
    """Give m, n and k to the knobs that are sizes of matrix products; first product first."""
    roles: dict[str, Role] = {}
    for dot in facts.dots:
        for symbol, role in ((dot.m, Role.M), (dot.n, Role.N), (dot.k, Role.K)):
            if symbol in names:
                roles.setdefault(symbol, role)
    return roles


def is_group(jit: Jit, name: str) -> bool:
    """Say whether a parameter only takes part in arithmetic on program ids."""
    statements = [each for each in walk(jit.node.body) if isinstance(each, cst.Assign)]
    tainted = {"program_id"}
    for statement in statements:
        mentions = {last_name(each) for each in walk(statement.value)}
        if mentions & tainted:
            for target in statement.targets:
                tainted |= {each.value for each in walk(target) if isinstance(each, cst.Name)}
    users = [each for each in statements if name in names_in(each.value)]
    all_uses = sum(1 for each in walk(jit.node.body) if last_name_is(each, name))
    inside = sum(1 for user in users for each in walk(user.value) if last_name_is(each, name))
    if not users or inside != all_uses or shapes_with(jit, name):
        return False
    return any({last_name(each) for each in walk(user)} & tainted for user in users)


def last_name_is(node: cst.CSTNode, name: str) -> bool:
    """Say whether a node is this plain name."""
    return isinstance(node, cst.Name) and node.value == name


def shapes_with(jit: Jit, name: str) -> bool:
    """Say whether a parameter is part of the shape of any tile of the kernel."""
    return any(
        language_call(node) in _SHAPE_CALLS and name in names_in(node)
        for node in walk(jit.node.body)
        if isinstance(node, cst.Call)
    )


def steps_through(tree: KernelTree, jit: Jit, name: str, depth: int = 0) -> bool:
    """Say whether the kernel itself loops over an extent in steps of a parameter."""
    for node in walk(jit.node.body):
        if isinstance(node, cst.For):
            found = isinstance(node.iter, cst.Call) and _steps(jit, node.iter, name)
        elif isinstance(node, cst.While):
            found = _advances(node, name)
        elif isinstance(node, cst.Call) and depth < _MOST_DEPTH:
            helper = tree.jits.get(last_name(node.func))
            found = helper is not None and _passed_on(tree, helper, node, name, depth)
        else:
            continue
        if found:
            return True
    return False


def _passed_on(tree: KernelTree, helper: Jit, call: cst.Call, name: str, depth: int) -> bool:
    for position, parameter in enumerate(helper.parameters):
        given = argument(call, position, parameter)
        if given is not None and last_name_is(given, name):
            return steps_through(tree, helper, parameter, depth + 1)
    return False


def _steps(jit: Jit, loop: cst.Call, name: str) -> bool:
    if last_name(loop.func) not in _RANGES:
        return False
    step = argument(loop, 2, "step")
    if step is not None and name in _expanded_names(jit, step):
        return True
    for node in (each.value for each in loop.args):
        for inner in (node, *_expanded(jit, node)):
            if any(name in names_in(each.divisor) for each in divisors(inner)):
                return True
    return False


def _advances(loop: cst.While, name: str) -> bool:
    tested = names_in(loop.test)
    return any(
        isinstance(node, cst.AugAssign)
        and text(node.target) in tested
        and name in names_in(node.value)
        for node in walk(loop.body)
    )


def _expanded(jit: Jit, node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    for name in names_in(node):
        yield from (each for each in assignments(jit.node, name) if each is not None)


def _expanded_names(jit: Jit, node: cst.BaseExpression) -> frozenset[str]:
    return names_in(node).union(*(names_in(each) for each in _expanded(jit, node)))


def divisors(node: cst.CSTNode) -> Iterator[Divisor]:
    """Yield every division below a node: ``cdiv(a, b)``, ``a // b``, ``a / b``."""
    for each in walk(node):
        if isinstance(each, cst.Call) and last_name(each.func) in {"cdiv", "ceil_div"}:
            above, below = argument(each, 0, "x"), argument(each, 1, "div")
            below = below or argument(each, 1, "y")
            if below is not None:
                yield Divisor(below, above)
        elif isinstance(each, cst.BinaryOperation) and isinstance(each.operator, _DIVISIONS):
            yield Divisor(each.right, _rounded_up(each.left, each.right))


def _rounded_up(left: cst.BaseExpression, right: cst.BaseExpression) -> cst.BaseExpression | None:
    # ``(n + b - 1) // b`` and ``-(-n // b)``: the dividend is n.
    terms = list(additive_leaves(left))
    if [text(each) for each in terms[1:]] == [text(right), "1"]:
        return terms[0]
    if isinstance(left, cst.UnaryOperation) and isinstance(left.operator, cst.Minus):
        return left.expression
    return left if len(terms) == 1 else None


def grid_parts(tree: KernelTree, launch: Launch) -> tuple[cst.CSTNode, ...]:
    """Return the grid expression and everything its names stand for in the host function."""
    found: list[cst.CSTNode] = [launch.grid]
    seen: set[str] = set()
    for node in found:
        for name in sorted(names_in(node) - seen):
            seen.add(name)
            if launch.function is None:
                continue
            values = assignments(launch.function, name)
            found.extend(each for each in values if each is not None)
            found.extend(
                place.node.body
                for place in tree.places
                if place.outer is launch.function and place.node.name.value == name
            )
    return tuple(found)


def sizes_grid(
    tree: KernelTree, launch: Launch, name: str, literal: cst.Integer | None
) -> tuple[bool, tuple[Divisor, ...]]:
    """Say whether the grid divides by a knob.

    Args:
        tree: The file.
        launch: One launch of the kernel.
        name: Parameter of the kernel.
        literal: Literal that decides its value; None for a knob of an autotuner.

    Returns:
        Whether it does, and the divisions by a literal that repeats its value, not its name.
    """
    given = launch.arguments.get(name)
    wanted = None if given is None else unparenthesized(given)
    is_found = False
    repeated: list[Divisor] = []
    for part in grid_parts(tree, launch):
        for each in divisors(part):
            if isinstance(each.divisor, cst.Integer):
                if each.divisor is literal:
                    is_found = True
                elif literal is not None and integer(each.divisor) == integer(literal):
                    repeated.append(each)
                continue
            for inner in walk(each.divisor):
                if isinstance(inner, cst.BaseExpression):
                    is_found = is_found or _is_named(inner, name, wanted)
                    is_found = is_found or _is_bound(tree, launch, inner, literal)
    return is_found or bool(repeated), () if is_found else tuple(repeated)


def _is_named(node: cst.BaseExpression, name: str, wanted: str | None) -> bool:
    if isinstance(node, cst.Subscript):
        return text(node).endswith((f"['{name}']", f'["{name}"]'))
    return isinstance(node, cst.Name | cst.Attribute) and unparenthesized(node) == wanted


def _is_bound(
    tree: KernelTree, launch: Launch, node: cst.BaseExpression, literal: cst.Integer | None
) -> bool:
    if literal is None or not isinstance(node, cst.Name | cst.Attribute):
        return False
    binding = resolve(tree, launch, node)
    return binding is not None and binding.literal is literal


def starts_at_programs(jit: Jit, facts: TileFacts, name: str) -> bool:
    """Say whether a program finds its place by multiplying its id with a parameter."""
    for node in walk(jit.node.body):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                tile = facts.values.get(other)
                if last_name_is(one, name) and tile is not None and tile.from_program_id:
                    return True
    return False


def repeats_of(
    tree: KernelTree, jit: Jit, launch: Launch, name: str, repeated: tuple[Divisor, ...]
) -> tuple[cst.Integer, ...]:
    """Return the literals of a grid that stand for this knob.

    Two knobs of equal value (``64`` and ``64``) are told apart by what is divided: the extent
    that the kernel compares positions along this knob with.
    """
    literals = [each for each in repeated if isinstance(each.divisor, cst.Integer)]
    if literals and not starts_at_programs(jit, follow(tree, jit), name):
        return ()
    extents = {
        unparenthesized(given)
        for parameter in _extents_along(tree, jit, name)
        if (given := launch.arguments.get(parameter)) is not None
    }
    matching = [
        each
        for each in literals
        if each.dividend is not None and unparenthesized(each.dividend) in extents
    ]
    chosen = matching or literals
    return tuple(each.divisor for each in chosen if isinstance(each.divisor, cst.Integer))


def _extents_along(tree: KernelTree, jit: Jit, name: str) -> frozenset[str]:
    facts = follow(tree, jit)
    found: set[str] = set()
    for node, tile in facts.values.items():
        if isinstance(node, cst.Comparison) and name in (tile.shape or ()):
            for side in node.comparisons:
                found |= names_in(side.comparator) & set(jit.parameters)
    for each in divisors(jit.node.body):
        if name in names_in(each.divisor) and each.dividend is not None:
            found |= names_in(each.dividend) & set(jit.parameters)
    return frozenset(found)


def tile_roles(
    jit: Jit, launches: tuple[Launch, ...], facts: TileFacts, names: frozenset[str]
) -> Mapping[str, Role]:
    """Tell sizes along the contiguous axis from sizes along other axes."""
    contiguous: set[str] = set()
    strided: set[str] = set()
    for node in walk(jit.node.body):
        if language_call(node) in {"load", "store"} and isinstance(node, cst.Call):
            address = argument(node, 0, "pointer")
            for leaf in () if address is None else _leaves(jit, address, 6):
                tile = facts.values.get(leaf)
                symbols = set((tile.shape if tile else None) or ()) & names
                is_far = _is_strided(leaf, launches)
                (strided if is_far else contiguous).update(symbols)
    shaped = {name for name in names if shapes_with(jit, name)}
    return {
        name: Role.ROWS if name in strided - contiguous else Role.BLOCK for name in sorted(shaped)
    }


def _leaves(jit: Jit, node: cst.BaseExpression, hops: int) -> Iterator[cst.BaseExpression]:
    for leaf in additive_leaves(node):
        values = assignments(jit.node, leaf.value) if isinstance(leaf, cst.Name) else ()
        known = [each for each in values if each is not None]
        if known and hops:
            for value in known:
                yield from _leaves(jit, value, hops - 1)
        else:
            yield leaf


def _is_strided(leaf: cst.BaseExpression, launches: tuple[Launch, ...]) -> bool:
    if not isinstance(leaf, cst.BinaryOperation) or not isinstance(leaf.operator, cst.Multiply):
        return False
    for name in names_in(leaf):
        given = [each.arguments[name] for each in launches if name in each.arguments]
        units = ("1", ".stride(-1)", ".stride()[-1]")
        if given and all(text(each).endswith(units) for each in given):
            return False
    return True
