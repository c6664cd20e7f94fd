"""Times kernels of the fusion compiler on a card, in turn with eager and `torch.compile`.

    python -m benchmarks.fusion.plans --date 2026-01-31 --out plans.json --sources made
    python -m benchmarks.fusion.card --sources made --date 2026-01-31 --out card.json

Needs Torch and Triton only. Every call finds cold caches; every output is compared with float64,
and its error with that of eager. The ratio is that of medians; low and high are 10 % and 90 % of
the ratios of single rounds.
"""

import argparse
import importlib.util
import json
import statistics
import sys
from collections.abc import Callable
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

FLUSHED_BYTES = 256 << 20
MOST_ERROR = 4.0
"""How often eager's own error against float64 a kernel may exceed."""
LEAST_ERROR = 1e-3
"""Relative error that is always allowed in 16-bit formats."""
_WARM_CALLS = 3
Call = Callable[[], Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Time everything; 0 when every output was right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", type=int, action="append", default=[])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--without-compiled", action="store_true")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = {"format": 1, "date": options.date, "commit": options.commit}
    record |= {"card": _card(options.device), "rows": []}
    for folder in sorted(options.sources.iterdir(), key=lambda each: int(each.name)):
        if options.only and int(folder.name) not in options.only:
            continue
        row = {"id": int(folder.name), **_row(folder, options)}
        record["rows"].append(row)
        print(_line(row), flush=True)
        # Written after each row, so that a run that is stopped is not lost.
        options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0 if all(_is_right(each) for each in record["rows"]) else 1


def _row(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    reference = _load(folder / "ref.py")
    dtype = getattr(torch, (folder / "dtype").read_text(encoding="utf-8"))
    torch.manual_seed(int(folder.name))
    model = reference.Model(*reference.get_init_inputs()).to(options.device, dtype).eval()
    inputs = [each.to(options.device, dtype) for each in reference.get_inputs()]
    calls: dict[str, Call] = {"eager": lambda: model(*inputs)}
    if not options.without_compiled:
        compiled: Any = torch.compile(model)
        calls["compiled"] = lambda: compiled(*inputs)
    failures = {}
    for path in sorted(folder.glob("fused_*.py")):
        try:
            made: Any = _load(path).Model(*reference.get_init_inputs()).to(options.device)
            made.load_state_dict(model.state_dict())
            calls[path.stem] = lambda made=made: made(*inputs)  # type: ignore[misc]
            calls[path.stem]()
        except Exception as error:  # noqa: BLE001  one file that fails says nothing of the others
            calls.pop(path.stem, None)
            failures[path.stem] = f"{type(error).__name__}: {error}"[:300]
    with torch.no_grad():
        errors = _errors(model, inputs, calls)
        times = _times(calls, options)
    return {"errors": errors, "failures": failures, **_summary(times)}


def _errors(model: Any, inputs: list[Any], calls: dict[str, Call]) -> dict[str, float]:
    """Return each side's relative error against float64, in the root mean square."""
    found = {name: _flat(call()) for name, call in calls.items()}
    wide_model = model.double()
    wanted = _flat(wide_model(*(each.double() for each in inputs)))
    model.to(inputs[0].dtype)
    size = torch.linalg.vector_norm(wanted).clamp(min=1e-30)
    return {
        name: float(torch.linalg.vector_norm(got.double() - wanted) / size)
        for name, got in found.items()
    }


def _flat(output: Any) -> Any:
    outputs = output if isinstance(output, tuple | list) else [output]
    return torch.cat([each.detach().reshape(-1) for each in outputs])


def _times(calls: dict[str, Call], options: argparse.Namespace) -> dict[str, list[float]]:
    """Return microseconds of each call, taken in turn, in rounds."""
    event: Any = torch.cuda.Event
    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device=options.device)
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(_WARM_CALLS):
            call()
    names = list(calls)
    for turn in range(options.rounds):
        for name in names if turn % 2 == 0 else names[::-1]:
            flushed.zero_()
            start, end = (event(enable_timing=True) for _ in range(2))
            start.record()
            calls[name]()
            end.record()
            torch.cuda.synchronize()
            times[name].append(start.elapsed_time(end) * 1e3)
    return times


def _summary(times: dict[str, list[float]]) -> dict[str, Any]:
    medians = {name: statistics.median(each) for name, each in times.items()}
    made = {name: each for name, each in medians.items() if name.startswith("fused_")}
    row: dict[str, Any] = {"microseconds": medians}
    if not made:
        return row
    row["best"] = best = min(made, key=lambda each: made[each])
    for other in ("eager", "compiled"):
        if other in medians:
            ratios = sorted(a / b for a, b in zip(times[other], times[best], strict=True))
            tenth = len(ratios) // 10
            row[f"over_{other}"] = {
                "ratio": medians[other] / medians[best],
                "low": ratios[tenth],
                "high": ratios[-1 - tenth],
            }
    return row


def _is_right(row: dict[str, Any]) -> bool:
    most = max(MOST_ERROR * row["errors"]["eager"], LEAST_ERROR)
    return all(each <= most for name, each in row["errors"].items() if name.startswith("fused_"))


def _line(row: dict[str, Any]) -> str:
    words = [f"{row['id']:>4}", "right" if _is_right(row) else "WRONG", row.get("best", "none")]
    for other in ("eager", "compiled"):
        found = row.get(f"over_{other}")
        if found:
            words.append(f"{found['ratio']:.2f}x {other} [{found['low']:.2f}, {found['high']:.2f}]")
    words += [f"{name} fails: {text[:80]}" for name, text in row["failures"].items()]
    return "  ".join(words)


def _card(device: str) -> dict[str, str]:
    facts = {"torch": str(torch.__version__)}
    if device == "cuda":
        import triton  # noqa: PLC0415  only where there is a card

        facts |= {"product": torch.cuda.get_device_name(), "triton": str(triton.__version__)}
        facts |= {"cuda": str(torch.version.cuda)}
    return facts


def _load(path: Path) -> Any:
    name = f"{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(f"card_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
