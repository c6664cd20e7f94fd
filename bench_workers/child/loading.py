"""Imports the user's files and builds their models."""

import importlib.util
import inspect
import random
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

MODEL = "Model"
SEED_BOUND = 2**63


class Fault(Exception):
    """The user's file cannot be used; `kind` is a stable word, `line` lies in that file."""

    def __init__(self, kind: str, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Loaded:
    """An imported file.

    Attributes:
        name: Module name.
        path: Where its text was written.
        module: The module.
    """

    name: str
    path: str
    module: ModuleType

    def helper(self, name: str) -> Any:
        """Return a function of the file, or None."""
        found = getattr(self.module, name, None)
        return found if callable(found) else None

    @property
    def model(self) -> Any:
        """The class ``Model``.

        Raises:
            Fault: There is none.
        """
        found = getattr(self.module, MODEL, None)
        if not inspect.isclass(found):
            raise Fault("no_model", "the file defines no class Model")
        return found


def load(name: str, text: str, directory: Path) -> Loaded:
    """Write a file and import it; whatever it raises goes through."""
    path = directory / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise Fault("import", f"{path.name} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return Loaded(name, str(path), module)


def seed_everything(seed: int) -> None:
    """Seed every generator a constructor or ``get_inputs`` may draw from."""
    torch.manual_seed(seed % SEED_BOUND)
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - user code draws from the global one


def init_args(loaded: Loaded, given: list[Any] | None, dims: dict[str, Any] | None) -> list[Any]:
    """Return constructor arguments: those given, else the file's ``get_init_inputs``."""
    if given is not None:
        return [_untuple(each) for each in given]
    helper = loaded.helper("get_init_inputs")
    if helper is None:
        return []
    return list(call_helper(helper, dims))


def call_helper(helper: Any, dims: dict[str, Any] | None) -> Any:
    """Call ``get_inputs`` or ``get_init_inputs``; dimensions go in where it takes them."""
    parameters = inspect.signature(helper).parameters
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    wanted = {
        name: value for name, value in (dims or {}).items() if takes_any or name in parameters
    }
    return helper(**wanted)


def construct(loaded: Loaded, arguments: list[Any], seed: int, device: str = "cpu") -> Any:
    """Seed, then build the model.

    Args:
        loaded: File that holds it.
        arguments: Of its constructor.
        seed: For what it draws.
        device: Where its tensors are made unless it says otherwise: drawing the weights of a
            large layer takes a processor a second. A constructor that needs host tensors gets
            them.

    Raises:
        Fault: The arguments do not fit the constructor.
    """
    model = loaded.model
    try:
        inspect.signature(model).bind(*arguments)
    except TypeError as error:
        raise Fault(
            "arguments",
            f"Model() does not take the {len(arguments)} constructor arguments given: {error}",
            line_of_class(model),
        ) from error
    if device != "cpu":
        seed_everything(seed)
        try:
            with torch.device(device):
                return model(*arguments)
        except (TypeError, RuntimeError, ValueError):
            pass  # tried again as it was written; what is wrong with it shows there
    seed_everything(seed)
    return model(*arguments)


def line_of_class(model: Any) -> int | None:
    """Return the line of a class's constructor, else of the class."""
    target = model.__init__ if inspect.isfunction(model.__init__) else model
    try:
        return inspect.getsourcelines(target)[1]
    except (OSError, TypeError):
        return None


def place(model: Any, dtype: str | None, memory_format: str | None, device: str) -> Any:
    """Move a model to a device and cast it; a plain class stays as it is."""
    if not isinstance(model, torch.nn.Module):
        return model
    if dtype is not None and getattr(torch, dtype).is_floating_point:
        model = model.to(getattr(torch, dtype))
    if memory_format is not None:
        model = model.to(memory_format=getattr(torch, memory_format))
    return model.to(device)


def line_in(error: BaseException, path: str) -> int | None:
    """Return the innermost line of a file on an exception's path, causes included."""
    seen: BaseException | None = error
    while seen is not None:
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(seen.__traceback__)
            if frame.filename == path
        ]
        deeper = seen.__cause__ or seen.__context__
        if lines and not (deeper is not None and line_in(deeper, path) is not None):
            return lines[-1]
        seen = deeper
    return None


def _untuple(value: Any) -> Any:
    return [_untuple(each) for each in value] if isinstance(value, (list, tuple)) else value
