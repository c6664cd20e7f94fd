"""Mends ``x.exp()`` and its like in Triton's interpreter, which knows only ``tl.exp(x)``."""

from collections.abc import Callable
from typing import Any


def install() -> None:
    """Let methods of tensors call the functions of ``tl.math`` by the same names. Idempotent."""
    import triton.language as tl

    for name in dir(tl.math):
        method = getattr(tl.tensor, name, None)
        is_function = tl.core.is_builtin(getattr(tl.math, name))
        if method is not None and is_function and not tl.core.is_builtin(method):
            setattr(tl.tensor, name, _method(tl.math, name))


def _method(functions: Any, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Looked up when called: the interpreter puts its own functions there for a launch.
        return getattr(functions, name)(self, *args, **kwargs)

    return method
