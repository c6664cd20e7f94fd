"""Says in the compiler's words what failed, and at which line of the candidate's file."""

import sys
import traceback
from typing import Any

import protocol
from triton.compiler.errors import CompilationError
from triton.runtime.jit import JITCallable
from triton.runtime.jit import get_jit_fn_file_line

LIMIT_CHARACTERS = 1600


def describe(error: BaseException, function: Any) -> tuple[str, int | None]:
    """Return the compiler's words and the line in the candidate's file.

    Args:
        error: What compiling raised.
        function: Jit function that was compiled.
    """
    words: list[str] = []
    line = None
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, CompilationError):
            line = _line(current, function) or line
            said = current.error_message or ""
        else:
            said = f"{type(current).__name__}: {current}"
        if said and not any(said in earlier for earlier in words):
            words.append(said)
        current = current.__cause__
    if line is None:
        line = _traceback_line(error)
    return _shortened(" / ".join(words) + _excerpt(error)), line


def _excerpt(error: BaseException) -> str:
    """Return the source lines with a caret that the innermost compiler error shows."""
    shown = ""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, CompilationError):
            shown = current.message.removesuffix(current.error_message or "").rstrip()
        current = current.__cause__
    return "\n" + "\n".join(shown.splitlines()[-4:]) if shown else ""


def _line(error: CompilationError, function: Any) -> int | None:
    """Map a line of a jit function's text to the candidate's file; None: it is in a library."""
    within = getattr(error.node, "lineno", None)
    if within is None:
        return None
    for known in [function, *_jit_functions(function)]:
        if known.src == error.src:
            file, first = get_jit_fn_file_line(known)
            if file in protocol.CANDIDATE_FILES:
                return first + within - 1
    return None


def _jit_functions(function: Any) -> list[Any]:
    """Return all jit functions of the module that holds one."""
    module = sys.modules.get(function.module)
    found = []
    for value in vars(module).values() if module else ():
        while not isinstance(value, JITCallable) and hasattr(value, "fn"):
            value = value.fn  # noqa: PLW2901 tuners and heuristics wrap it
        if isinstance(value, JITCallable) and hasattr(value, "src"):
            found.append(value)
    return found


def _traceback_line(error: BaseException) -> int | None:
    """Return the launch's line when the compiler names none."""
    lines = [
        frame.lineno
        for frame in traceback.extract_stack() + traceback.extract_tb(error.__traceback__)
        if frame.filename in protocol.CANDIDATE_FILES
    ]
    return lines[-1] if lines else None


def _shortened(text: str) -> str:
    half = LIMIT_CHARACTERS // 2
    return text if len(text) <= LIMIT_CHARACTERS else f"{text[:half]}\n[...]\n{text[-half:]}"
