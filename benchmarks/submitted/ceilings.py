"""What the card reaches today: copy bandwidth, matrix rate, and who it is."""

import shutil
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import torch

from benchmarks.submitted.clock import Clock

_COPY_BYTES = 2 * 2**30
_MATRIX_SIZE = 8192
_SMALL_MATRIX_SIZE = 4096
_REPEATS = 15


@dataclass(frozen=True, slots=True)
class Ceilings:
    """Measured rates.

    Attributes:
        copy_bytes_per_s: Large device-to-device copy, bytes read plus bytes written.
        matrix_flops_per_s: Square product of random data through the vendor library, by dtype.
    """

    copy_bytes_per_s: float
    matrix_flops_per_s: dict[str, float]

    def floor_seconds(
        self, *, flops: float | None, moved_bytes: float | None, dtype: str
    ) -> tuple[float, str]:
        """Return the time that the ceilings allow, and which of them sets it."""
        rate = self.matrix_flops_per_s.get(dtype)
        matrix = flops / rate if flops and rate else 0.0
        memory = moved_bytes / self.copy_bytes_per_s if moved_bytes else 0.0
        return (matrix, "matrix") if matrix > memory else (memory, "memory")


def measure(clock: Clock, device: str, *, is_tiny: bool = False) -> Ceilings:
    """Measure copy bandwidth and matrix rates.

    Args:
        clock: Times single calls.
        device: Torch device type.
        is_tiny: Use sizes that suit a CPU; for trying the benchmark out.
    """
    size = 2**24 if is_tiny else _COPY_BYTES
    source = torch.randint(0, 127, (size,), dtype=torch.int8, device=device)
    target = torch.empty_like(source)
    copy_seconds = _median(clock, target.copy_, source)
    del source, target
    rates = {}
    for dtype in ("float16", "bfloat16", "float32"):
        side = _SMALL_MATRIX_SIZE if dtype == "float32" else _MATRIX_SIZE
        side = 128 if is_tiny else side
        left = torch.randn(side, side, device=device).to(getattr(torch, dtype))
        right = torch.randn(side, side, device=device).to(getattr(torch, dtype))
        rates[dtype] = 2 * side**3 / _median(clock, torch.matmul, left, right)
    return Ceilings(2 * size / copy_seconds, rates)


def _median(clock: Clock, call: Callable[..., Any], *inputs: Any) -> float:
    for _ in range(3):
        call(*inputs)
    readings = []
    for _ in range(_REPEATS):
        read = clock.sample(call, inputs, 0.0)
        clock.settle()
        readings.append(read())
    return statistics.median(readings)


def card(device: str) -> dict[str, str]:
    """Return product, driver and versions."""
    facts = {"torch": torch.__version__, "triton": metadata.version("triton"), "product": "cpu"}
    if device == "cuda":
        facts["product"] = torch.cuda.get_device_name(0)
        facts["cuda"] = str(torch.version.cuda)
        facts |= _driver_facts()
    return facts


def _driver_facts() -> dict[str, str]:
    """Ask nvidia-smi for what torch does not tell; empty where it is missing."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return {}
    fields = ("driver_version", "uuid", "clocks.max.sm", "power.limit")
    command = [program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader", "--id=0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)  # noqa: S603 - fixed arguments
    if done.returncode != 0:
        return {}
    return dict(zip(fields, (each.strip() for each in done.stdout.split(",")), strict=False))
