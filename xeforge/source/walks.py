"""Which loops of a kernel walk the same data."""

import ast
from dataclasses import dataclass

from xeforge.source.addresses import address_key
from xeforge.source.addresses import address_of
from xeforge.source.addresses import lanes_of
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody
from xeforge.source.kernel_body import Loop


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Loads of the same addresses by several loops.

    Attributes:
        loads: First load of each loop, in program order.
        loops: The loops.
    """

    loads: tuple[Call, ...]
    loops: tuple[Loop, ...]


def repeated_walks(body: KernelBody) -> tuple[Walk, ...]:
    """Return the data that two or more loops, one after the other, read from end to end."""
    found: dict[str, dict[Loop, Call]] = {}
    for load in body.named("load"):
        address = address_of(load)
        if address is None or not load.place.loops or load.place.branches:
            continue
        index = load.place.index
        if not lanes_of(body, address, index):
            continue
        loop = load.place.loops[0]
        key = f"{ast.unparse(loop.iter) if isinstance(loop, ast.For) else ''}|"
        key += address_key(body, address, index)
        if "@" in key:
            found.setdefault(key, {}).setdefault(loop, load)
    return tuple(
        Walk(tuple(loops.values()), tuple(loops)) for loops in found.values() if len(loops) > 1
    )
