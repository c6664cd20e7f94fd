"""First settings to try for one kernel, best guess first: tiles for products, blocks for others."""

from collections.abc import Iterable
from collections.abc import Iterator

from xeforge.domain.device import Device
from xeforge.propose.search_limits import DEFAULT_STAGES
from xeforge.propose.search_limits import Limits
from xeforge.propose.search_limits import power_at_least
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import Knob

Settings = dict[str, int]

_PAIR_SIDES = (128, 64, 32, 256)
_PAIR_WARPS = (8, 4)
_BLOCK_WARPS = (4, 8, 16, 2)
_TILE_WIDTHS = (64, 128, 32, 256)
_FEWEST_ELEMENTS, _MOST_ELEMENTS = 4, 32
"""Elements per thread: fewer starve the memory pipeline, more spill."""


def starts(knobs: tuple[Knob, ...], limits: Limits) -> tuple[Settings, ...]:
    """Return settings worth trying before any local search; only legal ones.

    Args:
        knobs: All knobs of one kernel.
        limits: Of the device and the problem.
    """
    names = {each.role: each.name for each in knobs}
    raw: Iterable[dict[Role, int]]
    roles = set(names)
    if {Role.M, Role.N, Role.K} <= roles:
        raw = _tiles(limits.device)
    elif Role.M in roles and Role.N in roles:
        raw = _pairs(limits)
    elif {Role.ROWS, Role.BLOCK} <= roles:
        raw = _planes(limits)
    elif Role.BLOCK in roles:
        is_step = any(each.is_step for each in knobs if each.role is Role.BLOCK)
        raw = _rows(limits) if is_step else _blocks(limits)
    elif Role.ROWS in roles:
        raw = ({Role.ROWS: rows, Role.WARPS: w} for rows in (1, 2, 4, 8) for w in (4, 8))
    else:
        raw = ({Role.WARPS: warps} for warps in (4, 8, 16, 2, 32, 1))
    found: list[Settings] = []
    for each in raw:
        values = {names[role]: value for role, value in each.items() if role in names}
        is_small = all(
            limits.lowest(role) <= value <= limits.highest(role)
            for role, value in each.items()
            if role not in {Role.WARPS, Role.STAGES}
        )
        if values and is_small and values not in found and limits.fits(knobs, values):
            found.append(values)
    return tuple(found)


def _tiles(device: Device) -> Iterator[dict[Role, int]]:
    for tile in device.tiles:
        yield {
            Role.M: tile.m,
            Role.N: tile.n,
            Role.K: tile.k,
            Role.WARPS: tile.num_warps,
            Role.STAGES: tile.num_stages,
        }


def _pairs(limits: Limits) -> list[dict[Role, int]]:
    # Widest reuse first: a tile of m rows and n columns loads (m + n) / (m * n) of an operand
    # element per product.
    pairs = [
        {Role.M: m, Role.N: n, Role.WARPS: warps, Role.STAGES: stages}
        for m in _PAIR_SIDES
        for n in _PAIR_SIDES
        if n <= m
        for warps in _PAIR_WARPS
        for stages in _stages(limits.device)[:1]
    ]
    return sorted(pairs, key=lambda each: -each[Role.M] * each[Role.N] / sum_of_sides(each))


def sum_of_sides(tile: dict[Role, int]) -> int:
    """Return rows plus columns of a tile."""
    return tile[Role.M] + tile[Role.N]


def _stages(device: Device) -> list[int]:
    return sorted(device.num_stages, key=lambda each: (abs(each - DEFAULT_STAGES), each))


def _per_thread(limits: Limits) -> list[int]:
    vector = max(1, 16 // limits.operand_bytes)
    wanted = (2 * vector, vector, 4 * vector)
    return [each for each in wanted if _FEWEST_ELEMENTS <= each <= _MOST_ELEMENTS]


def _blocks(limits: Limits) -> list[dict[Role, int]]:
    options = [
        (order + turn, {Role.BLOCK: warps * limits.lanes * each, Role.WARPS: warps})
        for order, each in enumerate(_per_thread(limits))
        for turn, warps in enumerate(_BLOCK_WARPS)
    ]
    return [each for _, each in sorted(options, key=lambda pair: pair[0])]


def _rows(limits: Limits) -> Iterator[dict[Role, int]]:
    # A block that holds the whole row needs one turn and, where several passes read the row,
    # leaves it in registers.
    whole = power_at_least(limits.row_elements)
    for block in (whole, whole // 2, whole // 4, whole // 8):
        for each in _per_thread(limits):
            warps = block // (limits.lanes * each)
            if warps in limits.device.num_warps and warps <= max(_BLOCK_WARPS):
                yield {Role.BLOCK: block, Role.WARPS: warps}
    for warps in (16, 8, 32):
        yield {Role.BLOCK: whole, Role.WARPS: warps}
    yield from _blocks(limits)


def _planes(limits: Limits) -> list[dict[Role, int]]:
    options = [
        (
            first + second + third,
            {
                Role.BLOCK: width,
                Role.ROWS: max(1, warps * limits.lanes * each // width),
                Role.WARPS: warps,
            },
        )
        for first, width in enumerate(_TILE_WIDTHS)
        for second, warps in enumerate(_BLOCK_WARPS[:2])
        for third, each in enumerate((16, 8, 32))
    ]
    return [each for _, each in sorted(options, key=lambda pair: pair[0])]
