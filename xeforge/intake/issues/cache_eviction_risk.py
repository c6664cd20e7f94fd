"""A tile that is read again soon is loaded as if it were not.

Looks for loads that two loops of a kernel share, of which the first does not ask the cache to keep
them, and for ``evict_first``, ``.cg`` and ``.cv`` on data that every program reads. Misses reuse
between kernels, and rows so short that they stay anyway. Source: Triton's language reference,
``tl.load``: ``eviction_policy``, ``cache_modifier``; PTX ISA, cache operators.
"""

import ast
from typing import Final

from xeforge.domain.issue import Issue
from xeforge.intake.issues.detector import slow
from xeforge.source.addresses import address_of
from xeforge.source.addresses import lanes_of
from xeforge.source.facts import FileFacts
from xeforge.source.kernel_body import Call
from xeforge.source.kernel_body import KernelBody
from xeforge.source.walks import repeated_walks

NAME: Final = "cache_eviction_risk"
_PASSING: Final = frozenset({"evict_first", ".cg", ".cv"})


def detect(facts: FileFacts) -> tuple[Issue, ...]:
    """Report the first load of each kernel that is at risk."""
    found = []
    for name, body in facts.bodies.items():
        for walk in repeated_walks(body):
            first = walk.loads[0]
            if "evict_last" not in _hints(first):
                found.append(
                    slow(
                        NAME,
                        first.line,
                        f"{name} reads this again in the loop at line {walk.loops[1].lineno}, but "
                        "nothing asks the cache to keep it",
                        'say eviction_policy="evict_last" on all walks but the last',
                    )
                )
                break
        else:
            found += [_shared(each) for each in body.named("load") if _is_shared(body, each)]
    return tuple(found)


def _hints(load: Call) -> frozenset[str]:
    given = (load.argument(6, "eviction_policy"), load.argument(5, "cache_modifier"))
    return frozenset(str(each.value) for each in given if isinstance(each, ast.Constant))


def _is_shared(body: KernelBody, load: Call) -> bool:
    address = address_of(load)
    if address is None or not _hints(load) & _PASSING:
        return False
    if not lanes_of(body, address, load.place.index):
        return False
    return "program_id()" not in body.sources(address, load.place.index)


def _shared(load: Call) -> Issue:
    return slow(
        NAME,
        load.line,
        f"{ast.unparse(load.node)} is read by every program, but marked to pass through the cache",
        "take the hint away",
    )
