"""What a device can launch at all, and what the problem's sizes make useful."""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.device import Device
from xeforge.domain.dtype import find_dtype
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.source.knob_roles import Role
from xeforge.source.knobs import Knob

DEFAULT_WARPS = 4
DEFAULT_STAGES = 3
"""What Triton takes when a launch says nothing."""

_WIDEST_TILE = 256
_WIDEST_BLOCK = 1 << 16
_ACCUMULATOR_SHARE = 0.85
"""Share of a thread's registers that accumulators may take; the rest holds operands, addresses."""
_SMALLEST = {Role.M: 16, Role.N: 16, Role.K: 16, Role.BLOCK: 16, Role.ROWS: 1, Role.GROUP: 1}
_DEFAULT_REGISTERS = 255


@dataclass(frozen=True, slots=True)
class Limits:
    """Legal and useful values of knobs for one problem on one device.

    Attributes:
        device: Supplies legal warps, stages, threads, registers and shared memory.
        lanes: Threads of a warp.
        operand_bytes: Size of the widest floating-point input of the timed workloads.
        row_elements: Longest innermost extent of an input of the timed workloads.
        inner_elements: Shortest innermost extent.
        largest_extent: Longest extent of any input; total elements of the largest input for
            one-dimensional blocks.
        elements: Elements of the largest input.
    """

    device: Device
    lanes: int
    operand_bytes: int
    row_elements: int
    inner_elements: int
    largest_extent: int
    elements: int

    def highest(self, role: Role) -> int:
        """Return the largest value worth trying for a role."""
        if role in {Role.M, Role.N, Role.K}:
            return min(_WIDEST_TILE, max(16, power_at_least(self.largest_extent)))
        if role is Role.ROWS:
            return _WIDEST_TILE
        return min(_WIDEST_BLOCK, max(64, power_at_least(self.elements)))

    def lowest(self, role: Role) -> int:
        """Return the smallest value worth trying for a role."""
        return _SMALLEST.get(role, 1)

    def fits(self, knobs: tuple[Knob, ...], values: Mapping[str, int]) -> bool:
        """Say whether a launch with these values can run and will not spill by arithmetic alone."""
        by_role = {each.role: values[each.name] for each in knobs if each.name in values}
        warps = by_role.get(Role.WARPS, DEFAULT_WARPS)
        stages = by_role.get(Role.STAGES, DEFAULT_STAGES)
        threads = warps * self.lanes
        if warps not in self.device.num_warps:
            return False
        if self.device.threads_per_group is not None and threads > self.device.threads_per_group:
            return False
        m, n, k = (by_role.get(role) for role in (Role.M, Role.N, Role.K))
        if m is None or n is None:
            return True
        registers = self.device.registers_per_thread or _DEFAULT_REGISTERS
        width = n if k is not None else n + self.inner_elements
        if m * width / threads > registers * _ACCUMULATOR_SHARE:
            return False
        shared = self.device.shared_bytes_per_group
        return shared is None or self.shared_bytes(m, n, k, stages) <= shared

    def shared_bytes(self, m: int, n: int, k: int | None, stages: int) -> int:
        """Predict the on-chip memory that the operands of a product kernel are staged in.

        Without a depth knob the kernel is taken for attention: one tile of rows stays, two tiles
        of columns are staged, all as long as the innermost extent.
        """
        if k is not None:
            return (m * k + k * n) * self.operand_bytes * stages
        length = min(self.inner_elements, _WIDEST_TILE)
        return (m + 2 * n * stages) * length * self.operand_bytes


def limits_of(problem: Problem, device: Device) -> Limits:
    """Derive the limits from what is timed."""
    timed = problem.timed
    shapes = [each.shape for workload in timed for each in workload.inputs if each.shape]
    target = device.compile_target
    lanes = target.warp_size if target is not None else max(device.lane_counts, default=32)
    return Limits(
        device=device,
        lanes=lanes,
        operand_bytes=max((_widest_bytes(each) for each in timed), default=4),
        row_elements=max((shape[-1] for shape in shapes), default=1024),
        inner_elements=min((shape[-1] for shape in shapes), default=128),
        largest_extent=max((max(shape) for shape in shapes), default=4096),
        elements=max((_product(shape) for shape in shapes), default=_WIDEST_BLOCK),
    )


def _widest_bytes(workload: Workload) -> int:
    found = [find_dtype(each.dtype) for each in workload.inputs]
    return max((each.size_bytes for each in found if each and each.kind == "float"), default=4)


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def power_at_least(value: int) -> int:
    """Return the smallest power of two that is not below a value."""
    return 1 << max(0, value - 1).bit_length()
