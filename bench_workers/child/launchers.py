"""Compiles the C code that Triton puts between Python and the driver, where no device is."""

import contextlib
from typing import Any


def link(kernel: Any) -> None:
    """Leave a kernel's launcher and the driver's own helpers in the cache.

    Triton would otherwise call the C compiler at the first launch, while the device waits. It
    is no condition of anything: without the driver's library, or where this Triton needs no
    such code, nothing happens.

    Args:
        kernel: As ``triton.compile`` returns it.
    """
    if kernel.metadata.target.backend != "cuda":
        return
    from triton.backends.nvidia import driver

    with contextlib.suppress(Exception):
        driver.CudaUtils()
        driver.CudaLauncher(kernel.src, kernel.metadata)
