"""Compiles emitted files with the system's compiler; what was compiled once is kept."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from xeforge.errors import PlatformError
from xeforge.errors import ToolchainMissing
from xeforge.fusion.emit.c.source import CSource
from xeforge.fusion.emit.c.source import fingerprint

COMPILERS = ("cc", "gcc", "clang")
HOME_VARIABLE = "XEFORGE_HOME"
SHOWN_CHARACTERS = 4000
LIMIT_SECONDS = 300


class CompilerFailed(PlatformError):
    """The compiler refused an emitted file.

    Attributes:
        output: What it said, at most `SHOWN_CHARACTERS` of it.
        source: The file, which is kept.
    """

    code = "c_compiler_failed"

    def __init__(self, output: str, source: Path) -> None:
        kept = output[:SHOWN_CHARACTERS]
        super().__init__(
            f"{source} does not compile:\n{kept}",
            remedy="the compiler must know the flags in the file's first lines: gcc 12 does",
        )
        self.output = kept
        self.source = source


def cache_folder() -> Path:
    """Return where libraries are kept: in ``$XEFORGE_HOME`` or the user's cache folder."""
    named = os.environ.get(HOME_VARIABLE)
    root = Path(named) if named else platformdirs.user_cache_path("xeforge")
    return root / "fusion_c"


def find_compiler() -> str:
    """Return the path of the first C compiler there is.

    Raises:
        ToolchainMissing: There is none.
    """
    for name in COMPILERS:
        found = shutil.which(name)
        if found:
            return found
    raise ToolchainMissing(
        f"no C compiler: none of {', '.join(COMPILERS)} is on the path",
        remedy="install one, e.g. apt-get install gcc",
    )


def build(source: CSource, *, folder: Path | None = None) -> Path:
    """Return the shared library of one emitted plan.

    Raises:
        ToolchainMissing: There is no compiler.
        CompilerFailed: It refused the file.
    """
    return compile_text(source.text, source.flags, folder=folder)


def compile_text(text: str, flags: Sequence[str], *, folder: Path | None = None) -> Path:
    """Compile a file unless that was done before; safe to call from several processes at once.

    Raises:
        ToolchainMissing: There is no compiler.
        CompilerFailed: It refused the file.
    """
    compiler = find_compiler()
    kept = folder or cache_folder()
    kept.mkdir(parents=True, exist_ok=True)
    name = fingerprint(text, (compiler, *flags))
    library = kept / f"{name}.so"
    if library.exists():
        return library
    source = kept / f"{name}.c"
    with tempfile.TemporaryDirectory(dir=kept) as scratch:
        written = Path(scratch) / "plan.c"
        written.write_text(text, encoding="utf-8")
        written.replace(source)
        made = Path(scratch) / "plan.so"
        command = [compiler, *flags, "-shared", "-fPIC", str(source), "-o", str(made), "-lm"]
        # The compiler is the system's and the file is ours.
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, timeout=LIMIT_SECONDS
        )
        if done.returncode:
            raise CompilerFailed(done.stderr, source)
        made.replace(library)
    return library
