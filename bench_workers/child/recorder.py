"""Stands around every Triton launch: records it, picks autotune configurations, names arguments."""

import contextlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import torch
import tuned
from torch.utils._python_dispatch import _disable_current_modes


@dataclass(slots=True)
class Recorder:
    """What to do with launches, and what was seen.

    Attributes:
        path: File whose lines are reported where a kernel's own file is not known.
        configuration: Which autotune configuration to use everywhere; None: let Triton tune.
        seen: Name and grid of each launch since the last `drain`.
        configurations: Most configurations any launch could choose from.
        chosen: The last chosen configuration as text.
        is_active: Whether to watch at all; timed calls are left alone.
    """

    is_active: bool = True
    path: str = ""
    configuration: int | None = None
    seen: list[dict[str, Any]] = field(default_factory=list)
    configurations: int = 1
    chosen: str = ""

    def drain(self) -> list[dict[str, Any]]:
        """Return launches since the last call."""
        found, self.seen = self.seen, []
        return found


RECORDER = Recorder()


def install() -> None:
    """Wrap Triton's launch path. Idempotent."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.interpreter import InterpretedFunction
    from triton.runtime.jit import JITFunction

    if getattr(Autotuner, "is_watched", False):
        return
    Autotuner.is_watched = True
    _wrap_tuner(Autotuner)
    _wrap_launch(JITFunction, interpreted=False)
    _wrap_launch(InterpretedFunction, interpreted=True)


def _wrap_tuner(tuner: Any) -> None:
    run = tuner.run

    def chosen_run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if RECORDER.configuration is None:
            return run(self, *args, **kwargs)
        everything = self.configs
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        legal = list(self.prune_configs(kwargs))
        RECORDER.configurations = max(RECORDER.configurations, len(legal))
        index = min(RECORDER.configuration, len(legal) - 1)
        try:
            return _first_that_fits(self, run, (*legal[index:], *legal[:index]), args, kwargs)
        finally:
            self.configs = everything

    tuner.run = chosen_run


def _first_that_fits(
    tuner: Any, run: Any, configs: tuple[Any, ...], args: Any, kwargs: dict[str, Any]
) -> Any:
    """Launch with the first configuration that the device can hold, as the tuner would.

    A configuration that asks for too much costs the tuner nothing but time; only when none is
    left is it a fault.
    """
    for number, config in enumerate(configs, start=1):
        tuner.configs = [config]
        RECORDER.chosen = str(config)
        try:
            return run(tuner, *args, **kwargs)
        except tuned.SKIPPED_ERRORS:
            if number == len(configs):
                raise
    return None


def _wrap_launch(function: Any, *, interpreted: bool) -> None:
    run = function.run

    def watched_run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        if warmup or not RECORDER.is_active:
            return run(self, *args, grid=grid, warmup=warmup, **kwargs)
        name = self.fn.__name__
        with quiet(), _interpreting(self, name, args, kwargs, active=interpreted):
            return run(self, *args, grid=_noted(grid, name), warmup=warmup, **kwargs)

    function.run = watched_run


def _noted(grid: Any, name: str) -> Any:
    """Return a grid that is recorded when Triton evaluates it."""

    def evaluated(meta: Any) -> Any:
        shape = grid(meta) if callable(grid) else grid
        shape = tuple(int(each) for each in shape)
        RECORDER.seen.append({"kernel": name, "grid": list(shape)})
        return shape

    return evaluated


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep torch modes out of Triton's own tensor handling."""
    with _disable_current_modes(), torch._C.DisableTorchFunction():  # noqa: SLF001
        yield


@contextlib.contextmanager
def _interpreting(
    function: Any, name: str, args: Any, kwargs: Any, *, active: bool
) -> Iterator[None]:
    if not active:
        yield
        return
    from bounds import WATCH
    from bounds import Launch

    before = WATCH.launch
    path = inspect.getsourcefile(function.fn) or RECORDER.path
    WATCH.launch = Launch(name, path, _names(function.arg_names, args, kwargs))
    try:
        yield
    finally:
        WATCH.launch = before


def _names(names: list[str], args: Any, kwargs: Any) -> dict[int, str]:
    """Map each tensor's address to the argument it was passed as."""
    found: dict[int, str] = {}
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        tensor = getattr(value, "base", value)
        if hasattr(tensor, "data_ptr"):
            address = tensor.data_ptr()
            found[address] = f"{found[address]}, {name}" if address in found else name
    return found
