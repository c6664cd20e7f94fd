"""Lists the tensor operators of one call: who computed, who only copied."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

_FREE = frozenset(
    {
        "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
        "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones",
        "new_full", "zero_", "fill_", "arange", "scalar_tensor", "set_", "resize_", "lift_fresh",
        "detach", "is_pinned", "_unsafe_view", "_reshape_alias", "sym_size", "sym_stride",
        "record_stream", "zero", "fill",
    }
)  # fmt: skip
_COPIES = frozenset(
    {"copy_", "copy", "clone", "_to_copy", "contiguous", "_local_scalar_dense", "_copy_from",
     "_copy_from_and_resize", "_pin_memory"}
)  # fmt: skip


class Accounting(TorchDispatchMode):
    """Collects operator names while active.

    Attributes:
        computed: Operators that computed something.
        copied: Operators that copied, cast or fetched whole tensors.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Keep torch from importing its compiler (seconds) to guard this mode against it."""
        return False

    def __init__(self) -> None:
        super().__init__()
        self.computed: set[str] = set()
        self.copied: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the operator, then run it."""
        name = str(func._schema.name).replace("::", ".")  # noqa: SLF001
        plain = name.rpartition(".")[2]
        if plain in _COPIES:
            self.copied.add(name)
        elif plain not in _FREE and not _is_view(func):
            self.computed.add(name)
        return func(*args, **(kwargs or {}))


def _is_view(func: Any) -> bool:
    """Whether the operator returns its input's memory without writing to it."""
    infos = [each.alias_info for each in func._schema.returns]  # noqa: SLF001
    return bool(infos) and all(each is not None and not each.is_write for each in infos)
