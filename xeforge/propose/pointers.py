"""Formats that pointer parameters of a kernel point at, over the workloads of a problem."""

from collections.abc import Sequence

from xeforge.domain.dtype import find_dtype
from xeforge.domain.problem import Workload
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_values import follow_forward
from xeforge.source.kernel_tree import KernelTree

_NARROW_BYTES = 2


def pointee_formats(
    tree: KernelTree, kernel: str, parameter: str, workloads: Sequence[Workload]
) -> frozenset[str | None]:
    """Return the Torch names of the formats a pointer parameter points at.

    None is among them where a format could not be found out; empty without launches.
    """
    found: set[str | None] = set()
    for workload in workloads:
        facts = follow_forward(tree, workload)
        for launch in tree.launches_of(kernel):
            value = facts.value(launch.arguments.get(parameter))
            found.add(value.dtype if isinstance(value, HostTensor) else None)
    return frozenset(found)


def is_always_16_bit(
    tree: KernelTree, kernel: str, parameter: str, workloads: Sequence[Workload]
) -> bool:
    """Say whether a pointer is known to point at 16-bit floats in every workload."""
    formats = pointee_formats(tree, kernel, parameter, workloads)
    known = [find_dtype(each) for each in formats if each is not None]
    return (
        bool(formats)
        and len(known) == len(formats)
        and all(
            each is not None and each.kind == "float" and each.size_bytes == _NARROW_BYTES
            for each in known
        )
    )
