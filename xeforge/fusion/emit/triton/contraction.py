"""Kernels around a matrix product: factors with arithmetic before it, statements behind it."""

import math
from collections.abc import Sequence

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.emit.triton.epilogue import Epilogue
from xeforge.fusion.emit.triton.epilogue import Layout
from xeforge.fusion.emit.triton.factors import Described
from xeforge.fusion.emit.triton.factors import Factor
from xeforge.fusion.emit.triton.factors import described_output
from xeforge.fusion.emit.triton.factors import factors_of
from xeforge.fusion.emit.triton.frame import Frame
from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.kernel import Config
from xeforge.fusion.emit.triton.kernel import HostDescriptor
from xeforge.fusion.emit.triton.kernel import Kernel
from xeforge.fusion.emit.triton.pad import padded_k
from xeforge.fusion.emit.triton.statements import group_sizes
from xeforge.fusion.emit.triton.statements import stores_halves
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.text import Lines
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.emit.triton.text import call_lines
from xeforge.fusion.emit.triton.text import scoped
from xeforge.fusion.emit.triton.tile import Problem
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.values import Text
from xeforge.fusion.emit.triton.values import Values
from xeforge.fusion.emit.triton.words import CannotEmit
from xeforge.fusion.emit.triton.words import language_dtype
from xeforge.fusion.emit.triton.words import needs_64_bits
from xeforge.fusion.fuse.contraction import folded
from xeforge.fusion.ir import Program
from xeforge.fusion.plan import Group


def problem_of(group: Group, program: Program) -> Problem:
    """Return the sizes of a contraction, by which tiles are chosen."""
    arrays = program.arrays_by_name()
    pair = factors_of(group, arrays)
    has_folds = bool(folded(group))
    stored = [DTYPES[arrays[name].dtype].size_bytes for name in group.stored]
    return Problem(
        batch=group.extent("batch"),
        m=group.extent("m"),
        n=group.extent("n"),
        k=group.extent("k"),
        dtype=pair[0].dtype,
        folded=math.prod(each.extent for each in folded(group)),
        may_describe=all(each.described is not None for each in pair),
        padded_k=padded_k(group, program) if all(each.is_plain for each in pair) else 0,
        may_split=len(group.axes["k"]) == 1 and not has_folds,
        # What is folded is laid out again through shared memory, in float32.
        result_bytes=max((*stored, 4) if has_folds else stored, default=4),
    )


def emit_contraction(
    group: Group, program: Program, target: TritonTarget, tiles: Sequence[Tile]
) -> Kernel:
    """Return the kernel of a group of family ``contraction``.

    Args:
        group: Well-formed.
        program: Whose.
        target: What it is made for.
        tiles: At least one; all of one form, parts and precision.

    Raises:
        CannotEmit: No matrix unit takes the dtype of the factors.
    """
    writer = _Contraction(group, program, tiles)
    writer.write()
    is_persistent = tiles[0].form == "persistent"
    grids = [writer.layout.tile_count(each) for each in tiles]
    grid = str(min(grids[0], target.units) if is_persistent else grids[0])
    if len(tiles) > 1:
        grid = writer.layout.grid_text(target.units if is_persistent else None)
    return Kernel(
        name=f"{group.name}_kernel",
        summary="",
        lines=writer.lines.text(),
        arguments=dict(writer.values.pointers),
        configs=[Config(writer.layout.blocks(each), each.warps, each.stages) for each in tiles],
        grid=grid,
        helpers=frozenset(writer.values.helpers),
        needs_allocator=writer.has_descriptors,
        descriptors=writer.hosted,
    )


class _Contraction:
    """Writes the body of one kernel."""

    def __init__(self, group: Group, program: Program, tiles: Sequence[Tile]) -> None:
        self.group = group
        self.tile = tiles[0]
        self.lines = Lines()
        self._names = Names()
        self.has_descriptors = False
        self.hosted: dict[str, HostDescriptor] = {}
        arrays = program.arrays_by_name()
        self._pair = factors_of(group, arrays)
        root = group.statements[0]
        if root.reduce is None or root.reduce.dtype != "float32":
            raise CannotEmit(f"{root.name}: products are not summed in float32")
        has_all = all(each.described is not None for each in self._pair) and not folded(group)
        if self.tile.beside and (self.tile.form == "pointers" or not has_all):
            raise CannotEmit(f"{root.name}: no columns beside without descriptors, or with folds")
        self.layout = Layout.of(group, self._names, tiles)
        names, layout = self._names, self.layout
        spans = (layout.batch, layout.m, layout.n)
        self._k = Span(names.fresh("k"), tuple(group.axes["k"]), is_block=True)
        frame = Frame(names, (*spans, self._k))
        is_short = stores_halves(group, arrays)
        self.values = Values(frame, names, arrays, self.lines, is_short=is_short)
        self._is_long = needs_64_bits(*group_sizes(group, program))
        self._described: dict[str, str] = {}
        self._results: dict[str, tuple[str, bool]] = {}
        self._beside: dict[str, tuple[str, bool]] = {}

    def write(self) -> None:
        """Write all lines."""
        if self.tile.form != "pointers":
            self._describe_all()
        lines = self.lines
        lines.add(*self.layout.count_lines())
        tile = self._names.fresh("tile")
        start = "tl.program_id(0).to(tl.int64)" if self._is_long else "tl.program_id(0)"
        if self.tile.form == "persistent":
            last = self.layout.tiles_text()
            # Flattened: the next tile's first loads start while this one's results are written.
            words = f"{start}, {last}, tl.num_programs(0), flatten=True"
            self.lines.add(f"for {tile} in tl.range({words}):")
            self.values.lines = self.lines.inner()
        else:
            self.lines.add(f"{tile} = {start}")
        lines = self.values.lines
        lines.add(*self.layout.place_lines(tile, self.values))
        for span in (self.layout.batch, self.layout.m, self.layout.n):
            lines.follow(span.parts)
        total, beside = self._product()
        epilogue = Epilogue(self.group, self.layout, self.values, self.tile, self._results)
        epilogue.write(total)
        if beside:
            epilogue.write_beside(beside, self._beside)

    def _describe_all(self) -> None:
        """Make descriptors of what lies as matrices: factors, and results that are stored."""
        layout, extent = self.layout, self.group.extent
        if not layout.is_even:
            return
        for factor in self._pair:
            if factor.described is not None:
                own = layout.m_block if factor.side == "m" else layout.n_block
                shape = (extent(factor.side), extent("k"))
                block = (own, layout.k_block)
                self._described[factor.side] = self._describe(factor.described, shape, block)
                if factor.side == "n" and layout.beside:
                    block = (layout.beside, layout.k_block)
                    self._described["beside"] = self._describe(factor.described, shape, block)
        if layout.pieces > 1:
            return
        parts = self.tile.parts if not layout.piece else 1
        columns = layout.n_block if parts == 1 else f"{layout.n_block} // {parts}"
        for stmt in self.group.statements:
            name = stmt.output.array
            found = described_output(stmt, self.group, self.values.arrays)
            if found is not None and name in self.group.stored and stmt.name in self._whole():
                shape = (extent("m"), extent("n"))
                made = self._describe(found, shape, (layout.m_block, columns))
                self._results[name] = (made, bool(found.batch_stride))
                if layout.beside:
                    made = self._describe(found, shape, (layout.m_block, layout.beside))
                    self._beside[name] = (made, bool(found.batch_stride))

    def _whole(self) -> set[str]:
        """Return the names of statements whose values are surely as large as the tile."""
        names: set[str] = set()
        arrays: set[str] = set()
        for place, stmt in enumerate(self.group.statements):
            reads = {each.access.array for each in stmt.reads()}
            if place == 0 or (stmt.reduce is None and reads & arrays):
                names.add(stmt.name)
                arrays.add(stmt.output.array)
        return names

    def _describe(self, found: Described, shape: tuple[int, int], block: tuple[str, str]) -> str:
        """Write a descriptor; return its variable."""
        name = self._names.fresh(f"{found.array}_tiles")
        sizes, sides, strides = list(shape), list(block), [found.stride, 1]
        if found.is_turned:
            sizes, sides = sizes[::-1], sides[::-1]
        if found.batch_stride:
            sizes = [self.group.extent("batch"), *sizes]
            strides, sides = [found.batch_stride, *strides], ["1", *sides]
        if self.tile.is_hosted and not found.constant:
            known = {**self.layout.blocks(self.tile), "1": 1, **self._halved()}
            blocks = tuple(known[each] for each in sides)
            self.hosted[name] = HostDescriptor(found.array, tuple(sizes), tuple(strides), blocks)
            return name
        pointer = self.values.pointer(found.array)
        start = f"{pointer} + {found.constant}" if found.constant else pointer
        words = (start, *(f"[{', '.join(map(str, each))}]" for each in (sizes, strides, sides)))
        self.lines.add(*call_lines(f"{name} = tl.make_tensor_descriptor", words))
        self.has_descriptors = True
        return name

    def _halved(self) -> dict[str, int]:
        """Return the columns of a part of the result, by their text."""
        parts = self.tile.parts
        return {f"{self.layout.n_block} // {parts}": self.tile.n // parts}

    def _product(self) -> tuple[str, str]:
        """Write the loop over k; return the accumulator, and that of the columns beside."""
        total = self._names.fresh("total")
        layout, width = self.layout, self.group.extent("k")
        outer = self.values.lines
        outer.add(f"{total} = tl.zeros(({layout.m_block}, {layout.n_block}), dtype=tl.float32)")
        beside = ""
        if layout.beside:
            beside = self._names.fresh("beside")
            zeros = f"tl.zeros(({layout.m_block}, {layout.beside}), dtype=tl.float32)"
            outer.add(f"{beside} = {zeros}")
        start = self._names.fresh("start")
        outer.add(f"for {start} in range(0, {width}, {layout.k_block}):")
        self.values.lines = outer.inner()
        self.values.padding = True
        with scoped(self.values.loaded):
            texts = [self._factor(each, start) for each in self._pair]
        self.values.padding = False
        precision = ""
        if self._pair[0].dtype == "float32":
            precision = f', input_precision="{self.tile.precision}"'
        if layout.beside:
            text = self._described_load(self._pair[1], start, is_beside=True)
            texts.append(self.values.named(text, "b", self._pair[1].dtype))
        for name, other in zip((total, beside), texts[1:], strict=False):
            self.values.lines.add(f"{name} = tl.dot({texts[0]}, {other}, {name}{precision})")
        self.values.lines = outer
        return total, beside

    def _factor(self, factor: Factor, start: str) -> str:
        """Write what reads and computes a tile of a factor; return its variable."""
        name = "a" if factor.side == "m" else "b"
        if factor.side in self._described:
            return self.values.named(self._described_load(factor, start), name, factor.dtype)
        span = self._enter_k(factor, start)
        text = self.values.value(factor.value)
        if not factor.is_plain and span.inside is not None:
            # Padding need not stay zero under what is computed before the product.
            zero = f"tl.where({span.inside}, {self.values.typed(text, factor.dtype)}, 0.0)"
            text = Text(f"{zero}.to({language_dtype(factor.dtype)})")
        if factor.side == "n" and not factor.is_plain:
            text = Text(self.values.typed(text, factor.dtype), text.binding)
        return self.values.named(text, name, factor.dtype)

    def _enter_k(self, factor: Factor, start: str) -> Span:
        """Write positions along k, in the direction in which a factor needs them."""
        layout, width = self.layout, self.group.extent("k")
        side = "[None, :]" if factor.side == "m" else "[:, None]"
        name = self._names.fresh("k_across" if factor.side == "m" else "k_down")
        is_ragged = any(width % each.k for each in layout.tiles)
        inside = self._names.fresh(f"{name}_inside") if is_ragged else None
        span = Span(name, tuple(self.group.axes["k"]), is_block=True, inside=inside)
        self.values.frame.replace(self._k, span)
        self._k = span
        lanes = f"{start} + tl.arange(0, {layout.k_block}){side}"
        self.values.lines.add(
            f"{name} = ({lanes}).to(tl.int64)" if self._is_long else f"{name} = {lanes}"
        )
        if inside is not None:
            self.values.lines.add(f"{inside} = {name} < {width}")
        self.values.lines.follow(span.parts)
        return span

    def _described_load(self, factor: Factor, start: str, *, is_beside: bool = False) -> Text:
        found, layout = factor.described, self.layout
        if found is None:
            raise TypeError(factor.side)
        own, block = layout.origin(factor.side)
        if is_beside:
            own, block = f"{own} + {block}", layout.beside
        place, sizes = [own, start], [block, layout.k_block]
        if found.is_turned:
            place, sizes = place[::-1], sizes[::-1]
        if found.batch_stride:
            place = [layout.batch.index, *place]
        name = self._described["beside" if is_beside else factor.side]
        text = f"{name}.load([{', '.join(place)}])"
        if found.batch_stride:
            text += f".reshape({', '.join(sizes)})"
        # The matrix unit wants k to run along the columns of a, and along the rows of b.
        is_transposed = found.is_turned == (factor.side == "m")
        return Text(f"{text}.T" if is_transposed else text)
