"""Compiles every launch of a call of ``forward`` instead of running it."""

import contextlib
import inspect
import time
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Any

import launchers
import tuned
from compile_error import describe
from machine_code import MachineCode
from machine_code import assembler_log
from machine_code import read_machine_code
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction


@dataclass(slots=True)
class LaunchCompiler:
    """Stands in for the launch of jit functions: compiles, remembers, returns.

    Attributes:
        configs_limit: Most autotune configurations compiled per launch.
        ends_at_seconds: Value of ``time.perf_counter`` after which configurations are left out.
        workload: Workload that is being called; set by the caller.
        reports: Fields of ``BuildReport``, one per distinct launch of each workload.
        skipped: What was left out and why, each once.
        is_linking: Whether to compile, too, what Triton puts between Python and the driver.
        is_quiet: Whether to fill the cache only, without reports.
    """

    configs_limit: int
    ends_at_seconds: float
    workload: str = ""
    reports: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    is_linking: bool = False
    is_quiet: bool = False
    _seen: set[tuple[Any, ...]] = field(default_factory=set)
    _code: dict[str, MachineCode] = field(default_factory=dict)
    _run: Callable[..., Any] = JITFunction.run
    _tuning: int = 0

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Replace launches while inside."""
        launch, tune = JITFunction.run, Autotuner.run
        self._run = launch

        def compile_launch(
            function: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any
        ) -> Any:
            del warmup
            return self.compile(function, args, grid, kwargs)

        def compile_configs(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            return self.compile_configs(tuner, args, kwargs)

        JITFunction.run, Autotuner.run = compile_launch, compile_configs
        try:
            yield
        finally:
            JITFunction.run, Autotuner.run = launch, tune

    def compile(self, function: Any, args: Any, grid: Any, kwargs: dict[str, Any]) -> Any:
        """Compile one launch into Triton's cache, under the key that a real launch would use."""
        started = time.perf_counter()
        try:
            with assembler_log() as log:
                kernel = self._run(function, *args, grid=grid, warmup=True, **kwargs)
        except Exception as error:
            self._failed(function, kwargs, error, time.perf_counter() - started)
            kernel = None
        else:
            seconds = time.perf_counter() - started
            if self.is_linking:
                launchers.link(kernel)
            if self.is_quiet:
                return kernel
            if kernel.hash not in self._code:
                self._code[kernel.hash] = read_machine_code(kernel, log.getvalue())
            self._compiled(function, kernel, args, kwargs, seconds)
        if callable(grid):
            grid(_bound(function, args, kwargs))
        return kernel

    def compile_configs(self, tuner: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Compile the configurations that Triton's tuner would time, up to the limit."""
        configs = tuned.choose(tuner, args, kwargs)
        kernel = None
        for number, config in enumerate(configs):
            is_late = number > 0 and time.perf_counter() > self.ends_at_seconds
            if number >= self.configs_limit or is_late:
                why = "no time left" if is_late else f"limit {self.configs_limit}"
                left = len(configs) - number
                name = tuner.base_fn.__name__
                self.note(f"{name}: {left} of {len(configs)} configurations not compiled ({why})")
                break
            self._tuning += len(configs) > 1
            try:
                kernel = tuned.run(tuner, config, args, kwargs)
            finally:
                self._tuning -= len(configs) > 1
        tuner.nargs = None
        return kernel

    def note(self, sentence: str) -> None:
        """Remember what was left out."""
        if sentence not in self.skipped and not self.is_quiet:
            self.skipped.append(sentence)

    def _compiled(
        self, function: Any, kernel: Any, args: Any, kwargs: dict[str, Any], seconds: float
    ) -> None:
        key = (self.workload, function.fn.__name__, kernel.hash)
        if key in self._seen:
            return
        self._seen.add(key)
        code = self._code[kernel.hash]
        self.reports.append(
            {
                "kernel": function.fn.__name__,
                "workload": self.workload,
                "constants": constants(function, args, kwargs),
                "num_warps": int(kernel.metadata.num_warps),
                "num_stages": int(kernel.metadata.num_stages),
                "registers": code.registers,
                "spill_bytes": code.spill_bytes,
                "shared_bytes": code.shared_bytes,
                "seconds": seconds,
                "matrix_instructions": code.matrix_instructions,
                "is_tuned": self._tuning > 0,
            }
        )

    def _failed(
        self, function: Any, kwargs: dict[str, Any], error: Exception, seconds: float
    ) -> None:
        if self.is_quiet:
            return
        message, line = describe(error, function)
        name = function.fn.__name__
        if self._tuning and isinstance(error, tuned.SKIPPED_ERRORS):
            self.note(f"{name}: a configuration fails to compile, so the tuner skips it: {message}")
            return
        key = (self.workload, name, message)
        if key in self._seen:
            return
        self._seen.add(key)
        self.reports.append(
            {
                "kernel": name,
                "workload": self.workload,
                "constants": constants(function, (), kwargs),
                "num_warps": int(kwargs.get("num_warps", 4)),
                "num_stages": int(kwargs.get("num_stages", 3)),
                "registers": None,
                "spill_bytes": None,
                "shared_bytes": 0,
                "error": message,
                "line": line,
                "seconds": seconds,
                "is_tuned": self._tuning > 0,
            }
        )


def _bound(function: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the launch's arguments by name, defaults included, as a grid function sees them."""
    given = dict(zip(function.arg_names, args, strict=False))
    given |= {name: value for name, value in kwargs.items() if name in function.arg_names}
    for parameter in function.params:
        if parameter.name not in given and parameter.default is not inspect.Parameter.empty:
            given[parameter.name] = parameter.default
    return given


def constants(function: Any, args: Any, kwargs: dict[str, Any]) -> dict[str, str]:
    """Return the values of the declared compile-time constants as text."""
    bound = _bound(function, args, kwargs)
    return {
        each.name: str(bound[each.name])
        for each in function.params
        if each.is_constexpr and each.name in bound
    }
