"""Lets interpreted kernels call ``libdevice``, which exists only in compiled ones."""

import inspect
from typing import Any

import counting_builder
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.language.extra.hip import libdevice as hip_libdevice


def install() -> None:
    """Replace every function; must come before the candidate imports them by name."""
    for module in (libdevice, cuda_libdevice, hip_libdevice):
        for name, function in vars(module).items():
            if inspect.isfunction(function) and not name.startswith("_"):
                setattr(module, name, _elementwise)


def _elementwise(*args: Any, **_: Any) -> Any:
    """Count one operation per element; the result looks like the first argument."""
    first = next((each for each in args if isinstance(each, tl.tensor)), None)
    if first is None:
        return args[0]
    counting_builder.NOW.arithmetic(first.dtype, first.handle.data.size)
    return first
