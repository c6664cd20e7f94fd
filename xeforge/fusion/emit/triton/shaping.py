"""What tiles ask of a plan: factors copied before a contraction, its sum in parts."""

from collections.abc import Mapping
from collections.abc import Sequence

from xeforge.fusion.emit.triton.pad import pad_factors
from xeforge.fusion.emit.triton.split import split_sum
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.plan import Plan

Tiles = Mapping[str, Sequence[Tile]]


def shaped(plan: Plan, tiles: Tiles) -> tuple[Plan, Tiles]:
    """Return the plan as its tiles want it, and the tiles by the names of its groups.

    Args:
        plan: Well-formed.
        tiles: Of each contraction; several of one are alike but for their sizes.

    Raises:
        BadRequest: A sum has no such parts, or factors cannot be copied.
    """
    found = dict(tiles)
    for name, own in tiles.items():
        if own and own[0].pads:
            plan = pad_factors(plan, name)
        if own and own[0].splits > 1:
            before = {each.name for each in plan.groups}
            plan = split_sum(plan, name, own[0].splits)
            found[next(each.name for each in plan.groups if each.name not in before)] = own
    return plan, found
