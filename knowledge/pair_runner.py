"""Runs the two kernels of an example and compares their answers: standard library and torch only.

Used by tests (in Triton's interpreter), by the benchmark of effects (on a card) and, as a program
inside the sandbox, by `xeforge kb lint --run`: it reads one pair as JSON from standard input and
writes what went wrong, or nothing.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from triton.runtime.autotuner import Autotuner

Run = Callable[..., Any]


def load_run(path: Path) -> Run:
    """Import an example and return its function ``run``."""
    name = "example_" + path.name.removesuffix(".py").replace(".", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Triton looks a kernel's module up to read its source
    spec.loader.exec_module(module)
    found: Run = module.run
    return found


def make_inputs(
    tensors: Sequence[Mapping[str, Any]], sizes: Mapping[str, int], *, device: str, seed: int
) -> list[Any]:
    """Draw the inputs of a pair.

    Args:
        tensors: Name, shape (as names of sizes), dtype and fill of each.
        sizes: Values of the names.
        device: Torch device.
        seed: Makes them repeatable.
    """
    source = torch.Generator(device=device).manual_seed(seed)
    made = []
    for each in tensors:
        shape = [sizes[name] for name in each["shape"]]
        values = torch.randn(shape, generator=source, device=device)
        if each["fill"] == "positive":
            values = values.abs() + 0.5
        made.append(values.to(getattr(torch, each["dtype"])))
    return made


def difference(got: Any, expected: Any, *, rtol: float, atol: float) -> str:
    """Say how two answers differ beyond the tolerance; empty: they agree.

    `atol` is relative to the largest expected magnitude, so that it means the same for sums of
    few and of many terms.
    """
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{tuple(got.shape)} {got.dtype} instead of {tuple(expected.shape)} {expected.dtype}"
    one, two = got.double(), expected.double()
    if not bool(torch.isfinite(one).all()) or not bool(torch.isfinite(two).all()):
        return "an answer is not finite"
    limit = rtol * two.abs() + atol * two.abs().max()
    over = (one - two).abs() > limit
    if not bool(over.any()):
        return ""
    worst = float((one - two).abs().max())
    return f"{int(over.sum())} of {over.numel()} elements differ, by up to {worst:.3g}"


def compare(pair: Mapping[str, Any], *, device: str, scale: str = "small") -> str:
    """Run both files of a pair on the same inputs; return what differs, or nothing."""
    answers = []
    for when in ("before", "after"):
        given = make_inputs(pair["inputs"], pair[scale], device=device, seed=0)
        answers.append(load_run(Path(pair[when]))(*given))
    return difference(answers[1], answers[0], rtol=pair["rtol"], atol=pair["atol"])


def main() -> int:
    """Compare the pair on standard input; whatever the examples raise is what went wrong."""
    pair = json.load(sys.stdin)
    use_first_configuration()
    try:
        trouble = compare(pair, device="cpu")
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        trouble = f"{type(error).__name__}: {error}"
    sys.stdout.write(json.dumps({"trouble": trouble[:2000]}))
    return 0


def use_first_configuration() -> None:
    """Let autotuners take their first configuration: nothing interpreted is worth timing."""
    # Autotuner calls it with positional and named arguments of its own choosing.
    Autotuner._bench = lambda *_, **__: [1.0, 1.0, 1.0]  # noqa: SLF001


if __name__ == "__main__":
    sys.exit(main())
