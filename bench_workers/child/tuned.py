"""Does by hand what Triton's tuner does before and around each configuration, without timing."""

from typing import Any


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
    """Launch once with one configuration, hooks included."""
    values = {**kwargs, **config.all_kwargs()}
    named = {**tuner.nargs, **values}
    if config.pre_hook is not None:
        config.pre_hook(named)
    tuner.pre_hook(named)
    result = tuner.fn.run(*args, **values)
    tuner.post_hook(named, exception=None)
    return result
