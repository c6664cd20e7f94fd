"""Lets scalars of Triton's interpreter be loop bounds and indices under every NumPy.

NumPy 2.4 refuses to make an index of a one-element array, which is what the interpreter of Triton
3.6 asks of it ("only 0-dimensional arrays can be converted to Python scalars").
"""

from typing import Any

from triton.runtime import interpreter


def install() -> None:
    """Patch the interpreter's tensors. Idempotent."""
    original = interpreter._patch_lang_tensor  # noqa: SLF001  there is no public way in
    if getattr(original, "makes_scalars_indices", False):
        return

    def patch(tensor: Any, scope: Any) -> None:
        original(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.reshape(-1)[0]))

    patch.makes_scalars_indices = True  # type: ignore[attr-defined]
    interpreter._patch_lang_tensor = patch  # noqa: SLF001  the same
