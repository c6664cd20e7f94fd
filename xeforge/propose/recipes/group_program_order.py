"""Let neighbouring programs work on tiles that share operands, so that caches serve them.

Before:  pid_m = tl.program_id(0)                 grid (tiles_m, tiles_n)
         pid_n = tl.program_id(1)
After:   pid = tl.program_id(0)                   grid (tiles_m * tiles_n,)
         pid_m, pid_n from groups of GROUP_M rows of tiles, columns inside a group first

The same for kernels that cut one program id row by row (``pid // tiles_n``, ``pid % tiles_n``).
GROUP_M becomes a knob of the configuration search.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from xeforge.domain.device import Device
from xeforge.domain.problem import Problem
from xeforge.propose.grids import grid_tuple
from xeforge.propose.kernel_edits import adding_constexpr
from xeforge.propose.kernel_edits import fresh_name
from xeforge.propose.kernel_edits import is_called_by_kernels
from xeforge.propose.kernel_edits import passing
from xeforge.propose.kernel_edits import statements
from xeforge.propose.rewrite import Rewrite
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.kernel_tree import assignments
from xeforge.source.kernel_tree import parse_tree
from xeforge.source.kernel_tree import uses
from xeforge.source.knob_roles import divisors
from xeforge.source.knob_roles import is_group
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import Replacement
from xeforge.source.syntax_tree import argument
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import integer
from xeforge.source.syntax_tree import language_call
from xeforge.source.syntax_tree import replace
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import unparenthesized
from xeforge.source.syntax_tree import walk
from xeforge.source.tile_values import follow

NAME = "group_program_order"
STAGE = "device_specific"
CURES = frozenset({"no_swizzling"})
CARRIES_OUT: tuple[str, ...] = ("tiles.group_tile_rows", "nvidia.l2_of_two_halves")

_FIRST_GROUP = 8
_BATCH_AXIS = 2


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """How a kernel finds its tile at present.

    Attributes:
        jit: The kernel.
        row, column: Names of the tile coordinates.
        first, second: The two statements that set them, in file order.
        tiles: Text of the number of tiles along columns, in kernel terms; empty when unknown.
        pid: Text of the linear program id, when the kernel already has one.
        axes: Program axes of row and column, when the grid has one for each.
        block: Name of the tile's width.
    """

    jit: Jit
    row: str
    column: str
    first: cst.SimpleStatementLine
    second: cst.SimpleStatementLine
    tiles: str
    pid: str
    axes: tuple[int, int] | None
    block: str


def apply(source: str, problem: Problem, device: Device) -> tuple[Rewrite, ...]:
    """Group the program order of every product kernel that has none yet."""
    del problem, device
    tree = parse_tree(source)
    changes: dict[cst.CSTNode, Replacement] = {}
    names: list[str] = []
    for kernel in dict.fromkeys(each.kernel for each in tree.launches):
        order = _present_order(tree, tree.jits[kernel])
        if order is not None and not is_called_by_kernels(tree, order.jit):
            changes.update(_regrouped(tree, order))
            names.append(kernel)
    if not changes:
        return ()
    because = (
        f"{', '.join(names)}: programs go through {_FIRST_GROUP} rows of tiles column by column, "
        "so that neighbours find operands in the cache"
    )
    line = min(tree.line(tree.jits[name].node) for name in names)
    return (Rewrite(replace(tree.module, changes).code, because, line, CARRIES_OUT),)


def _present_order(tree: KernelTree, jit: Jit) -> _Order | None:
    facts = follow(tree, jit)
    sized = [each for each in facts.dots if {each.m, each.n} <= jit.constexprs]
    is_grouped = any(is_group(jit, name) for name in jit.constexprs)
    is_swizzled = any(language_call(each) == "swizzle2d" for each in walk(jit.node.body))
    if not sized or is_grouped or is_swizzled or sized[0].m == sized[0].n:
        return None
    block_m, block_n = sized[0].m, sized[0].n
    row, column = _multiplied_by(jit, block_m), _multiplied_by(jit, block_n)
    if row is None or column is None or row == column:
        return None
    lines = [each for each in jit.node.body.body if isinstance(each, cst.SimpleStatementLine)]
    setting = [each for each in lines if _sets(each) in {row, column}]
    if len(setting) != len((row, column)) or setting[0] is setting[-1]:
        return None
    between = lines[lines.index(setting[0]) + 1 : lines.index(setting[1])]
    if any(uses(each, name) for each in between for name in (row, column)):
        return None
    row_value, column_value = assignments(jit.node, row)[0], assignments(jit.node, column)[0]
    if row_value is None or column_value is None:
        return None
    order = _Order(jit, row, column, setting[0], setting[1], "", "", None, block_n)
    return _from_axes(order, row_value, column_value) or _from_division(
        order, row_value, column_value
    )


def _multiplied_by(jit: Jit, block: str) -> str | None:
    found = set()
    for node in walk(jit.node.body):
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if text(other) == block and isinstance(one, cst.Name):
                    found.add(one.value)
    candidates = [name for name in sorted(found) if _is_tile_number(jit, name)]
    return candidates[0] if len(candidates) == 1 else None


def _is_tile_number(jit: Jit, name: str) -> bool:
    values = assignments(jit.node, name)
    value = values[0] if len(values) == 1 else None
    if value is None:
        return False
    if _axis(value) is not None:
        return True
    return isinstance(value, cst.BinaryOperation) and isinstance(
        value.operator, cst.FloorDivide | cst.Modulo
    )


def _sets(line: cst.SimpleStatementLine) -> str:
    part = line.body[0]
    if len(line.body) == 1 and isinstance(part, cst.Assign) and len(part.targets) == 1:
        return text(part.targets[0].target)
    return ""


def _axis(node: cst.BaseExpression) -> int | None:
    if language_call(node) != "program_id" or not isinstance(node, cst.Call):
        return None
    return integer(argument(node, 0, "axis"))


def _from_axes(order: _Order, row: cst.BaseExpression, column: cst.BaseExpression) -> _Order | None:
    axes = (_axis(row), _axis(column))
    if axes in {(0, 1), (1, 0)}:
        return _with(order, axes=(axes[0] or 0, axes[1] or 0))
    return None


def _from_division(
    order: _Order, row: cst.BaseExpression, column: cst.BaseExpression
) -> _Order | None:
    if not isinstance(row, cst.BinaryOperation) or not isinstance(column, cst.BinaryOperation):
        return None
    if not isinstance(row.left, cst.Name) or text(row.left) != text(column.left):
        return None
    if text(row.right) != text(column.right):
        return None
    values = assignments(order.jit.node, row.left.value)
    if len(values) != 1 or values[0] is None or _axis(values[0]) != 0:
        return None
    if isinstance(row.operator, cst.FloorDivide) and isinstance(column.operator, cst.Modulo):
        return _with(order, pid=row.left.value, tiles=code(row.right))
    return None


def _with(
    order: _Order, *, axes: tuple[int, int] | None = None, pid: str = "", tiles: str = ""
) -> _Order:
    return _Order(
        order.jit, order.row, order.column, order.first, order.second, tiles, pid, axes, order.block
    )


def _regrouped(tree: KernelTree, order: _Order) -> Iterator[tuple[cst.CSTNode, Replacement]]:
    launches = tree.launches_of(order.jit.name)
    group = fresh_name("GROUP_M", order.jit.node)
    grids = [grid_tuple(tree, each) for each in launches]
    tiles = order.tiles or _tiles_in_kernel(tree, order, launches, grids)
    lines = _grouped_lines(order, group, tiles)
    new = statements(lines, tree.module)
    lead = order.first.leading_lines
    new[0] = new[0].with_changes(leading_lines=lead)
    yield order.first, lambda _: cst.RemoveFromParent()
    yield order.second, lambda _: cst.FlattenSentinel(new)
    yield order.jit.node.params, adding_constexpr(group, str(_FIRST_GROUP))
    for launch in launches:
        yield launch.call, passing(group, _FIRST_GROUP)
    if order.axes is not None and tiles:
        for grid in dict.fromkeys(grids):
            if grid is not None:
                yield grid, _flattened
        for node in walk(order.jit.node.body):
            if isinstance(node, cst.Call) and _axis(node) == _BATCH_AXIS:
                yield node, lambda _: cst.parse_expression("tl.program_id(1)")


def _tiles_in_kernel(
    tree: KernelTree,
    order: _Order,
    launches: tuple[Launch, ...],
    grids: list[cst.Tuple | None],
) -> str:
    """Return the number of tiles along columns in kernel terms, from how the grid counts them."""
    assert order.axes is not None  # noqa: S101 - only called for kernels with one axis each
    found = set()
    for launch, grid in zip(launches, grids, strict=True):
        if grid is None or len(grid.elements) <= max(order.axes) or _is_shared(tree, launch, grid):
            return ""
        counted = list(divisors(grid.elements[order.axes[1]].value))
        dividends = [each.dividend for each in counted if each.dividend is not None]
        wanted = unparenthesized(dividends[0]) if len(dividends) == 1 else ""
        names = [
            name for name, given in launch.arguments.items() if unparenthesized(given) == wanted
        ]
        found.add(names[0] if names else "")
    if len(found) != 1 or "" in found:
        return ""
    return f"tl.cdiv({found.pop()}, {order.block})"


def _is_shared(tree: KernelTree, launch: Launch, grid: cst.Tuple) -> bool:
    return any(
        other.kernel != launch.kernel and grid_tuple(tree, other) is grid for other in tree.launches
    )


def _grouped_lines(order: _Order, group: str, tiles: str) -> list[str]:
    node = order.jit.node
    pid, per = order.pid or fresh_name("pid", node), fresh_name("pids_per_group", node)
    columns, first = fresh_name("num_pid_n", node), fresh_name("first_pid_m", node)
    rows, height = fresh_name("num_pid_m", node), fresh_name("group_height", node)
    lines = []
    if tiles:
        if not order.pid:
            lines.append(f"{pid} = tl.program_id(0)")
        if tiles.isidentifier():
            columns = tiles
        else:
            lines.append(f"{columns} = {tiles}")
        lines.append(f"{rows} = tl.num_programs(0) // {columns}")
    else:
        axis_m, axis_n = order.axes or (0, 1)
        lines.append(f"{pid} = tl.program_id(0) + tl.program_id(1) * tl.num_programs(0)")
        lines.append(f"{rows} = tl.num_programs({axis_m})")
        lines.append(f"{columns} = tl.num_programs({axis_n})")
    return [
        *lines,
        f"{per} = {group} * {columns}",
        f"{first} = {pid} // {per} * {group}",
        f"{height} = min({rows} - {first}, {group})",
        f"{order.row} = {first} + {pid} % {per} % {height}",
        f"{order.column} = {pid} % {per} // {height}",
    ]


def _flattened(node: cst.CSTNode) -> cst.CSTNode:
    if not isinstance(node, cst.Tuple):
        return node
    first, second, *rest = (each.value for each in node.elements)
    product = cst.BinaryOperation(_grouped(first), cst.Multiply(), _grouped(second))
    elements = [cst.Element(product), *(cst.Element(each) for each in rest)]
    return node.with_changes(elements=elements)


def _grouped(node: cst.BaseExpression) -> cst.BaseExpression:
    is_simple = isinstance(node, cst.Name | cst.Call | cst.Attribute | cst.Subscript | cst.Integer)
    if is_simple or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
