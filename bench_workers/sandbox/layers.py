"""Which walls stand on this machine, found by building each once."""

import functools
import os
from dataclasses import dataclass
from types import ModuleType

from bench_workers.sandbox import bare
from bench_workers.sandbox import bwrap
from bench_workers.sandbox import unshare
from bench_workers.sandbox.identity import fresh_uid
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.start import start
from bench_workers.sandbox.zygote import Zygote
from xeforge.errors import PlatformError
from xeforge.errors import ToolchainMissing

LAYERS: tuple[ModuleType, ...] = (bwrap, unshare, bare)
"""Strongest first."""

ZYGOTE = "zygote"
_LIBRARIES = ("torch", "triton")
"""A thread that one of them starts at its import would keep a zygote from forking."""

_ZYGOTE_REMEDY = "run a Linux of 5.3 or newer that lets this user nest namespaces"
_LAST_LINES = 300


@dataclass(frozen=True, slots=True)
class Layer:
    """One row of what ``xeforge doctor`` shows.

    Attributes:
        name: Registered name.
        is_active: Whether children can be started inside it here.
        detail: What it keeps apart, or why it does not work.
        remedy: Command that mends it; empty when it works.
    """

    name: str
    is_active: bool
    detail: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Form:
    """A layer in the form that works here.

    Attributes:
        module: The layer.
        changes_user: Whether each child becomes a user of its own.
    """

    module: ModuleType
    changes_user: bool

    def uid(self) -> int | None:
        """Return the user for the next child; None: it keeps this process's."""
        return fresh_uid() if self.changes_user else None


def available_layers() -> tuple[Layer, ...]:
    """Try every layer and report, strongest first; the first call starts processes.

    The last row says whether the strongest that works has a zygote.
    """
    rows = tuple(_row(module) for module in LAYERS)
    best = next((row.name for row in rows if row.is_active), None)
    return rows if best is None else (*rows, _zygote_row(best))


def zygote_problem(name: str) -> str:
    """Say why children cannot be forked from a warm process in a layer; empty when they can.

    Raises:
        ToolchainMissing: The layer itself does not work, or there is none of that name.
    """
    standing(name)
    return _probe_zygote(name)


def best_layer() -> str:
    """Return the name of the strongest layer that works here.

    Raises:
        ToolchainMissing: Not even a plain process can be started.
    """
    for module in LAYERS:
        if isinstance(_probe(module.NAME), Form):
            return str(module.NAME)
    raise ToolchainMissing("no child process can be started", remedy=bwrap.REMEDY)


def standing(name: str) -> Form:
    """Return a layer in the form that works here.

    Raises:
        ToolchainMissing: It does not work, or there is none of that name.
    """
    found = _probe(name)
    if isinstance(found, Form):
        return found
    raise ToolchainMissing(f"the layer {name!r} does not work here: {found}", remedy=_remedy(name))


@functools.cache
def _probe(name: str) -> Form | str:
    """Start a child that only echoes; return the form in which that worked, or what went wrong."""
    module = next((module for module in LAYERS if name == module.NAME), None)
    if module is None:
        return f"unknown; there are {', '.join(layer.NAME for layer in LAYERS)}"
    policy = default_policy("cpu", layer=name)
    problem = ""
    for changes_user in (True, False) if os.geteuid() == 0 else (False,):
        form = Form(module, changes_user)
        try:
            with start("echo", policy, module, uid=form.uid()) as child:
                child.request("echo", {}, deadline_seconds=10)
        except PlatformError as error:
            problem = problem or " ".join(error.message.split())[:_LAST_LINES]
        else:
            return form
    return problem


@functools.cache
def _probe_zygote(name: str, preload: tuple[str, ...] = ()) -> str:
    """Have a child forked that only echoes; return what went wrong."""
    form = standing(name)
    options = {"preload": preload}
    zygote = Zygote(default_policy("cpu", layer=name), form.module, uid=form.uid, options=options)
    try:
        with zygote.take("echo") as child:
            child.request("echo", {}, deadline_seconds=10)
    except PlatformError as error:
        return " ".join(error.message.split())[:_LAST_LINES]
    finally:
        zygote.close()
    return ""


def _zygote_row(layer: str) -> Layer:
    problem = _probe_zygote(layer, _LIBRARIES)
    if not problem:
        detail = f"children in {layer} are forked from a warm process, each behind its own walls"
        return Layer(ZYGOTE, is_active=True, detail=detail, remedy="")
    detail = f"children in {layer} are started one by one, which is slower: {problem}"
    return Layer(ZYGOTE, is_active=False, detail=detail, remedy=_ZYGOTE_REMEDY)


def _row(module: ModuleType) -> Layer:
    found = _probe(module.NAME)
    if isinstance(found, Form):
        own = "each child its own user" if found.changes_user else "this process's user"
        return Layer(module.NAME, is_active=True, detail=f"{module.SUMMARY}; {own}", remedy="")
    return Layer(module.NAME, is_active=False, detail=found, remedy=module.REMEDY)


def _remedy(name: str) -> str | None:
    return next((module.REMEDY for module in LAYERS if name == module.NAME), None)
