"""What a tile needs and how long a contraction takes with it, by a model with few numbers.

The time of a multiprocessor is what its tiles take one after the other: for each step of k the
longest of arithmetic, traffic from the cache, and waiting with so many operands on their way. It is
no shorter than what must pass through device memory. Every number is the target's.
"""

import math

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.tile import Problem
from xeforge.fusion.emit.triton.tile import Tile

_SLACK_BYTES = 128
"""Barriers of the pipeline, and rounding: 8 to 40 bytes were seen."""
_MOST_ELEMENTS = 128
"""Accumulators that a thread holds beside everything else."""
_MOST_LOADED = 64
"""Elements that a thread loads one by one in a step; with more, registers spill."""
_OTHER_REGISTERS, _REGISTERS_PER_ELEMENT = 24, 1.5
"""Registers of a thread beside its accumulators, and for each element that it loads by itself."""
_WIDE_SLOWER = 6.0
"""Float32 products are three of narrower factors, at half the rate."""
_PARTIAL_BYTES = 4
_UNEVEN = 0.05
"""Share of its rate that memory loses where as many multiprocessors idle as work."""


def shared_bytes(tile: Tile, problem: Problem, target: TritonTarget) -> int:
    """Return the shared memory that one program claims."""
    is_ahead = target.buffers_count_stages and (tile.pads or not problem.is_ragged)
    buffers = tile.stages if is_ahead else 1
    if _size(problem) != 2:  # noqa: PLR2004
        buffers += 1  # the narrower factors that one of float32 is made of
    operands = buffers * _step_bytes(tile, problem)
    staged = tile.m * tile.columns * _result_bytes(tile, problem) // tile.parts
    # A program that stays already loads for its next tile while a result is on its way out.
    both = operands + staged if tile.form == "persistent" else max(operands, staged)
    return both + _SLACK_BYTES


def fits(tile: Tile, problem: Problem, target: TritonTarget) -> bool:
    """Say whether operands fit into shared memory and the accumulator into registers."""
    accumulator = tile.m * tile.columns / (tile.warps * target.lanes)
    is_small = shared_bytes(tile, problem, target) <= target.shared_bytes
    if problem.is_ragged and not tile.pads and target.buffers_count_stages:
        # Each element is loaded by itself, into a register.
        loaded = (tile.m + tile.columns) * tile.k / (tile.warps * target.lanes)
        is_small = is_small and loaded <= _MOST_LOADED
    return is_small and accumulator <= _MOST_ELEMENTS


def tile_count(tile: Tile, problem: Problem) -> int:
    """Return how many tiles there are, those of all parts of the sum together."""
    across = math.ceil(problem.m / tile.m) * math.ceil(problem.n / tile.columns)
    return across * problem.batch * tile.splits


def seconds(tile: Tile, problem: Problem, target: TritonTarget) -> float:
    """Return about how long the contraction takes, with the kernels before and behind it."""
    rates = target.rates
    count = tile_count(tile, problem)
    rounds = math.ceil(count / target.units)
    together = _together(tile, problem, target, rounds)
    steps = math.ceil(problem.k / tile.splits / tile.k)
    step = _step_seconds(tile, problem, target, min(count, target.units), together)
    store = tile.m * tile.columns * _result_bytes(tile, problem) / rates.port_bytes_per_s
    is_hidden = tile.form == "persistent" or together > 1
    starts = rates.latency_seconds * (1 if is_hidden else rounds)
    idle = rounds * target.units / count - 1.0
    needed = _memory_seconds(problem, target) * (1.0 + _UNEVEN * idle)
    if tile.form != "pointers" and not tile.is_hosted:
        starts += rates.describe_seconds
    own = max(rounds * (steps * step + store), needed) + starts
    return own + _before(tile, problem, target) + _behind(tile, problem, target)


def _together(tile: Tile, problem: Problem, target: TritonTarget, rounds: int) -> int:
    """Return how many programs a multiprocessor runs side by side."""
    if tile.form == "persistent":
        return 1
    threads = tile.warps * target.lanes
    held = _OTHER_REGISTERS + tile.m * tile.columns / threads
    if problem.is_ragged and not tile.pads:
        held += _REGISTERS_PER_ELEMENT * (tile.m + tile.columns) * tile.k / threads
    room = target.shared_bytes // shared_bytes(tile, problem, target)
    return max(1, min(room, rounds, int(target.registers / (threads * held))))


def _step_seconds(
    tile: Tile, problem: Problem, target: TritonTarget, busy: int, together: int
) -> float:
    rates, moved = target.rates, _step_bytes(tile, problem)
    flops = 2 * tile.m * tile.columns * tile.k * (1.0 if _size(problem) == 2 else _WIDE_SLOWER)  # noqa: PLR2004
    arithmetic = flops * target.units / rates.matrix_flops_per_s
    is_asynchronous = tile.pads or not problem.is_ragged
    if tile.form == "pointers":
        arithmetic /= rates.pointers_reached
    traffic = moved / min(rates.cache_bytes_per_s / busy, rates.port_bytes_per_s)
    ahead = max(1, tile.stages - 1) if is_asynchronous and target.buffers_count_stages else 1
    return max(arithmetic, traffic, rates.latency_seconds / (ahead * together))


def _memory_seconds(problem: Problem, target: TritonTarget) -> float:
    """Return how long device memory takes for what must be moved."""
    read = (problem.m + problem.n) * problem.k * _size(problem)
    written = problem.m * problem.n * problem.result_bytes
    return problem.batch * (read + written) / target.rates.bandwidth_bytes_per_s


def _before(tile: Tile, problem: Problem, target: TritonTarget) -> float:
    """Return how long it takes to copy both factors into longer rows."""
    if not tile.pads:
        return 0.0
    copied = 2 * problem.batch * (problem.m + problem.n) * problem.k * _size(problem)
    rates = target.rates
    return 2 * rates.launch_seconds + copied / rates.bandwidth_bytes_per_s


def _behind(tile: Tile, problem: Problem, target: TritonTarget) -> float:
    """Return how long it takes to add the parts of the sums."""
    if tile.splits == 1:
        return 0.0
    read = tile.splits * problem.batch * problem.m * problem.n * _PARTIAL_BYTES
    rates = target.rates
    return rates.launch_seconds + rates.latency_seconds + read / rates.bandwidth_bytes_per_s


def _step_bytes(tile: Tile, problem: Problem) -> int:
    return (tile.m + tile.columns) * tile.k * _size(problem)


def _size(problem: Problem) -> int:
    return DTYPES[problem.dtype].size_bytes


def _result_bytes(tile: Tile, problem: Problem) -> int:
    return problem.result_bytes if tile.splits == 1 else _PARTIAL_BYTES
