"""Tiles of contractions, and what they cut up."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from typing import TypeAlias

from xeforge.fusion.emit.triton.target import Precision

Form: TypeAlias = Literal["pointers", "descriptors", "persistent"]

LEAST = 16
"""Smallest side of a tile that ``tl.dot`` takes everywhere."""


@dataclass(frozen=True, slots=True)
class Tile:
    """How one contraction is cut up.

    Attributes:
        m, n, k: Elements of a tile, powers of two.
        warps, stages: As Triton means them on the target.
        group_m: Tiles along m that run next to each other, so that they share columns in cache.
        form: How factors are read: through blocks of pointers, through tensor descriptors, or the
            latter with programs that stay and take tile after tile.
        precision: Of products of float32 factors.
        parts: Pieces of the epilogue along n, so that less of it is in registers at once.
        splits: Parts of the sum, each in programs of its own; another kernel adds them.
        pads: Whether the factors are copied into longer rows first, which descriptors can read.
        beside: Columns beyond n with an accumulator of their own, a power of two; 0: none. Sizes
            that are no power of two may need fewer rounds. Only where factors are described.
        is_hosted: Whether the host makes descriptors: programs start sooner, launches cost more.
    """

    m: int
    n: int
    k: int
    warps: int
    stages: int
    group_m: int = 8
    form: Form = "pointers"
    precision: Precision = "ieee"
    parts: int = 1
    splits: int = 1
    pads: bool = False
    beside: int = 0
    is_hosted: bool = False

    @property
    def columns(self) -> int:
        """Return how many columns of the result a tile has."""
        return self.n + self.beside


@dataclass(frozen=True, slots=True)
class Problem:
    """Sizes of one contraction.

    Attributes:
        batch, m, n, k: Points of each role.
        dtype: Torch name of what the matrix unit is given.
        folded: Elements of n that folds after the contraction need in one tile; 1: none.
        may_describe: Whether both factors can be read through descriptors.
        padded_k: Points of k with rows that descriptors can read; 0: factors cannot be copied so.
        may_split: Whether the sum can be cut into parts.
        result_bytes: Of one element of the widest result that is stored.
    """

    batch: int
    m: int
    n: int
    k: int
    dtype: str
    folded: int = 1
    may_describe: bool = False
    padded_k: int = 0
    may_split: bool = False
    result_bytes: int = 4

    @property
    def is_ragged(self) -> bool:
        """Say whether rows of the factors have an odd number of elements, or nearly so."""
        return self.padded_k > 0 and not self.may_describe


def of_one_form(tiles: list[Tile]) -> Iterator[Tile]:
    """Yield the tiles that share the form of the first: one kernel has one form."""
    first = tiles[0]
    for each in tiles:
        # What the host describes has the sizes of one tile.
        is_same = (each.form, each.parts, each.precision) == (
            first.form,
            first.parts,
            first.precision,
        )
        has_alike = bool(each.beside) == bool(first.beside)
        if each is first or (is_same and has_alike and not each.is_hosted and not first.is_hosted):
            yield each
