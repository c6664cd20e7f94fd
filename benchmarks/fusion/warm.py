"""Compiles what `card` will time, in many processes, into Triton's and Inductor's disk caches.

Needs Torch and Triton only. Fused kernels are compiled and not launched; `torch.compile` runs once.
"""

import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Work:
    """What one process compiles at a time.

    Attributes:
        folder: Of one module, as `plans` writes them.
        path: A fused file in it; None: the module by ``torch.compile``.
        device: Torch's name.
    """

    folder: Path
    path: Path | None
    device: str


def warm(folders: Sequence[Path], device: str, *, jobs: int, compiled: bool) -> list[str]:
    """Compile everything; return what failed, in words.

    Args:
        folders: As `plans` writes them.
        device: Torch's name.
        jobs: Processes.
        compiled: Whether ``torch.compile`` is wanted, too.
    """
    works = [Work(folder, None, device) for folder in folders if compiled]
    works += [
        Work(each, path, device)
        for each in folders
        for path in (*fused_files(each), *ablated_files(each))
    ]
    failed = []
    with ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_one_thread
    ) as pool:
        running = {pool.submit(_compile, each): each for each in works}
        for done in as_completed(running):
            error = done.exception()
            if error is not None:
                work = running[done]
                name = work.path.stem if work.path else "torch.compile"
                failed.append(f"{work.folder.name} {name}: {type(error).__name__}: {error}"[:300])
    return failed


def fused_files(folder: Path) -> list[Path]:
    """Return the files of a folder that the fusion compiler wrote."""
    return sorted(folder.glob("fused_*.py"))


def ablated_files(folder: Path) -> list[Path]:
    """Return the files that were made with a part of the compiler left out."""
    return sorted(folder.glob("without_*.py"))


def _one_thread() -> None:
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"


def _compile(work: Work) -> None:
    import torch  # noqa: PLC0415  in the processes alone

    from benchmarks.fusion.module import Module  # noqa: PLC0415

    torch.set_num_threads(1)
    module = Module.load(work.folder, work.device)
    with torch.no_grad():
        if work.path is None:
            torch.compile(module.model)(*module.inputs)
        else:
            _launch_nothing()
            module.fused(work.path)(*module.inputs)
    torch.cuda.empty_cache()
    sys.stdout.flush()


def _launch_nothing() -> None:
    """Let every launch compile, and stop there."""
    from triton.runtime.jit import JITFunction  # noqa: PLC0415

    run: Any = JITFunction.run
    if run.__name__ == "compile_only":
        return

    def compile_only(self: Any, *args: Any, **options: Any) -> Any:
        return run(self, *args, **{**options, "warmup": True})

    JITFunction.run = compile_only
