"""Where a contraction's tiles lie, and the statements that follow the product in registers."""

import math
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.fusion.emit.triton.folds import folded as folded_block
from xeforge.fusion.emit.triton.frame import Frame
from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.statements import finish
from xeforge.fusion.emit.triton.statements import tile_term
from xeforge.fusion.emit.triton.statements import varies_along
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.values import Text
from xeforge.fusion.emit.triton.values import Values
from xeforge.fusion.emit.triton.words import power_of_two
from xeforge.fusion.fuse.contraction import folded
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group


@dataclass(frozen=True, slots=True)
class Layout:
    """How the result is cut into tiles.

    Where folds need several pieces of n in one tile (the groups of a group norm), each piece is
    padded to a power of two; `piece` is then its length and `padded` what it takes up.

    Attributes:
        batch, m, n: Positions of a tile.
        m_block, n_block, k_block, group_m: Constexpr parameters.
        beside: Constexpr parameter of the columns with an accumulator of their own; empty: none.
        m_tiles, n_tiles: Variables with the number of tiles along m and n.
        m_start, n_start: Variables with the first position of a tile.
        sizes: Points of batch, m and n.
        piece: Elements of n that folds fold away; 0: there are no folds.
        padded: The next power of two.
        tiles: All that the kernel may be launched with; a mask is left out where none needs it.
    """

    batch: Span
    m: Span
    n: Span
    m_block: str
    n_block: str
    k_block: str
    group_m: str
    m_tiles: str
    n_tiles: str
    m_start: str
    n_start: str
    sizes: tuple[int, int, int]
    piece: int
    padded: int
    tiles: tuple[Tile, ...]
    beside: str = ""

    @classmethod
    def of(cls, group: Group, names: Names, tiles: Sequence[Tile]) -> "Layout":
        """Name everything, and find out which masks are needed."""
        blocks = [names.fresh(each) for each in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M")]
        sizes = (group.extent("batch"), group.extent("m"), group.extent("n"))
        piece = math.prod(each.extent for each in folded(group)) if folded(group) else 0
        padded = power_of_two(piece) if piece else 1
        is_even = piece in (0, padded) or piece == sizes[2]
        is_ragged = any(sizes[1] % each.m for each in tiles)
        m_inside = names.fresh("m_inside") if is_ragged else None
        is_ragged = not is_even or any(sizes[2] % each.columns for each in tiles)
        n_inside = names.fresh("n_inside") if is_ragged else None
        return cls(
            Span(names.fresh("batch"), tuple(group.axes["batch"]), is_block=False),
            Span(names.fresh("m"), tuple(group.axes["m"]), is_block=True, inside=m_inside),
            Span(names.fresh("n"), tuple(group.axes["n"]), is_block=True, inside=n_inside),
            **dict(zip(("m_block", "n_block", "k_block", "group_m"), blocks, strict=True)),
            m_tiles=names.fresh("tiles_m"),
            n_tiles=names.fresh("tiles_n"),
            m_start=names.fresh("m_start"),
            n_start=names.fresh("n_start"),
            sizes=sizes,
            piece=piece,
            padded=padded,
            tiles=tuple(tiles),
            beside=names.fresh("BESIDE_N") if tiles[0].beside else "",
        )

    @property
    def is_even(self) -> bool:
        """Say whether neighbours in a tile are neighbours along n."""
        return self.piece in (0, self.padded, self.sizes[2])

    @property
    def pieces(self) -> int:
        """Return how many pieces n has."""
        return self.sizes[2] // self.piece if self.piece else 1

    def blocks(self, tile: Tile) -> Mapping[str, int]:
        """Return the values of the constexpr parameters."""
        names = (self.m_block, self.n_block, self.k_block, self.group_m)
        found = dict(zip(names, (tile.m, tile.n, tile.k, tile.group_m), strict=True))
        return {**found, self.beside: tile.beside} if self.beside else found

    def tile_count(self, tile: Tile) -> int:
        """Return how many tiles there are."""
        across = math.ceil(self._padded_n() / tile.columns)
        return self.sizes[0] * math.ceil(self.sizes[1] / tile.m) * across

    def grid_text(self, units: int | None) -> str:
        """Return the number of programs in terms of the chosen config."""
        m = f'triton.cdiv({self.sizes[1]}, meta["{self.m_block}"])'
        columns = f'meta["{self.n_block}"]'
        columns += f' + meta["{self.beside}"]' if self.beside else ""
        n = f"triton.cdiv({self._padded_n()}, {columns})"
        count = f"{m} * {n}" + (f" * {self.sizes[0]}" if self.sizes[0] > 1 else "")
        return count if units is None else f"min({units}, {count})"

    def tiles_text(self) -> str:
        """Return the number of tiles in terms of variables."""
        lead = f"{self.sizes[0]} * " if self.sizes[0] > 1 else ""
        return f"{lead}{self.m_tiles} * {self.n_tiles}"

    def count_lines(self) -> list[str]:
        """Return the lines that say how many tiles there are."""
        return [
            f"{self.m_tiles} = tl.cdiv({self.sizes[1]}, {self.m_block})",
            f"{self.n_tiles} = tl.cdiv({self._padded_n()}, {self._columns()})",
        ]

    def _columns(self) -> str:
        return f"{self.n_block} + {self.beside}" if self.beside else self.n_block

    def _padded_n(self) -> int:
        return self.sizes[2] if self.is_even else self.pieces * self.padded

    def origin(self, side: str) -> tuple[str, str]:
        """Return the first position of a tile along a side, and its size."""
        return (self.m_start, self.m_block) if side == "m" else (self.n_start, self.n_block)

    def place_lines(self, tile: str, values: Values) -> list[str]:
        """Return the lines that find out where a tile lies."""
        values.helpers.add("grouped")
        across = f"{self.m_tiles}, {self.n_tiles}"
        lines, within = [], tile
        if self.sizes[0] > 1:
            count = f"({self.m_tiles} * {self.n_tiles})"
            lines.append(f"{self.batch.index} = {tile} // {count}")
            within = f"{tile} % {count}"
        rows, columns = values.names.fresh("tile_m"), values.names.fresh("tile_n")
        width = f"({self._columns()})" if self.beside else self.n_block
        lines += [
            f"{rows}, {columns} = _grouped({within}, {across}, {self.group_m})",
            f"{self.m_start} = {rows} * {self.m_block}",
            f"{self.n_start} = {columns} * {width}",
            f"{self.m.index} = {self.m_start} + tl.arange(0, {self.m_block})[:, None]",
        ]
        if self.m.inside is not None:
            lines.append(f"{self.m.inside} = {self.m.index} < {self.sizes[1]}")
        lane = f"{self.n_start} + tl.arange(0, {self.n_block})[None, :]"
        if self.is_even:
            lines.append(f"{self.n.index} = {lane}")
            if self.n.inside is not None:
                lines.append(f"{self.n.inside} = {self.n.index} < {self.sizes[2]}")
            return lines
        name = values.names.fresh("lane")
        within = f"{name} % {self.padded}"
        return [
            *lines,
            f"{name} = {lane}",
            f"{self.n.index} = {name} // {self.padded} * {self.piece} + {within}",
            f"{self.n.inside} = ({within} < {self.piece}) & ({self.n.index} < {self.sizes[2]})",
        ]


class Epilogue:
    """Writes the statements behind a product.

    Args:
        group: The contraction.
        layout: Of its tiles.
        values: Of the kernel; lines go where its lines go.
        tile: Says in how many parts the result leaves.
        results: Descriptor of arrays that are stored through one, and whether it has batches.
    """

    def __init__(
        self,
        group: Group,
        layout: Layout,
        values: Values,
        tile: Tile,
        results: Mapping[str, tuple[str, bool]],
    ) -> None:
        self.group = group
        self.layout = layout
        self.values = values
        self.tile = tile
        self.results = results
        self.folded = frozenset(each.name for each in folded(group))
        self._shape = f"({layout.m_block}, {layout.n_block})"
        self._fold_axis = 1
        self._along = layout.n
        self._rest: tuple[Span, ...] = ()
        self._m = layout.m
        self._columns = layout.n_block
        self._first = layout.n_start

    def write(self, total: str) -> None:
        """Write everything that follows, given the accumulator."""
        if self.layout.pieces > 1:
            total = self._in_pieces(total)
        elif self.tile.parts > 1 and not self.folded:
            self._in_halves(total)
            return
        self._statements(total)

    def _statements(self, total: str) -> None:
        names = frozenset(each.name for each in self._along.axes if each.extent > 1)
        root, *rest = self.group.statements
        varied = {root.output.array}
        self._finish(root, Text(total))
        for stmt in rest:
            if stmt.reduce is not None:
                term = tile_term(
                    stmt, self.values, along=self._along, tile=self._shape, varied=varied
                )
                axis = self._fold_axis
                text = folded_block(stmt, term, self.values, axis=axis, keep_dims=True)
                self._finish(stmt, text)
                continue
            if varies_along(stmt.body, names, varied):
                varied.add(stmt.output.array)
            self._finish(stmt, None)

    def _finish(self, stmt: Stmt, text: Text | None) -> None:
        is_whole = stmt is self.group.statements[0]
        written = {each.name for each in stmt.parallel_axes()}
        is_whole = is_whole or not self.folded or bool(written & self.folded)
        over: Sequence[Span] = (self._m, *self._rest, *((self._along,) if is_whole else ()))
        array = stmt.output.array
        is_described = array in self.results
        is_stored = array in self.group.stored and not is_described
        finish(stmt, text, self.values, over if is_stored else None)
        if is_described:
            self._store_tile(array)

    def _store_tile(self, array: str) -> None:
        """Store a whole tile through its descriptor, which cuts off what does not exist."""
        name, has_batches = self.results[array]
        place, value = [self.layout.m_start, self._first], self.values.held[array].code
        if has_batches:
            place = [self.layout.batch.index, *place]
            value = f"{value}.reshape(1, {self.layout.m_block}, {self._columns})"
        self.values.lines.add(f"{name}.store([{', '.join(place)}], {value})")

    def _in_pieces(self, total: str) -> str:
        """Give the pieces of n a dimension of their own, so that folds fold the last one."""
        layout, names = self.layout, self.values.names
        own = tuple(each for each in layout.n.axes if each.name in self.folded)
        outer = tuple(each for each in layout.n.axes if each.name not in self.folded)
        count = f"{layout.n_block} // {layout.padded}"
        self._shape = f"({layout.m_block}, {count}, {layout.padded})"
        self._fold_axis = 2
        m = Span(names.fresh("m_rows"), layout.m.axes, is_block=True, inside=self._inside("m_rows"))
        piece = Span(names.fresh("piece"), outer, is_block=True, inside=self._inside("piece"))
        is_padded = layout.piece != layout.padded
        inner = Span(
            names.fresh("inner"),
            own,
            is_block=True,
            inside=names.fresh("inner_inside") if is_padded else None,
        )
        lines = self.values.lines
        lines.add(
            f"{m.index} = {layout.m_start} + tl.arange(0, {layout.m_block})[:, None, None]",
            f"{piece.index} = {layout.n_start} // {layout.padded} + "
            f"tl.arange(0, {count})[None, :, None]",
            f"{inner.index} = tl.arange(0, {layout.padded})[None, None, :]",
        )
        for span, size in ((m, layout.sizes[1]), (piece, layout.pieces), (inner, layout.piece)):
            if span.inside is not None:
                lines.add(f"{span.inside} = {span.index} < {size}")
        for span in (m, piece, inner):
            lines.follow(span.parts)
        frame = Frame(names, (layout.batch, m, piece, inner))
        self.values = self.values.on(frame)
        self._m, self._rest, self._along = m, (piece,), inner
        name = names.fresh("pieces")
        lines.add(f"{name} = tl.reshape({total}, {self._shape})")
        return name

    def _inside(self, name: str) -> str | None:
        layout = self.layout
        if name == "m_rows":
            is_needed = layout.m.inside is not None
        else:
            counts = [each.n // layout.padded for each in layout.tiles]
            is_needed = any(layout.pieces % each for each in counts)
        return self.values.names.fresh(f"{name}_inside") if is_needed else None

    def _in_halves(self, total: str) -> None:
        """Write the result as two halves, one after the other: fewer registers at once."""
        layout, names, lines = self.layout, self.values.names, self.values.lines
        halves = [names.fresh("left"), names.fresh("right")]
        half = f"{layout.n_block} // 2"
        shape = f"({layout.m_block}, 2, {half})"
        turned = f"tl.permute(tl.reshape({total}, {shape}), (0, 2, 1))"
        lines.add(f"{', '.join(halves)} = tl.split({turned})")
        for name, start in zip(halves, (layout.n_start, f"{layout.n_start} + {half}"), strict=True):
            self._piece(start, half, self.results)._statements(name)  # noqa: SLF001

    def write_beside(self, total: str, results: Mapping[str, tuple[str, bool]]) -> None:
        """Write everything that follows the columns with an accumulator of their own.

        Args:
            total: The accumulator.
            results: As those of the tile, for blocks of these columns.
        """
        layout = self.layout
        start = f"{layout.n_start} + {layout.n_block}"
        self._piece(start, layout.beside, results)._statements(total)  # noqa: SLF001

    def _piece(self, start: str, size: str, results: Mapping[str, tuple[str, bool]]) -> "Epilogue":
        """Write positions of some columns of the tile; return what writes their statements."""
        layout, names, lines = self.layout, self.values.names, self.values.lines
        name = names.fresh("n_part")
        inside = names.fresh("n_part_inside") if layout.n.inside is not None else None
        lines.add(f"{name} = {start} + tl.arange(0, {size})[None, :]")
        if inside is not None:
            lines.add(f"{inside} = {name} < {layout.sizes[2]}")
        span = Span(name, layout.n.axes, is_block=True, inside=inside)
        lines.follow(span.parts)
        frame = Frame(names, (layout.batch, layout.m, span))
        part = Epilogue(self.group, layout, self.values.on(frame), self.tile, results)
        part._along, part._columns, part._first = span, size, start
        part._shape = f"({layout.m_block}, {size})"
        return part
