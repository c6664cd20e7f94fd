"""Spares a child three seconds: torch's fake tensors read two settings of a large package.

They import ``torch._dynamo`` for its ``config`` alone. A stand-in with that one module is put in
its place; whoever asks it for anything else gets the whole package, loaded then.
"""

import importlib
import sys
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

import torch

PACKAGE = "torch._dynamo"


def _unchanged(function: Any = None, *_: Any, **__: Any) -> Any:
    """Stand in for ``disable``: where nothing is traced there is nothing to keep from it."""
    return (lambda wrapped: wrapped) if function is None else function


class WaitingPackage(ModuleType):
    """Looks like the package; loads it when something of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(PACKAGE) is self:
            del sys.modules[PACKAGE]
            importlib.import_module(PACKAGE)
        return getattr(sys.modules[PACKAGE], name)


def install() -> None:
    """Put the stand-in in place, unless the package is loaded already."""
    if PACKAGE in sys.modules:
        return
    specification = PathFinder.find_spec(PACKAGE, torch.__path__)
    if specification is None or specification.submodule_search_locations is None:
        return
    waiting = WaitingPackage(PACKAGE)
    waiting.__spec__ = specification
    waiting.__path__ = list(specification.submodule_search_locations)
    sys.modules[PACKAGE] = waiting
    waiting.__dict__["config"] = importlib.import_module(f"{PACKAGE}.config")
    waiting.__dict__["disable"] = _unchanged
    torch.__dict__["_dynamo"] = waiting
