"""Sets up Triton's interpreter: without a driver, right in bfloat16, every access checked."""

import os

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
    import libdevice_stand_ins
    from bf16 import install_bf16
    from bounds import install_bounds

    _stand_in_driver()
    install_bf16()
    install_bounds()
    libdevice_stand_ins.install()


def _stand_in_driver() -> None:
    """Answer the questions that host code asks a driver, since there is none."""
    import standin_driver
    import torch

    target = {"backend": "cuda", "arch": _PRETENDED_ARCH, "warp_size": _WARP_SIZE}
    standin_driver.install(target, _FACTS, torch.device("cpu"))
