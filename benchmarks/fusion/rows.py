"""Row folds and elementwise chains of 64 MB and more, against `torch.compile` and a plain copy.

    python -m benchmarks.fusion.rows make --sources made
    python -m benchmarks.fusion.rows time --sources made --date 2026-01-31 --out rows.json
    python -m benchmarks.fusion.rows show --out rows.json

The share is that of the rate at which the same card copies a gibibyte in the same run: bytes that
must be moved (inputs, weights and results, once each) over time and that rate.
"""

import json
import statistics
import sys
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fusion import steps

LEAST_SHARE = 0.9
LEAST_OVER_COMPILED = 1.0
"""Goals for each module."""
_TOKENS, _WIDTH = 16384, 4096


@dataclass(frozen=True, slots=True)
class Module:
    """What is timed.

    Attributes:
        body: Lines of ``forward``.
        inputs: Name to shape and dtype; ``int64`` holds class numbers below the last input's width.
        dtype: Of floating-point inputs and weights.
        weights: Name to shape.
    """

    body: str
    inputs: Mapping[str, tuple[int, ...]]
    dtype: str = "float16"
    weights: Mapping[str, tuple[int, ...]] | None = None
    classes: int = 0


_X = {"x": (_TOKENS, _WIDTH)}
MODULES: Mapping[str, Module] = {
    "softmax": Module("return torch.softmax(x, -1)", _X),
    "softmax_long": Module("return torch.softmax(x, -1)", {"x": (2048, 65536)}),
    "log_softmax_fp32": Module(
        "return torch.log_softmax(x, -1)", {"x": (8192, 8192)}, dtype="float32"
    ),
    "layer_norm": Module(
        "return F.layer_norm(x, (4096,), self.weight, self.bias)",
        _X,
        weights={"weight": (_WIDTH,), "bias": (_WIDTH,)},
    ),
    "rms_norm": Module(
        "return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.weight",
        {"x": (_TOKENS, 8192)},
        weights={"weight": (8192,)},
    ),
    "cross_entropy": Module(
        "return F.cross_entropy(x, y)", {"x": (8192, 32768), "y": (8192,)}, classes=32768
    ),
    "mse": Module("return F.mse_loss(x, y)", {"x": (_TOKENS, _WIDTH), "y": (_TOKENS, _WIDTH)}),
    "gelu_residual": Module(
        "return F.gelu(x * self.scale + self.bias) + y",
        {"x": (_TOKENS, _WIDTH), "y": (_TOKENS, _WIDTH)},
        weights={"scale": (_WIDTH,), "bias": (_WIDTH,)},
    ),
    "swiglu": Module("return F.silu(x) * y", {"x": (_TOKENS, 8192), "y": (_TOKENS, 8192)}),
    "chain_fp32": Module(
        "return torch.tanh(x) * torch.sigmoid(y) + torch.relu(x - y)",
        {"x": (8192, 8192), "y": (8192, 8192)},
        dtype="float32",
    ),
}
_TEXT = '''"""{name}."""

import torch
import torch.nn.functional as F


class Model(torch.nn.Module):
    """{name}."""

    def __init__(self):
        super().__init__()
{weights}

    def forward(self, {names}):
        {body}


def get_inputs():
    return [{drawn}]


def get_init_inputs():
    return []
'''


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of the three steps; 0 when all outputs were right and the goals are met."""
    options, others = steps.parse(steps.parser(__doc__, tiles=4), arguments)
    if options.step == "make":
        make(options.sources, options.target, options.tiles)
        return 0
    code = 0
    if options.step == "time":
        from benchmarks.fusion import card  # noqa: PLC0415  needs a card

        code = card.main(["--sources", str(options.sources), "--out", str(options.out), *others])
    record = json.loads(options.out.read_text(encoding="utf-8"))
    print("\n".join(table(record)))
    return code or int(not meets_goals(record))


def reference(name: str) -> str:
    """Return the file of one module."""
    module = MODULES[name]
    weights = [
        f"        self.{each} = torch.nn.Parameter(torch.rand({list(shape)}))"
        for each, shape in (module.weights or {}).items()
    ]
    drawn = [
        f"torch.randint(0, {module.classes}, {list(shape)})"
        if _is_class(module, each)
        else f"torch.randn({list(shape)})"
        for each, shape in module.inputs.items()
    ]
    return _TEXT.format(
        name=name,
        weights="\n".join(weights) or "        pass",
        names=", ".join(module.inputs),
        body=module.body,
        drawn=", ".join(drawn),
    ).replace("        super().__init__()\n        pass\n", "        super().__init__()\n")


def _is_class(module: Module, name: str) -> bool:
    return bool(module.classes) and len(module.inputs[name]) == 1


def make(folder: Path, target: str, tiles: int) -> None:
    """Write a folder for each module, see `benchmarks.fusion.made`."""
    from benchmarks.fusion import made  # noqa: PLC0415  the card has no project
    from xeforge.domain.problem import TensorSpec  # noqa: PLC0415

    modules = [
        made.Wanted(
            name,
            reference(name),
            tuple(
                TensorSpec(each, shape, "int64" if _is_class(module, each) else module.dtype)
                for each, shape in module.inputs.items()
            ),
            module.dtype,
        )
        for name, module in MODULES.items()
    ]
    made.make(modules, folder, target, tiles)


def share(row: Mapping[str, Any], copy_bytes_per_s: float) -> float:
    """Return the part of the copy's rate at which the best file moves what must be moved."""
    seconds = row["microseconds"][row["best"]] * 1e-6
    return float(row["compulsory_bytes"] / seconds / copy_bytes_per_s)


def table(record: Mapping[str, Any]) -> list[str]:
    """Return one line for each module, and means."""
    rate = record["copy_bytes_per_s"]
    lines = [f"copy: {rate / 1e12:.2f} TB/s"]
    timed = [each for each in record["rows"] if "best" in each]
    for row in timed:
        over, took = row["over_compiled"], row["microseconds"][row["best"]]
        lines.append(
            f"{row['id']:18} {took:8.1f} us  {share(row, rate):5.1%} of copy  {over['ratio']:.2f}x "
            f"torch.compile [{over['low']:.2f}, {over['high']:.2f}]  {row['best']}"
        )
    if timed:
        ratios = [each["over_compiled"]["ratio"] for each in timed]
        lines.append(f"geomean over torch.compile {statistics.geometric_mean(ratios):.2f}x")
    missing = [name for name in MODULES if name not in {each["id"] for each in timed}]
    return lines + ([f"not timed: {', '.join(missing)}"] if missing else [])


def meets_goals(record: Mapping[str, Any]) -> bool:
    """Say whether every module was timed and is as fast as it must be."""
    timed = {each["id"]: each for each in record["rows"] if "best" in each}
    return set(timed) >= set(MODULES) and all(
        share(each, record["copy_bytes_per_s"]) >= LEAST_SHARE
        and each["over_compiled"]["ratio"] >= LEAST_OVER_COMPILED
        for each in timed.values()
    )


if __name__ == "__main__":
    sys.exit(main())
