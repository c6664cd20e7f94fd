"""Sets up Triton's interpreter: without a driver, right in bfloat16, every access checked."""

import os
from types import SimpleNamespace
from typing import Any

VARIABLE = "TRITON_INTERPRET"
_PRETENDED_ARCH = 90
_WARP_SIZE = 32
_FACTS = {"compute_units": 4, "shared_bytes_per_group": 232448, "registers_per_unit": 65536}
"""Few units, so that persistent kernels loop; limits of no device in particular."""


def switch_on() -> None:
    """Choose the interpreter; must come before the first import of triton."""
    os.environ[VARIABLE] = "1"


def install() -> None:
    """Give the interpreter what it lacks. Idempotent."""
    import fold_by_halves
    import libdevice_stand_ins
    import scalar_indices
    import tensor_methods
    from bf16 import install_bf16
    from bounds import install_bounds

    _stand_in_driver()
    install_bf16()
    install_bounds()
    fold_by_halves.install()
    libdevice_stand_ins.install()
    scalar_indices.install()
    tensor_methods.install()
    _patch_once_per_launch()
    _allow_overflow()


def _stand_in_driver() -> None:
    """Answer the questions that host code asks a driver, since there is none."""
    import standin_driver
    import torch

    target = {"backend": "cuda", "arch": _PRETENDED_ARCH, "warp_size": _WARP_SIZE}
    standin_driver.install(target, _FACTS, torch.device("cpu"))


def _patch_once_per_launch() -> None:
    """Patch Triton's language once per launch, not again for each call of a device function.

    Those calls happen thousands of times (every ``tl.sum`` is one), inside the outer patch.
    """
    import triton.language as tl
    from triton.runtime import interpreter

    patch = interpreter._patch_lang  # noqa: SLF001  there is no public way in
    if getattr(patch, "is_once", False):
        return
    everything = SimpleNamespace(__globals__={"tl": tl, "core": tl.core})
    depth = 0

    class Scope:
        """What a launch undoes at its end."""

        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def restore(self) -> None:
            nonlocal depth
            depth -= 1
            self._inner.restore()

    def patch_once(_function: Any) -> Any:
        nonlocal depth
        if depth:
            return None  # a device function: nobody restores what it patches
        depth += 1
        return Scope(patch(everything))

    patch_once.is_once = True  # type: ignore[attr-defined]
    interpreter._patch_lang = patch_once  # noqa: SLF001  the same


def _allow_overflow() -> None:
    """Let integers wrap as on a device; checking each addition costs a quarter of the time."""
    from triton.runtime import interpreter

    options = interpreter.InterpreterOptions(sanitize_overflow=False)
    interpreter.interpreter_builder.options = options
    make = interpreter.InterpreterBuilder.__init__

    def init(self: Any) -> None:
        make(self)
        self.options = options

    interpreter.InterpreterBuilder.__init__ = init
