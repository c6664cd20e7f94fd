"""Child of run.py: times a found kernel against the submitted one and PyTorch, in one process.

Reads a JSON request on standard input, writes the results to the file that the request names.
"""

import contextlib
import json
import sys
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn.attention import SDPBackend
from torch.nn.attention import sdpa_kernel

from benchmarks.submitted import ceilings
from benchmarks.submitted import modules
from benchmarks.submitted.clock import Call
from benchmarks.submitted.clock import Clock
from benchmarks.submitted.clock import CudaClock
from benchmarks.submitted.clock import HostClock
from benchmarks.submitted.clock import alternate
from benchmarks.submitted.summary import Workout
from benchmarks.submitted.summary import summarise
from xeforge.app.request import to_problem
from xeforge.domain.problem import Workload

_ATTENTION = "scaled_dot_product_attention"
_ATTENTION_BACKENDS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION")
_WEIGHTS_SEED = 20_260
_WARM_UP_CALLS = 3
_INPUT_SETS = 2


@dataclass(frozen=True, slots=True)
class Request:
    """What run.py asks for.

    Attributes:
        kernel, found, reference, spec: Files; `found` equals `kernel` when nothing was found.
        device: ``cuda``, or ``cpu`` to try the benchmark out.
        variants: Variants of the spec; empty: its default.
        rounds: Most rounds per workload.
        seconds: Wall time per workload after which no round is begun.
        with_compiled: Whether torch.compile takes part.
        output: File for the results.
    """

    kernel: str
    found: str
    reference: str
    spec: str
    device: str
    variants: list[str]
    rounds: int
    seconds: float
    with_compiled: bool
    output: str


def main() -> int:
    """Measure every timed workload; write after each one, so that a crash loses one only."""
    request = Request(**json.load(sys.stdin))
    problem = to_problem(
        Path(request.kernel),
        spec=Path(request.spec),
        reference=Path(request.reference),
        variants=request.variants or None,
        device=request.device,
        target=None,
    )
    clock: Clock = CudaClock() if request.device == "cuda" else HostClock()
    is_tiny = request.device != "cuda"
    limits = ceilings.measure(clock, request.device, is_tiny=is_tiny)
    document: dict[str, Any] = {
        "card": ceilings.card(request.device),
        "ceilings": asdict(limits),
        "workloads": [],
    }
    output = Path(request.output)
    for workload in problem.timed:
        document["workloads"].append(measure_workload(request, workload, clock, limits))
        output.write_text(json.dumps(document), encoding="utf-8")
        free(request.device)
    return 0


def measure_workload(
    request: Request, workload: Workload, clock: Clock, limits: ceilings.Ceilings
) -> dict[str, Any]:
    """Return raw times, medians, ratios and checks of all sides on one workload."""
    reference = modules.construct(
        modules.load(Path(request.reference), "reference"), workload, request.device, _WEIGHTS_SEED
    )
    sets = [modules.draw(workload, request.device, seed) for seed in range(_INPUT_SETS)]
    failures: dict[str, str] = {}
    sides: dict[str, Call] = {}
    for name, make in _sides(request, workload, reference).items():
        with _reporting(name, failures):
            call = make()
            for _ in range(_WARM_UP_CALLS):
                call(*sets[0])
            clock.settle()
            sides[name] = call

    def redraw(index: int) -> list[Any]:
        """Give each round new contents; two sets of addresses take turns."""
        chosen = sets[index % _INPUT_SETS]
        for old, new in zip(
            chosen, modules.draw(workload, request.device, 1000 + index), strict=True
        ):
            old.copy_(new)
        return chosen

    with torch.no_grad():
        times = alternate(clock, sides, redraw, rounds=request.rounds, seconds=request.seconds)
        checks = _check(request, workload, reference, sides, failures)
    floor, bound = limits.floor_seconds(
        flops=workload.flops, moved_bytes=workload.moved_bytes, dtype=workload.dtype or ""
    )
    dims = ", ".join(f"{name}={value}" for name, value in workload.dims.items())
    workout = Workout(workload.name, dims, workload.dtype or "", floor, bound)
    return summarise(workout, times, checks, failures)


def _sides(request: Request, workload: Workload, reference: Any) -> dict[str, Callable[[], Call]]:
    """Return how to make each contestant."""

    def kernel(path: str, name: str) -> Callable[[], Call]:
        def make() -> Call:
            module = modules.load(Path(path), name)
            model = modules.construct(module, workload, request.device, _WEIGHTS_SEED)
            return without_gradients(modules.with_weights_of(model, reference))

        return make

    def compiled() -> Call:
        torch._dynamo.reset()  # noqa: SLF001 - there is no public way to forget earlier shapes
        return without_gradients(torch.compile(reference, dynamic=False))

    found: dict[str, Callable[[], Call]] = {
        "submitted": kernel(request.kernel, "submitted_kernel"),
        "found": kernel(request.found, "found_kernel"),
        "eager": lambda: without_gradients(reference),
    }
    if request.with_compiled:
        found["compiled"] = compiled
    if request.device == "cuda" and _ATTENTION in Path(request.reference).read_text("utf-8"):
        for name in _ATTENTION_BACKENDS:
            found[f"sdpa {name.removesuffix('_ATTENTION').lower()}"] = _attention(reference, name)
    return found


def _attention(reference: Any, backend: str) -> Callable[[], Call]:
    """Return the reference held to one attention backend."""

    def call(*inputs: Any) -> Any:
        with torch.no_grad(), sdpa_kernel(getattr(SDPBackend, backend)):
            return reference(*inputs)

    return lambda: call


def without_gradients(model: Any) -> Call:
    """Return a call that records no graph."""

    def call(*inputs: Any) -> Any:
        with torch.no_grad():
            return model(*inputs)

    return call


def _check(
    request: Request,
    workload: Workload,
    reference: Any,
    sides: dict[str, Call],
    failures: dict[str, str],
) -> dict[str, tuple[int, float]]:
    """Compare every side with float64 on inputs that no side has seen before."""
    inputs = modules.draw(workload, request.device, 987_654_321)
    wanted = modules.expected(reference, inputs)
    checks = {}
    for name, call in sides.items():
        with _reporting(name, failures):
            copies = [each.clone() for each in inputs]
            checks[name] = modules.wrong_elements(
                call(*copies), wanted, rtol=workload.rtol, atol=workload.atol
            )
    return checks


@contextlib.contextmanager
def _reporting(name: str, failures: dict[str, str]) -> Iterator[None]:
    """Note why a side drops out and go on with the others."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - contestants may raise anything
        failures[name] = f"{type(error).__name__}: {error}"[:500]


def free(device: str) -> None:
    """Give memory of the last workload back."""
    if device == "cuda":
        torch.cuda.empty_cache()


if __name__ == "__main__":
    sys.exit(main())
