"""Reads what the compiler made of a kernel: registers, spills, matrix instructions."""

import contextlib
import io
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton import knobs

_NVIDIA_MATRIX = re.compile(
    r"^\s*(?:@\S+\s+)?(?:wgmma\.mma_async|mma\.sync|tcgen05\.mma)", re.MULTILINE
)
_AMD_MATRIX = re.compile(r"^\s*v_(?:mfma|smfmac|wmma|swmmac)_", re.MULTILINE)
_TOOL_SECONDS = 60


@dataclass(frozen=True, slots=True)
class MachineCode:
    """Facts about one compiled kernel.

    Attributes:
        registers: 32-bit registers per thread; None when the tools do not say.
        spill_bytes: Bytes spilled per thread; None when the tools do not say.
        shared_bytes: On-chip memory of one work-group.
        matrix_instructions: Instructions of the matrix units in the text; None when not known.
    """

    registers: int | None
    spill_bytes: int | None
    shared_bytes: int
    matrix_instructions: int | None


@contextlib.contextmanager
def assembler_log() -> Iterator[io.StringIO]:
    """Collect what the assembler says while Triton compiles; empty when nothing is assembled."""
    said = io.StringIO()
    before = knobs.nvidia.dump_ptxas_log
    knobs.nvidia.dump_ptxas_log = True
    try:
        with contextlib.redirect_stdout(said):
            yield said
    finally:
        knobs.nvidia.dump_ptxas_log = before


def read_machine_code(kernel: Any, log: str) -> MachineCode:
    """Return the facts about a kernel that Triton has compiled.

    Args:
        kernel: As Triton returns it.
        log: What the assembler said, see `assembler_log`.
    """
    shared = int(kernel.metadata.shared)
    if "cubin" in kernel.asm:
        registers, spills = _number(r"Used (\d+) registers", log), _nvidia_spills_in(log)
        if registers is None or spills is None:  # taken from the cache
            registers, stack = _nvidia_usage(kernel.asm["cubin"])
            # A stack frame is not yet a spill: local arrays live there too.
            spills = _nvidia_spill_bytes(kernel.asm["ptx"]) if stack else stack
        matrix = len(_NVIDIA_MATRIX.findall(kernel.asm["ptx"]))
        return MachineCode(registers, spills, shared, matrix)
    if "amdgcn" in kernel.asm:
        text = kernel.asm["amdgcn"]
        spilled = _number(r"\.vgpr_spill_count:\s*(\d+)", text)
        return MachineCode(
            registers=_number(r"\.vgpr_count:\s*(\d+)", text),
            spill_bytes=None if spilled is None else 4 * spilled,
            shared_bytes=shared,
            matrix_instructions=len(_AMD_MATRIX.findall(text)),
        )
    return MachineCode(None, None, shared, None)


def _number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(found[1]) if found else None


def _run_tool(command: list[str]) -> str:
    """Return what a tool of the compiler prints; empty when it fails or is not there."""
    try:
        done = subprocess.run(  # noqa: S603 the tools that Triton itself runs
            command, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _nvidia_usage(cubin: bytes) -> tuple[int | None, int | None]:
    """Return registers and stack bytes of one thread."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        text = _run_tool([knobs.nvidia.cuobjdump.path, "-res-usage", str(path)])
    return _number(r"REG:(\d+)", text), _number(r"STACK:(\d+)", text)


def _nvidia_spill_bytes(ptx: str) -> int | None:
    """Return the bytes a thread writes to spill, by assembling once more with ``-v``."""
    arch = re.search(r"^\.target\s+(sm_\w+)", ptx, re.MULTILINE)
    if arch is None:
        return None
    is_blackwell = int(re.sub(r"\D", "", arch[1])) >= 100  # noqa: PLR2004 sm_100 and later
    tool = knobs.nvidia.ptxas_blackwell if is_blackwell else knobs.nvidia.ptxas
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ptx"
        path.write_text(ptx, encoding="utf-8")
        output = str(Path(folder) / "kernel.cubin")
        text = _run_tool([tool.path, "-v", f"--gpu-name={arch[1]}", str(path), "-o", output])
    return _nvidia_spills_in(text)


def _nvidia_spills_in(log: str) -> int | None:
    """Return the bytes a thread spills in the worst of the functions that were assembled."""
    found = re.findall(r"(\d+) bytes spill stores", log)
    return max(map(int, found)) if found else None
