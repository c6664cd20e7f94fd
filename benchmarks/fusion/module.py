"""A PyTorch module with inputs on a device, and files that claim to do the same faster."""

import copy
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

Call = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Module:
    """The reference of one folder.

    Attributes:
        folder: Holds ``ref.py`` and ``dtype``.
        arguments: For the constructor.
        model: In eval mode, on the device.
        inputs: Seeded by the folder's name.
        device: Torch's name.
    """

    folder: Path
    arguments: tuple[Any, ...]
    model: Any
    inputs: tuple[Any, ...]
    device: str

    @classmethod
    def load(cls, folder: Path, device: str) -> "Module":
        """Import a folder's reference and draw weights and inputs."""
        reference = load(folder / "ref.py")
        dtype = getattr(torch, (folder / "dtype").read_text(encoding="utf-8").strip())
        torch.manual_seed(sum(folder.name.encode()))
        with torch.device(device):  # drawn there: gigabytes take seconds on the host
            arguments = tuple(reference.get_init_inputs())
            model = reference.Model(*arguments).to(device, dtype).eval()
            inputs = tuple(_cast(each, device, dtype) for each in reference.get_inputs())
        return cls(folder, arguments, model, inputs, device)

    def fused(self, path: Path) -> Call:
        """Import a file and give its model the reference's weights."""
        made: Any = load(path).Model(*self.arguments).to(self.device).eval()
        made.load_state_dict(self.model.state_dict())
        return made  # type: ignore[no-any-return]

    def compulsory_bytes(self) -> int:
        """Return bytes of inputs, weights and outputs, each counted once."""
        outputs = self.model(*self.inputs)
        outputs = outputs if isinstance(outputs, tuple | list) else [outputs]
        tensors = [*self.inputs, *self.model.state_dict().values(), *outputs]
        return sum(each.numel() * each.element_size() for each in tensors)

    def exact(self) -> Any:
        """Return the outputs in float64, flat."""
        wide = copy.deepcopy(self.model).double()
        return flat(wide(*(_cast(each, self.device, torch.float64) for each in self.inputs)))


def _cast(tensor: Any, device: str, dtype: Any) -> Any:
    return tensor.to(device, dtype) if tensor.is_floating_point() else tensor.to(device)


def flat(output: Any) -> Any:
    """Return all elements of all outputs as one row."""
    outputs = output if isinstance(output, tuple | list) else [output]
    return torch.cat([each.detach().reshape(-1) for each in outputs])


def load(path: Path) -> Any:
    """Import a file under a name of its own."""
    name = f"card_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
