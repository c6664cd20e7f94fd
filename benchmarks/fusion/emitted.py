"""Runs emitted Triton files on the CPU, in Triton's interpreter.

To be imported before anything imports triton: the interpreter is chosen when triton is loaded.
"""

import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

os.environ["TRITON_INTERPRET"] = "1"

_FOLDS = {"_maximum": np.max, "_minimum": np.min, "_multiply": np.prod}
"""What folding with functions of our own comes to; in numpy, NaN wins too."""


def _fold_at_once() -> None:
    """Fold blocks by numpy: the interpreter calls the function once for each element.

    Takes seconds a kernel otherwise. What the functions say is checked by folds over loops.
    """
    from triton.runtime.interpreter import ReduceOps  # noqa: PLC0415  after the choice above

    slow: Any = ReduceOps.apply_impl
    if slow.__name__ == "fold":
        return

    def fold(self: Any, blocks: Any) -> Any:
        found = _FOLDS.get(getattr(getattr(self.combine_fn, "fn", None), "__name__", ""))
        if found is None:
            return slow(self, blocks)
        block = blocks[0]
        data = found(block.handle.data, axis=self.axis, keepdims=self.keep_dims)
        return self.to_tensor(data, block.dtype)

    ReduceOps.apply_impl = fold


def run(
    text: str, folder: Path, name: str, given: Mapping[str, Any], paths: Mapping[str, str]
) -> list[Any]:
    """Load a file, give its model weights and inputs, and return the outputs as arrays.

    Args:
        text: Of the file.
        folder: Where it is written.
        name: Of the module; unique in the process.
        given: Tensor of each input and parameter by name; inputs in order.
        paths: Name in the state of each parameter.
    """
    import torch  # noqa: PLC0415  loads no triton by itself, but nothing here needs it before

    _fold_at_once()
    place = folder / f"{name}.py"
    place.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{place} makes no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    model = module.Model()
    model.load_state_dict({path: given[name] for name, path in paths.items()}, strict=False)
    with torch.no_grad(), np.errstate(all="ignore"):
        found = model(*(value for name, value in given.items() if name not in paths))
    outputs = found if isinstance(found, tuple) else (found,)
    return [each.detach().to(torch.float64).numpy() for each in outputs]
