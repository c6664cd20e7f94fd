"""Sums of products: packed panels, a tile of sums in registers, then the rest of the group by rows.

One factor is packed whole, in panels as wide as the tile in registers. A task owns a block of
rows and of columns: it packs its part of the other factor piece by piece along k, adds up the
block in its own memory, and applies the remaining statements while the block is in its cache.
"""

from dataclasses import replace

from xeforge.fusion.affine import axis
from xeforge.fusion.emit.c import nest
from xeforge.fusion.emit.c.axes import is_near
from xeforge.fusion.emit.c.expression import expression
from xeforge.fusion.emit.c.kernel import Context
from xeforge.fusion.emit.c.kernel import Kernel
from xeforge.fusion.emit.c.kernel import Memory
from xeforge.fusion.emit.c.kernel import pointer
from xeforge.fusion.emit.c.kernel import points
from xeforge.fusion.emit.c.lines import Lines
from xeforge.fusion.emit.c.memory import aligned
from xeforge.fusion.emit.c.micro import Micro
from xeforge.fusion.emit.c.numbers import number
from xeforge.fusion.emit.c.product import Blocks
from xeforge.fusion.emit.c.product import Product
from xeforge.fusion.emit.c.product import choose_blocks
from xeforge.fusion.emit.c.product import decode
from xeforge.fusion.emit.c.product import prepared
from xeforge.fusion.emit.c.row import Row
from xeforge.fusion.emit.c.row import scratch_bytes
from xeforge.fusion.emit.c.row import write_row
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import AxisRole
from xeforge.fusion.plan import Group

PACKED_TERMS = 64
"""Terms of a panel that are packed at a time: they stay in the first cache."""

NEAR_LINES = 8
"""Lines along n that are packed at a time for all panels."""


def emit(group: Group, context: Context) -> Kernel:
    """Emit a contraction with what follows it."""
    product, context = prepared(group, context)
    blocks = choose_blocks(product, context)
    writer = _Writer(product, blocks, context)
    lines = Lines()
    if product.size("m") <= context.limits.dot_rows and not writer.is_near("n"):
        with lines.block(""):
            _dots(lines, group.statements[0], product, context)
            writer.rows(lines)
        return Kernel(
            lines.text(), work_bytes=writer.sums_bytes, scratch_bytes=writer.scratch_bytes
        )
    with lines.block(""):
        writer.pack(lines)
        writer.tasks(lines)
    return Kernel(lines.text(), work_bytes=writer.work_bytes, scratch_bytes=writer.scratch_bytes)


def _dots(lines: Lines, root: Stmt, product: Product, context: Context) -> None:
    """Write the sums as single folds: with few rows, packing would cost more than it saves."""
    own = {name for role in ("m", "k") for axes in (product.given[role],) for name in axes}
    order = (
        *(each for each in root.axes if each.name not in own),
        *(each for each in root.axes if each.name in product.given["m"]),
        *(each for each in root.axes if each.name in product.given["k"]),
    )
    extents = root.extents()
    places = tuple(name for role in ("batch", "m", "n") for name in product.given[role])
    shape = tuple(extents[name] for name in places)
    value = number(product.reduce.dtype).value
    dtype = "float64" if value == "double" else "float32"
    array = Array(product.sums, shape, dtype, "intermediate")
    lines.add(f"{value} *restrict {pointer(array.name)} = ({value} *)work;")
    output = Access(array.name, tuple(axis(name) for name in places))
    context = replace(context, arrays={**context.arrays, array.name: array})
    nest.write(lines, replace(root, axes=order, output=output), context)


class _Writer:
    """The two loops of a contraction: packing, and tasks."""

    def __init__(self, product: Product, blocks: Blocks, context: Context) -> None:
        self.product = product
        self.blocks = blocks
        self.context = context
        self.value = number(product.reduce.dtype).value
        self.size = 8 if self.value == "double" else 4
        micro = blocks.micro
        self.count = -(-product.size("n") // blocks.columns)
        self.panel = product.size("k") * micro.columns
        panels = product.size("batch") * self.count * blocks.panels
        self.work_bytes = aligned(panels * self.panel * self.size)
        sums = product.size("batch") * product.size("m") * product.size("n")
        self.sums_bytes = aligned(sums * self.size)
        self.left_bytes = aligned(blocks.rows * blocks.depth * self.size)
        self.tile_bytes = aligned(blocks.rows * blocks.stride * self.size)
        self.row = self._row()
        self.scratch_bytes = self.left_bytes + self.tile_bytes + aligned(scratch_bytes(self.row))

    def _row(self) -> Row:
        product = self.product
        if product.folded:
            source, low, high = "sums[{0}]", "0", ""
        else:
            source, low, high = "sums[{0} - first]", "first", "first + columns"
        columns = product.folded or product.axes["n"]
        sources = {product.sums: source.format}
        return Row(product.rest, columns, product.stored, sources, self.context, low, high)

    def pack(self, lines: Lines) -> None:
        """Write the loop that packs the factor that knows n, block by block."""
        product, blocks, micro = self.product, self.blocks, self.blocks.micro
        is_parallel = points(product.root.axes) >= self.context.limits.parallel_points
        lines.add(f"{self.value} *restrict packed = ({self.value} *)work;")
        terms = product.size("k")
        heads = [
            f"for (int64_t batch = 0; batch < {product.size('batch')}; batch++)",
            f"for (int64_t block = 0; block < {self.count}; block++)",
        ]
        panel = f"for (int64_t panel = 0; panel < {blocks.panels}; panel++)"
        # Lines of the factor are read side by side: along k a panel at a time, along n a few
        # lines for all panels.
        is_near = self.is_near("n")
        few = f"for (int64_t low = 0; low < {terms}; low += {NEAR_LINES})"
        heads.append(few if is_near else panel)
        if is_parallel:
            lines.pragma("parallel for collapse(3) schedule(static)")
        with lines.blocks(*heads):
            decode(lines, "batch", product.axes["batch"])
            lines.add(f"const int64_t end = {_least(self._left('block'), blocks.columns)};")
            with lines.blocks(*([panel] if is_near else [])):
                at = f"(batch * {self.count} + block) * {blocks.panels} + panel"
                start = f"packed + ({at}) * {self.panel}"
                first = f"block * {blocks.columns}"
                lines.add(
                    f"{self.value} *restrict to = {start}{f' + low * {micro.columns}' * is_near};",
                    f"const int64_t first = {first} + panel * {micro.columns};",
                    f"const int64_t stop = {first} + end;",
                )
                if is_near:
                    ends = f"low + {NEAR_LINES} < {terms}"
                    lines.add(f"const int64_t high = {ends} ? low + {NEAR_LINES} : {terms};")
                    self._near_panel(lines, "n", micro.columns, ("low", "high"))
                else:
                    self._far_panel(lines, "n", micro.columns, ("0", str(terms)))

    def _left(self, block: str) -> str:
        return f"{self.product.size('n')} - {block} * {self.blocks.columns}"

    def _near_panel(self, lines: Lines, role: AxisRole, width: int, terms: tuple[str, str]) -> None:
        """Write the loops that fill ``to`` with a factor whose neighbours lie side by side."""
        low, high = terms
        place = f"to[(k - {low}) * {width} + lane]"
        with lines.block(f"for (int64_t k = {low}; k < {high}; k++)"):
            decode(lines, "k", self.product.axes["k"])
            lines.pragma("simd")
            with lines.block(f"for (int64_t lane = 0; lane < {width}; lane++)"):
                lines.add("const int64_t here = first + lane;")
                decode(lines, "here", self.product.axes[role])
                lines.add(f"{place} = here < stop ? {self._factor(role)} : 0;")

    def _far_panel(self, lines: Lines, role: AxisRole, width: int, terms: tuple[str, str]) -> None:
        """Write the loops that fill ``to`` with a factor that is walked along k, then turned."""
        low, high = terms
        axes = self.product.axes
        cut = f"for (int64_t from = {low}; from < {high}; from += {PACKED_TERMS})"
        with lines.block(cut):
            ends = f"from + {PACKED_TERMS} < {high}"
            whole = -(-width // 8) * 8
            lines.add(
                f"const int64_t until = {ends} ? from + {PACKED_TERMS} : {high};",
                f"{self.value} lines[{whole}][{PACKED_TERMS}];",
            )
            with lines.block(f"for (int64_t lane = 0; lane < {width}; lane++)"):
                lines.add("const int64_t here = first + lane;")
                with lines.block("if (here >= stop)"):
                    lines.add("memset(lines[lane], 0, sizeof lines[lane]);", "continue;")
                decode(lines, "here", axes[role])
                if len(axes["k"]) == 1:
                    lines.pragma("simd")
                with lines.block("for (int64_t k = from; k < until; k++)"):
                    decode(lines, "k", axes["k"])
                    lines.add(f"lines[lane][k - from] = {self._factor(role)};")
            start = f"to + (from - {low}) * {width}"
            suffix = self.blocks.micro.suffix
            turn = f"xf_turn_{suffix}(lines[0], {PACKED_TERMS}, until - from, {start}, {width});"
            lines.add(turn)

    def _factor(self, role: AxisRole) -> str:
        extents = self.product.root.extents()
        return expression(self.product.factor(role), extents, Memory(extents))

    def is_near(self, role: AxisRole) -> bool:
        """Say whether neighbours along m or n lie side by side."""
        axes = self.product.axes[role]
        whole = replace(self.product.root, body=self.product.factor(role))
        found = [each.access.index[0] for each in whole.reads()]
        return len(axes) == 1 and all(is_near(of, axes[0].name) for of in found)

    def tasks(self, lines: Lines) -> None:
        """Write the loop over blocks."""
        product, blocks, micro = self.product, self.blocks, self.blocks.micro
        rows = product.size("m")
        if points(product.root.axes) >= self.context.limits.parallel_points:
            lines.pragma("parallel for collapse(3) schedule(dynamic)")
        heads = [
            f"for (int64_t batch = 0; batch < {product.size('batch')}; batch++)",
            f"for (int64_t top = 0; top < {rows}; top += {blocks.rows})",
            f"for (int64_t block = 0; block < {self.count}; block++)",
        ]
        with lines.blocks(*heads):
            lines.add(
                f"char *mine = scratch + (size_t)omp_get_thread_num() * {self.scratch_bytes};",
                f"{self.value} *left = ({self.value} *)mine;",
                f"{self.value} *tile = ({self.value} *)(mine + {self.left_bytes});",
                f"const int64_t rows = {_least(f'{rows} - top', blocks.rows)};",
                f"const int64_t first = block * {blocks.columns};",
                f"const int64_t columns = {_least(self._left('block'), blocks.columns)};",
                f"const {self.value} *right = packed + {self._block()};",
            )
            decode(lines, "batch", product.axes["batch"])
            terms = product.size("k")
            with lines.block(f"for (int64_t term = 0; term < {terms}; term += {blocks.depth})"):
                self._multiply(lines, micro)
            with lines.block("for (int64_t line = 0; line < rows; line++)"):
                self._finish(lines, blocks.stride)

    def _block(self) -> str:
        return f"(batch * {self.count} + block) * {self.blocks.panels * self.panel}"

    def rows(self, lines: Lines) -> None:
        """Write the loop over rows whose sums are in memory already."""
        product = self.product
        rows, columns = product.size("m"), product.size("n")
        if product.size("batch") * rows * columns >= self.context.limits.parallel_points:
            lines.pragma("parallel for collapse(2) schedule(static)")
        heads = (
            f"for (int64_t batch = 0; batch < {product.size('batch')}; batch++)",
            f"for (int64_t line = 0; line < {rows}; line++)",
        )
        with lines.blocks(*heads):
            lines.add(
                f"char *mine = scratch + (size_t)omp_get_thread_num() * {self.scratch_bytes};",
                f"const int64_t top = 0, first = 0, columns = {columns};",
                f"const {self.value} *tile = {pointer(product.sums)} + batch * {rows * columns};",
            )
            decode(lines, "batch", product.axes["batch"])
            self._finish(lines, columns)

    def _multiply(self, lines: Lines, micro: Micro) -> None:
        blocks, terms = self.blocks, self.product.size("k")
        lines.add(f"const int64_t depth = {_least(f'{terms} - term', blocks.depth)};")
        with lines.block(f"for (int64_t at = 0; at < rows; at += {micro.rows})"):
            lines.add(
                f"{self.value} *restrict to = left + at * depth;",
                "const int64_t first = top + at, stop = top + rows;",
            )
            panel = self._near_panel if self.is_near("m") else self._far_panel
            panel(lines, "m", micro.rows, ("term", "(term + depth)"))
        with lines.blocks(
            f"for (int64_t across = 0; across < columns; across += {micro.columns})",
            f"for (int64_t at = 0; at < rows; at += {micro.rows})",
        ):
            lines.add(
                f"const {self.value} *b = right + across * {terms} + term * {micro.columns};",
                f"{self.value} *c = tile + at * {blocks.stride} + across;",
                f"{micro.name}(depth, left + at * depth, b, c, {blocks.stride}, term > 0);",
            )

    def _finish(self, lines: Lines, stride: int) -> None:
        """Write the statements of a row of the tile."""
        product = self.product
        lines.add("const int64_t down = top + line;")
        decode(lines, "down", product.axes["m"])
        start = f"tile + line * {stride}"
        buffers = f"(mine + {self.left_bytes + self.tile_bytes})"
        if not product.folded:
            lines.add(f"const {self.value} *restrict sums = {start};")
            write_row(lines, self.row, buffers=buffers)
            return
        width = points(product.folded)
        with lines.block(f"for (int64_t part = 0; part < columns; part += {width})"):
            lines.add(f"const {self.value} *restrict sums = {start} + part;")
            if product.outer:
                lines.add(f"const int64_t across = (first + part) / {width};")
                decode(lines, "across", product.outer)
            write_row(lines, self.row, buffers=buffers)


def _least(left: str, most: int) -> str:
    return f"{left} < {most} ? {left} : {most}"
