"""A contraction with merged axes, and the sizes of its blocks."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from xeforge.fusion.emit.c.axes import merged
from xeforge.fusion.emit.c.index import axis_name
from xeforge.fusion.emit.c.index import flattened
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.micro import Micro
from xeforge.fusion.emit.c.micro import choose
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.functions import cast
from xeforge.fusion.functions import children
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Reduce
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group


@dataclass(frozen=True, slots=True)
class Product:
    """A contraction with merged axes.

    Attributes:
        root: The sum of products, flat.
        rest: A statement that takes the sums, and those after it, flat.
        axes: By role.
        folded: The last axes of n, which a row holds whole; () where rows may be cut.
        reduce: Of the root.
        sums: Name that stands for the tile of sums in `rest`.
        stored: Arrays that go to memory.
        given: Names of axes by role, before merging.
    """

    root: Stmt
    rest: tuple[Stmt, ...]
    axes: dict[AxisRole, tuple[Axis, ...]]
    folded: tuple[Axis, ...]
    reduce: Reduce
    sums: str
    stored: tuple[str, ...]
    given: Mapping[AxisRole, tuple[str, ...]]

    def size(self, role: AxisRole) -> int:
        """Return how many points the axes of a role have."""
        return points(self.axes[role])

    @property
    def outer(self) -> tuple[Axis, ...]:
        """The axes of n before the folded ones."""
        return self.axes["n"][: len(self.axes["n"]) - len(self.folded)]

    def factor(self, role: AxisRole) -> Expr:
        """Return the factor that knows the axes of m or n."""
        own = {each.name for each in self.axes[role]}
        return next(each for each in children(self.root.body) if own & known(self.root, each))


@dataclass(frozen=True, slots=True)
class Blocks:
    """Sizes, in elements.

    Attributes:
        micro: The tile in registers.
        rows: Of a block; whole tiles.
        columns: Of a block; whole rows of what is folded.
        depth: Terms between two packings.
    """

    micro: Micro
    rows: int
    columns: int
    depth: int

    @property
    def panels(self) -> int:
        """In a block."""
        return -(-self.columns // self.micro.columns)

    @property
    def stride(self) -> int:
        """From one row of the block to the next one."""
        return self.panels * self.micro.columns


def known(stmt: Stmt, part: Expr) -> frozenset[str]:
    """Return the axes that a part of a statement's body knows."""
    alone = replace(stmt, output=replace(stmt.output, index=()), body=part, reduce=None)
    return alone.used_axes()


def prepared(group: Group, context: Context) -> tuple[Product, Context]:
    """Flatten, merge axes, and let a statement take the sums from the tile."""
    root, *others = group.statements
    if root.reduce is None:
        raise ValueError(f"{group.name} starts with no sum")
    sums = f"{root.output.array}_sums"
    while sums in context.arrays:
        sums += "_"
    array = Array(sums, (), root.reduce.dtype, "intermediate")
    context = replace(context, arrays={**context.arrays, sums: array})
    taken = cast(Read(Access(sums, ()), array.dtype), context.arrays[root.output.array].dtype)
    axes = dict(group.axes)
    kept = tuple(each for role in ("batch", "m", "n") for each in axes[role])
    taker = replace(root, axes=kept, body=taken, reduce=None)
    flat = [flattened(each, context.arrays) for each in (root, taker, *others)]
    count = max((len(each.reduced()) for each in others), default=0)
    folded = axes["n"][len(axes["n"]) - count :]
    outer = axes["n"][: len(axes["n"]) - count]
    for role in ("batch", "m", "k"):
        axes[role], flat = merged(flat, axes[role])
    outer, flat = merged(flat, outer)
    folded, flat = merged(flat, folded)
    axes["n"] = (*outer, *folded)
    if not folded and len(outer) > 1:
        folded = outer[-1:]
    first, *rest = flat
    given = {role: tuple(each.name for each in own) for role, own in group.axes.items()}
    product = Product(first, tuple(rest), axes, folded, root.reduce, sums, group.stored, given)
    return product, context


def choose_blocks(product: Product, context: Context) -> Blocks:
    """Choose sizes so that panels fit the first cache and blocks the second one."""
    target = context.target
    rows, columns = product.size("m"), product.size("n")
    size = 8 if number(product.reduce.dtype).value == "double" else 4
    micro = choose(target, number(product.reduce.dtype).suffix, rows, columns)
    most = max(1, target.first_cache_bytes // 2 // (micro.columns * size))
    terms = product.size("k")
    depth = -(-terms // -(-terms // most))
    wide = target.cache_bytes // 2 // (target.limits.tile_rows * size)
    step = points(product.folded) if product.folded else micro.columns
    count = -(-columns // (max(1, wide // step) * step))
    block_columns = min(columns, -(-columns // (count * step)) * step)
    room = target.cache_bytes * 3 // 4 // (size * (block_columns + depth))
    block_rows = max(1, min(room, target.limits.tile_rows, rows) // micro.rows) * micro.rows
    others = product.size("batch") * -(-columns // block_columns)
    while block_rows > 2 * micro.rows and others * -(-rows // block_rows) < target.limits.few:
        block_rows = -(-block_rows // (2 * micro.rows)) * micro.rows
    return Blocks(micro, block_rows, block_columns, depth)


def decode(lines: Lines, flat: str, axes: Sequence[Axis]) -> None:
    """Give the axes of a role their values at a flat number."""
    below = 1
    for place, each in reversed(list(enumerate(axes))):
        text = f"{flat} / {below}" if below > 1 else flat
        if place:
            text = f"{text} % {each.extent}"
        lines.add(f"const int64_t {axis_name(each.name)} = {text};")
        below *= each.extent
