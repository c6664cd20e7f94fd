"""Does by hand what Triton's tuner does around a launch, without timing anything."""

from typing import Any

from triton.compiler.errors import CompileTimeAssertionFailure
from triton.runtime.errors import OutOfResources
from triton.runtime.errors import PTXASError

SKIPPED_ERRORS = (OutOfResources, CompileTimeAssertionFailure, PTXASError)
"""Configurations that fail so cost nothing: Triton's own tuner passes over them."""


def choose(tuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the configurations that the tuner would time, pruned by the kernel's own rules.

    The tuner keeps the launch's arguments in ``nargs`` until the caller is done.
    """
    tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
    configs = list(tuner.configs)
    if len(configs) > 1:
        configs = list(tuner.prune_configs(kwargs))
    tuner.best_config = configs[0]
    return configs


def run(tuner: Any, config: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Launch once with one configuration, as the tuner does after it has chosen.

    Hooks of the tuner itself (resetting and restoring tensors) belong to its timing runs and are
    left out; those of the configuration belong to every launch.
    """
    values = {**kwargs, **config.all_kwargs()}
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **values})
    return tuner.fn.run(*args, **values)
