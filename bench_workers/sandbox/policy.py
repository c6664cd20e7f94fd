"""What a child may see, use and take, as data; the layers turn it into walls."""

import importlib.util
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Backend = Literal["cpu", "cuda", "xpu"]

CHILD_DIRECTORY = Path(__file__).resolve().parent.parent / "child"
_GIB = 1 << 30
_MIB = 1 << 20
_SYSTEM = ("/lib", "/lib32", "/lib64", "/bin", "/sbin")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")  # the loader's map; where `cc` leads
_PACKAGES = ("torch", "triton", "numpy")
_DRIVER_FOLDERS: Mapping[Backend, tuple[str, ...]] = {
    "cpu": (),
    "cuda": ("/usr/local/nvidia",),
    "xpu": ("/etc/OpenCL", "/opt/intel"),
}
_DEVICE_NODES: Mapping[Backend, str] = {"cpu": "", "cuda": "nvidia*", "xpu": "dri"}
_VISIBLE: Mapping[Backend, str] = {
    "cpu": "",
    "cuda": "CUDA_VISIBLE_DEVICES",
    "xpu": "ZE_AFFINITY_MASK",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one child.

    Attributes:
        layer: Name of the isolation layer, see `bench_workers.sandbox.LAYERS`.
        python: Interpreter that runs the child.
        readable: Host folders and files that the child sees, read-only, under the same path.
        device_nodes: Character devices, or folders of them, that the child may open.
        search_paths: Folders to put on the child's module search path.
        environment: All variables the child gets, beside those that name its private folder.
        memory_bytes: Most memory of all its processes together; inherited shared memory and
            file pages are not counted.
        cpu_seconds: Most processor time of each of its processes.
        processes: Most processes and threads.
        files: Most open descriptors of each process.
        file_size_bytes: Longest file it may write.
        disk_bytes: Most disk its private folder may take.
        shared_memory_bytes: Size of its ``/dev/shm``.
        output_bytes: Most it may print before it is ended.
        work_directory: Host folder in which private folders are made; None: the system's
            temporary folder.
    """

    layer: str
    python: Path
    readable: tuple[Path, ...]
    device_nodes: tuple[Path, ...]
    search_paths: tuple[Path, ...]
    environment: Mapping[str, str]
    memory_bytes: int = 16 * _GIB
    cpu_seconds: int = 3600
    processes: int = 512
    files: int = 1024
    file_size_bytes: int = 2 * _GIB
    disk_bytes: int = 8 * _GIB
    shared_memory_bytes: int = 64 * _MIB
    output_bytes: int = 16 * _MIB
    work_directory: Path | None = None


def default_policy(
    backend: Backend,
    *,
    layer: str,
    memory_bytes: int = 16 * _GIB,
    threads: int | None = None,
    work_directory: Path | None = None,
) -> Policy:
    """Return the rules for this interpreter and a backend's device nodes and libraries.

    Args:
        backend: Decides which device nodes are opened; ``"cpu"``: none.
        layer: Name of the isolation layer.
        memory_bytes: Most memory of all processes of a child together.
        threads: Threads of the child's libraries; None: as many as processors, at most four.
        work_directory: Where private folders are made.
    """
    site = _site_folders()
    drivers = tuple(Path(path) for path in _DRIVER_FOLDERS[backend] if Path(path).exists())
    return Policy(
        layer=layer,
        python=Path(sys.executable),
        readable=_outermost((*_interpreter_folders(), *site, *drivers)),
        device_nodes=_device_nodes(backend),
        search_paths=site,
        environment=_environment(backend, threads or min(4, os.cpu_count() or 1)),
        memory_bytes=memory_bytes,
        work_directory=work_directory,
    )


def system_links() -> tuple[tuple[str, str], ...]:
    """Return the root's links into ``/usr`` as (content, path)."""
    return tuple((str(Path(path).readlink()), path) for path in _SYSTEM if Path(path).is_symlink())


def system_paths() -> tuple[str, ...]:
    """Return the system's own folders and files that every child sees."""
    folders = [path for path in _SYSTEM if Path(path).is_dir() and not Path(path).is_symlink()]
    return ("/usr", *folders, *(path for path in _SYSTEM_FILES if Path(path).exists()))


def parents(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return all folders above the paths, outermost first, the root left out."""
    found = {str(parent) for path in paths for parent in Path(path).parents}
    return tuple(sorted(found - {"/"}))


def _environment(backend: Backend, threads: int) -> dict[str, str]:
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "USER": "child",  # asked for by libraries that name caches after it
        "OMP_NUM_THREADS": str(threads),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    kept = [_VISIBLE[backend]] if _VISIBLE[backend] else []
    kept += [] if backend == "cpu" else ["LD_LIBRARY_PATH"]
    variables.update({name: os.environ[name] for name in kept if name in os.environ})
    return variables


def _interpreter_folders() -> tuple[Path, ...]:
    """Return the folders that hold the interpreter, by every name they go under."""
    named = (Path(sys.base_prefix), Path(sys.prefix), Path(sys.base_exec_prefix))
    return tuple(dict.fromkeys((*named, *(path.resolve() for path in named))))


def _site_folders() -> tuple[Path, ...]:
    """Return the folders in which the packages lie, without importing them."""
    folders = []
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            folders.append(Path(spec.origin).parent.parent)
    return tuple(dict.fromkeys(folders))


def _outermost(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Drop what ``/usr`` or another of the paths already contains."""
    kept: list[Path] = []
    for path in sorted(dict.fromkeys(paths), key=lambda path: len(path.parts)):
        if not any(path.is_relative_to(outer) for outer in (Path("/usr"), *kept)):
            kept.append(path)
    return tuple(kept)


def _device_nodes(backend: Backend) -> tuple[Path, ...]:
    """Return the backend's character devices, and folders that hold some."""
    pattern = _DEVICE_NODES[backend]
    found = sorted(Path("/dev").glob(pattern)) if pattern else []
    return tuple(path for path in found if path.is_dir() or stat.S_ISCHR(path.stat().st_mode))
