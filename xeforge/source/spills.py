"""What the compiler's reports say about registers."""

from collections.abc import Mapping

from xeforge.domain.evidence import BuildReport
from xeforge.source.facts import REDUCING
from xeforge.source.facts import FileFacts
from xeforge.source.product_loads import product_loads

_MANY_POINTERS = 4


def spilling(facts: FileFacts) -> Mapping[str, BuildReport]:
    """Return the worst report of each kernel that spills however it is configured.

    A configuration that spills is the tuner's affair while another one does not.
    """
    reports = facts.build.reports if facts.build is not None else ()
    by_kernel: dict[str, list[BuildReport]] = {}
    for each in reports:
        if not each.error and facts.contents.jit_function(each.kernel) is not None:
            by_kernel.setdefault(each.kernel, []).append(each)
    return {
        name: max(found, key=lambda each: each.spill_bytes or 0)
        for name, found in by_kernel.items()
        if all(each.spill_bytes for each in found)
    }


def is_fused(facts: FileFacts, kernel: str) -> bool:
    """Say whether a kernel does several operators: products, or one with more operands."""
    body = facts.bodies[kernel]
    dots = len(body.named("dot", "dot_scaled"))
    operands = {each.node for each in product_loads(body)}
    others = [each for each in body.named("load") if each.node not in operands]
    if dots:
        return dots > 1 or (bool(operands) and bool(others))
    reduces = any(each.name in REDUCING for each in body.calls)
    return reduces and len(facts.touched(kernel, "load")) >= _MANY_POINTERS
