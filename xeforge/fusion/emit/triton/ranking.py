"""Which tiles and forms of a contraction are worth trying, the likely fastest first."""

import math
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import replace

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.emit.triton.target import Precision
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.tile import LEAST
from xeforge.fusion.emit.triton.tile import Form
from xeforge.fusion.emit.triton.tile import Problem
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.tile_time import fits
from xeforge.fusion.emit.triton.tile_time import seconds
from xeforge.fusion.emit.triton.tile_time import shared_bytes
from xeforge.fusion.emit.triton.tile_time import tile_count
from xeforge.fusion.emit.triton.words import power_of_two

MOST_CANDIDATES = 8
MOST_SPLITS = 16
_LEAST_DEPTH = 256
"""Terms of a part of a sum; fewer are not worth a second kernel."""
_MOST_ROUNDS_OF_PARTS, _MOST_WAITING_ROUNDS = 2.2, 5.0
"""Rounds of programs up to which more parts of the sum may help: to fill the card, and where
loads cannot run ahead, so that programs beside each other must hide the waiting."""
_HOPELESS, _UNSURE_SECONDS = 1.35, 4e-6
"""What takes so many times longer than the best one by the model, and so much, is not tried."""
_ALIKE = 0.12
"""Share by which a second form of a tile must be faster to come before another tile."""
_EQUAL_SECONDS = 1e-8
_FIRST, _FEW_OF_THEIR_OWN = 3, 2
"""After how many ways come the best ones with descriptors that programs make themselves, which
take the host less time; and how many of them."""
_FEWEST_STAGES = 3
_ALIGNED_BYTES = 16
_HALF_SIZES = (
    (128, 256, 64, 8),
    (256, 128, 64, 8),
    (128, 128, 64, 4),
    (128, 128, 64, 8),
    (128, 128, 128, 8),
    (128, 128, 32, 8),
    (64, 256, 64, 4),
    (256, 64, 64, 4),
    (128, 64, 64, 4),
    (128, 64, 128, 4),
    (64, 128, 64, 4),
    (64, 128, 128, 4),
    (64, 64, 64, 4),
    (64, 64, 128, 4),
    (64, 64, 64, 8),
    (64, 32, 256, 4),
    (64, 32, 64, 4),
    (32, 128, 128, 4),
    (32, 64, 128, 4),
    (32, 32, 256, 4),
    (32, 64, 64, 4),
    (16, 128, 128, 4),
    (16, 64, 128, 4),
    (16, 64, 256, 4),
    (16, 32, 256, 4),
)
"""m, n, k, warps for two-byte factors, largest first."""
_BESIDE_SIZES = ((128, 128, 64, 64, 8), (64, 128, 64, 64, 4))
"""m, n, columns beside, k, warps for two-byte factors that are described."""
_WIDE_SIZES = (
    (128, 128, 32, 8),
    (128, 64, 32, 4),
    (64, 128, 32, 4),
    (64, 64, 32, 4),
    (32, 64, 64, 4),
    (16, 64, 64, 4),
)
_MOST_WIDE_STAGES = 3


def candidates(
    problem: Problem, target: TritonTarget, precision: Precision | None = None
) -> list[Tile]:
    """Return at most `MOST_CANDIDATES` tiles of the usual form, one kernel each, the best first.

    Args:
        problem: What is cut.
        target: Where it runs.
        precision: Of float32 products; None for the one of the target that loses nothing.
    """
    is_described = target.has_descriptors and problem.may_describe
    form: Form = "persistent" if is_described else "pointers"
    found: dict[tuple[int, int, int], Tile] = {}
    sizes = (each for each in _sizes(problem, target, precision) if not each.beside)
    for tile in _ordered(_staged(sizes, form, problem, target)):
        found.setdefault((tile[1].m, tile[1].n, tile[1].k), tile[1])
    return list(found.values())[:MOST_CANDIDATES]


def ways(problem: Problem, target: TritonTarget, precision: Precision | None = None) -> list[Tile]:
    """Return tiles of all forms in the order of trying: different ones first.

    Sums may be in parts, and factors copied, where that is likely to help. What needs less memory
    of what comes first is at the end.

    Args:
        problem: What is cut.
        target: Where it runs.
        precision: Of float32 products; None for the one of the target that loses nothing.
    """
    sizes = list(_sizes(problem, target, precision))
    timed = _ordered(_variants(sizes, problem, target))
    most = _HOPELESS * timed[0][0] + _UNSURE_SECONDS if timed else 0.0
    kinds: dict[tuple[int, int, bool, bool], list[tuple[float, Tile]]] = {}
    for taken, tile in timed:
        if taken <= most:
            kinds.setdefault((tile.m, tile.columns, tile.splits > 1, tile.pads), []).append(
                (taken, tile)
            )
    turns = (enumerate(_forms_first(own)) for own in kinds.values())
    late = [(taken * (1.0 + turn * _ALIKE), tile) for own in turns for turn, (taken, tile) in own]
    found = [tile for _, tile in _ordered(late)]
    own = [replace(each, is_hosted=False) for each in found if each.is_hosted]
    found = [*found[:_FIRST], *own[:_FEW_OF_THEIR_OWN], *found[_FIRST:]]
    fewer = (
        replace(each, stages=stages) for each in found for stages in range(each.stages - 1, 1, -1)
    )
    return list(dict.fromkeys((*found, *fewer, *own)))


def _forms_first(timed: list[tuple[float, Tile]]) -> list[tuple[float, Tile]]:
    """Return the best of each form, then the rest."""
    first: dict[Form, tuple[float, Tile]] = {}
    for each in timed:
        first.setdefault(each[1].form, each)
    return [*first.values(), *(each for each in timed if each not in first.values())]


def _variants(
    sizes: Iterable[Tile], problem: Problem, target: TritonTarget
) -> Iterator[tuple[float, Tile]]:
    """Yield every size in every form that it can have, and how long it takes."""
    kinds: list[tuple[Form, Problem, bool]] = [("pointers", problem, False)]
    if target.has_descriptors and problem.may_describe:
        kinds += [("descriptors", problem, False), ("persistent", problem, False)]
    elif target.has_descriptors and problem.padded_k:
        padded = replace(problem, k=problem.padded_k, may_describe=True)
        kinds += [("descriptors", padded, True), ("persistent", padded, True)]
    sizes = list(sizes)
    for form, seen, pads in kinds:
        is_hosted = form != "pointers"
        for tile in (each for each in sizes if is_hosted or not each.beside):
            cut = [
                replace(tile, form=form, pads=pads, splits=each, is_hosted=is_hosted)
                for each in _splits(tile, seen, target)
                # Programs that stay for one tile are no other kernel.
                if form != "persistent" or tile_count(tile, seen) * each > target.units
            ]
            whole = [each for each in cut if each.splits == 1]
            for own in (whole, [each for each in cut if each.splits > 1]):
                found = _ordered(_staged(own, form, seen, target))
                # One or two numbers of parts; and two depths, so that two programs share a unit.
                yield from found[:2]


def _splits(tile: Tile, problem: Problem, target: TritonTarget) -> list[int]:
    """Return 1, and in how many parts the sum fills the card where the tiles alone do not."""
    count = tile_count(tile, problem)
    size = DTYPES[problem.dtype].size_bytes
    if not problem.may_split or count >= target.units:
        return [1]
    rounds = _MOST_WAITING_ROUNDS if problem.is_ragged else _MOST_ROUNDS_OF_PARTS
    return [1] + [
        each
        for each in range(2, MOST_SPLITS + 1)
        if problem.k % each == 0
        and problem.k // each >= _LEAST_DEPTH
        and (problem.is_ragged or (problem.k // each * size) % _ALIGNED_BYTES == 0)
        and count * each <= rounds * target.units
    ]


def _sizes(problem: Problem, target: TritonTarget, precision: Precision | None) -> Iterator[Tile]:
    """Yield tiles that are not larger than the problem, each once."""
    is_half = DTYPES[problem.dtype].size_bytes == 2  # noqa: PLR2004
    most = target.most_stages if is_half else min(target.most_stages, _MOST_WIDE_STAGES)
    seen = set()
    for m, n, k, warps in _HALF_SIZES if is_half else _WIDE_SIZES:
        tile = Tile(m, n, k, warps, most, precision=precision or target.full_precision)
        tile = _grouped(_clipped(tile, problem), target)
        if tile not in seen:
            seen.add(tile)
            yield tile
    for m, n, beside, k, warps in _BESIDE_SIZES:
        if is_half and problem.folded == 1 and problem.n > n and problem.m > m // 2:
            yield _grouped(Tile(m, n, k, warps, most, beside=beside), target)


def _grouped(tile: Tile, target: TritonTarget) -> Tile:
    """Let the tiles that run together cover about a square, which needs the fewest operands."""
    side = math.sqrt(target.units * tile.m * tile.columns)
    return replace(tile, group_m=2 ** max(0, round(math.log2(side / tile.m))))


def _clipped(tile: Tile, problem: Problem) -> Tile:
    """Return a tile that is not larger than the problem, and holds what folds need."""
    needed = power_of_two(problem.folded)
    n = max(min(tile.n, max(LEAST, power_of_two(problem.n))), needed, LEAST)
    m = min(tile.m, max(LEAST, power_of_two(problem.m)))
    k = min(tile.k, max(LEAST, power_of_two(problem.k)))
    return replace(tile, m=m, n=n, k=k)


def _staged(
    tiles: Iterable[Tile], form: Form, problem: Problem, target: TritonTarget
) -> Iterator[tuple[float, Tile]]:
    """Yield the deepest pipeline that fits, and the deepest of which two fit beside each other."""
    for tile in tiles:
        is_wide = tile.m * tile.n >= 128 * 256 and problem.folded == 1
        is_halved = is_wide and form != "pointers"
        made = replace(tile, form=form, parts=2 if is_halved else 1)
        # What is loaded element by element is never on its way ahead of its step.
        most = min(made.stages, 2) if problem.is_ragged and form == "pointers" else made.stages
        deep = [replace(made, stages=each) for each in range(most, 0, -1)]
        fitting = [each for each in deep if fits(each, problem, target)]
        half = target.shared_bytes // 2
        shared = [
            each
            for each in fitting[1:]
            if form != "persistent"
            and each.stages >= _FEWEST_STAGES
            and shared_bytes(each, problem, target) <= half
            and shared_bytes(fitting[0], problem, target) > half
        ]
        for each in (*fitting[:1], *shared[:1]):
            yield seconds(each, problem, target), each


def _ordered(timed: Iterable[tuple[float, Tile]]) -> list[tuple[float, Tile]]:
    """Sort by time; of equal ones, those with most on its way first, and in small pieces."""

    def key(each: tuple[float, Tile]) -> tuple[int, int, int]:
        tile = each[1]
        ahead = (tile.stages - 1) * tile.k
        return round(each[0] / _EQUAL_SECONDS), -ahead, -tile.stages

    return sorted(timed, key=key)
