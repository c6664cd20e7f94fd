"""Interprets a few programs of every launch and keeps what they do."""

import inspect
from dataclasses import dataclass
from dataclasses import field
from types import SimpleNamespace
from typing import Any

import counting_builder
import numpy as np
import torch
import triton.language as tl
import tuned
from sampling import sample_programs
from tally import Tally
from tally import regions_of
from triton.runtime import interpreter
from triton.runtime.autotuner import Autotuner
from triton.tools.tensor_descriptor import TensorDescriptor

ENOUGH_STEPS_ALONE, ENOUGH_STEPS_IN_PAIRS = 3000, 1000
"""After so many accesses and products no further program is interpreted: about a second's work.

Not a time, so that the same source gives the same counts on a busy machine. Programs are sampled
in pairs that balance each other, so one alone is enough only when it is very long.
"""

_AXES = 3


@dataclass(slots=True)
class LaunchCounter:
    """Stands in for the interpreter's launch.

    Attributes:
        ends_at_seconds: Value of ``time.perf_counter`` at which counting is given up.
        works: Fields of ``KernelWork``, one per launch or library operator, in order.
        notes: What was assumed, each once.
    """

    ends_at_seconds: float
    works: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _known: dict[Any, dict[str, Any]] = field(default_factory=dict)

    def install(self) -> None:
        """Replace launches, device functions and the tuner for good."""
        _speed_up_device_functions()
        counter = self

        def launch(executor: Any, *args: Any, **kwargs: Any) -> None:
            counter.launch(executor, args, kwargs)

        def tune(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return counter.first_configuration(tuner, args, kwargs)

        interpreter.GridExecutor.__call__ = launch
        Autotuner.run = tune

    def first_configuration(self, tuner: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Launch with the first configuration that the kernel's own rules leave."""
        configs = tuned.choose(tuner, args, kwargs)
        if len(configs) > 1:
            note = f"{tuner.base_fn.__name__}: counted with its first configuration ({configs[0]})"
            if note not in self.notes:
                self.notes.append(note)
        result = tuned.run(tuner, configs[0], args, kwargs)
        tuner.nargs = None
        return result

    def launch(self, executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Count one launch; an equal one that was counted before is only repeated."""
        options = {name: value for name, value in kwargs.items() if name not in executor.arg_names}
        named = {name: value for name, value in kwargs.items() if name in executor.arg_names}
        bound = inspect.getcallargs(executor.fn, *args, **named)
        grid = executor.grid(bound) if callable(executor.grid) else executor.grid
        grid = tuple(int(size) for size in grid)
        for hook in executor.pre_run_hooks:
            hook(*args, **named)
        key = (executor.fn, grid, *(_described(value) for value in bound.values()))
        if key not in self._known:
            self._known[key] = self._count(executor, bound, grid)
        work = dict(self._known[key])
        if "num_warps" in options:
            work["num_warps"] = int(options["num_warps"])
        self.works.append(work)

    def _count(self, executor: Any, bound: dict[str, Any], grid: tuple[int, ...]) -> dict[str, Any]:
        builder = interpreter.interpreter_builder
        tally = Tally(regions_of(_tensors(bound.values())), self.ends_at_seconds)
        counting_builder.NOW.tally = tally
        scope = interpreter._patch_lang(_EVERYTHING)  # noqa: SLF001
        done = 0
        programs = sample_programs(grid)
        try:
            with np.errstate(all="ignore"):
                values = {
                    name: value if name in executor.constexprs else interpreter._implicit_cvt(value)  # noqa: SLF001
                    for name, value in bound.items()
                }
                builder.set_grid_dim(*(grid + (1,) * (_AXES - len(grid))))
                for place in programs:
                    builder.set_grid_idx(*(place + (0,) * (_AXES - len(place))))
                    executor.fn(**values)
                    done += 1
                    limit = ENOUGH_STEPS_ALONE if done % 2 else ENOUGH_STEPS_IN_PAIRS
                    if tally.steps > limit:
                        break
        finally:
            scope.restore()
        return tally.work(executor.fn.__name__, int(np.prod(grid)), done)


def _anything() -> None:
    """Has the language in its globals, so that patching it patches all of the language."""


_EVERYTHING = SimpleNamespace(__globals__={"tl": tl, "core": tl.core})


def _speed_up_device_functions() -> None:
    """Call jit functions from jit functions without patching the language each time."""

    def call(function: Any, *args: Any, **kwargs: Any) -> Any:
        return function.rewrite()(*args, **kwargs)

    interpreter.InterpretedFunction.__call__ = call


def _tensors(values: Any) -> list[Any]:
    found = []
    for value in values:
        if isinstance(value, TensorDescriptor):
            found.append(value.base)
        elif isinstance(value, tuple):
            found.extend(_tensors(value))
        elif hasattr(value, "data_ptr") and hasattr(value, "stride"):
            found.append(value)
    return found


def _described(value: Any) -> Any:
    """Return what of an argument decides the work: layout of tensors, values of the rest."""
    if isinstance(value, torch.Tensor):
        return ("tensor", tuple(value.shape), value.stride(), value.dtype, value.data_ptr() % 16)
    if isinstance(value, TensorDescriptor):
        return (
            "descriptor",
            _described(value.base),
            *map(str, (value.shape, value.strides, value.block_shape)),
        )
    if isinstance(value, tuple):
        return tuple(_described(each) for each in value)
    return (type(value).__name__, str(value))
