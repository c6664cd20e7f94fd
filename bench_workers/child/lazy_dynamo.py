"""Spares a child three seconds: torch's fake tensors read two settings of a large package.

They import ``torch._dynamo`` for its ``config`` alone. A stand-in with that one module is put in
its place; whoever asks it for anything else gets the whole package, loaded then. So does whoever
imports another of its modules: those import each other, and only the package knows the order.
"""

import importlib
import sys
from importlib.abc import Loader
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
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
            _load_whole()
        return getattr(sys.modules[PACKAGE], name)


def _load_whole() -> None:
    del sys.modules[PACKAGE]
    importlib.import_module(PACKAGE)


class _Loaded(Loader):
    """Gives a module that is there already."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, _: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it has been executed."""


class WholeFirst(MetaPathFinder):
    """Loads the whole package before one of its modules is imported in the stand-in's name."""

    def find_spec(self, name: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        """Return the module where loading the package has loaded it too."""
        is_ours = name.startswith(f"{PACKAGE}.")
        if not (is_ours and isinstance(sys.modules.get(PACKAGE), WaitingPackage)):
            return None
        _load_whole()
        found = sys.modules.get(name)
        return None if found is None else ModuleSpec(name, _Loaded(found))


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
    sys.meta_path.insert(0, WholeFirst())
