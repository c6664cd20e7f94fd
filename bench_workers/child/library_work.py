"""Counts what torch's own operators move and compute; nothing of it is run."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from torch.utils.flop_counter import flop_registry

_FREE = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "set_", "resize_",
     "lift_fresh", "detach", "record_stream", "_local_scalar_dense", "is_pinned", "_pin_memory"}
)  # fmt: skip
_OVERWRITES = frozenset({"copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "bernoulli_"})
_TILE_ELEMENTS = 128 * 128
_ROW_ELEMENTS = 1024


class LibraryWork(TorchDispatchMode):
    """Notes every operator that moves data, in the order of the launches.

    Args:
        works: Fields of ``KernelWork`` are appended here.
    """

    def __init__(self, works: list[dict[str, Any]]) -> None:
        super().__init__()
        self._works = works

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call on, then note the operator."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = func._schema.name  # noqa: SLF001 the public name of an operator
        is_free = name.startswith("prim::") or name.rpartition("::")[2] in _FREE
        if not is_free and not _is_view(func):
            self._works.append(_work(func, name, args, kwargs, result))
        return result


def _is_view(func: Any) -> bool:
    """Whether the operator returns its input's memory without writing to it."""
    infos = [each.alias_info for each in func._schema.returns]  # noqa: SLF001
    return bool(infos) and all(each is not None and not each.is_write for each in infos)


def _work(func: Any, name: str, args: Any, kwargs: Any, result: Any) -> dict[str, Any]:
    inputs = _tensors((args, kwargs))
    outputs = _tensors(result)
    if name.rpartition("::")[2] in _OVERWRITES:
        inputs = inputs[1:]
    loaded, stored = sum(map(_bytes, inputs)), sum(map(_bytes, outputs))
    elements = sum(each.numel() for each in outputs)
    work = {
        "kernel": name,
        "programs": max(1, -(-elements // _ROW_ELEMENTS)),
        "loaded_bytes": float(loaded),
        "stored_bytes": float(stored),
        "unique_bytes": float(loaded + stored),
        "dot_flops": {},
        "vector_flops": {},
    }
    count = flop_registry.get(func) or flop_registry.get(func.overloadpacket)
    if count is not None:
        flops = float(count(*args, **kwargs, out_val=result))
        work["dot_flops"] = {_multiplied_as(name, inputs): flops}
        work["programs"] = max(1, -(-elements // _TILE_ELEMENTS))
    elif outputs and outputs[0].is_floating_point():
        touched = max([elements, *(each.numel() for each in inputs)])
        work["vector_flops"] = {_name(outputs[0].dtype): float(touched)}
    return work


def _multiplied_as(name: str, inputs: list[Any]) -> str:
    """Return the format in which a library multiplies its operands."""
    dtype = inputs[0].dtype if inputs else torch.float32
    if dtype != torch.float32:
        return _name(dtype)
    is_convolution = "conv" in name
    settings = torch.backends.cudnn if is_convolution else torch.backends.cuda.matmul
    return "tf32" if settings.allow_tf32 else "float32"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _tensors(values: Any) -> list[torch.Tensor]:
    return [each for each in tree_flatten(values)[0] if isinstance(each, torch.Tensor)]


def _bytes(tensor: torch.Tensor) -> int:
    """Return the distinct bytes of a tensor: expanded dimensions count once."""
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        elements *= size if stride or size == 0 else 1
    return elements * tensor.element_size()
