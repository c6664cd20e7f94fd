"""Plain products that the fusion compiler makes, against the library that eager calls.

    python -m benchmarks.fusion.gemm make --sources made
    python -m benchmarks.fusion.gemm time --sources made --date 2026-01-31 --out gemm.json
    python -m benchmarks.fusion.gemm show --out gemm.json

`make` captures one linear layer for each shape and writes it with a few choices of tiles; it needs
the project. `time` is `benchmarks.fusion.card` on that folder, and needs Torch and Triton only.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.fusion import steps

SHAPES: Mapping[str, tuple[int, int, int]] = {
    "square_1024": (1024, 1024, 1024),
    "square_1536": (1536, 1536, 1536),
    "square_2048": (2048, 2048, 2048),
    "square_3072": (3072, 3072, 3072),
    "square_4096": (4096, 4096, 4096),
    "square_6144": (6144, 6144, 6144),
    "square_8192": (8192, 8192, 8192),
    "tall": (16384, 1024, 1024),
    "tall_short_k": (32768, 1024, 512),
    "tall_narrow": (65536, 256, 1024),
    "tall_deep": (8192, 1024, 8192),
    "wide": (1024, 8192, 8192),
    "wide_middle": (512, 16384, 2048),
    "wide_short_k": (1024, 32768, 512),
    "wide_2048": (2048, 11008, 4096),
    "rows_16": (16, 4096, 4096),
    "rows_16_large": (16, 16384, 8192),
    "rows_32": (32, 8192, 8192),
    "rows_64_deep": (64, 4096, 14336),
    "rows_64_wide": (64, 28672, 4096),
    "rows_128": (128, 8192, 8192),
    "rows_128_large": (128, 16384, 16384),
    "rows_256": (256, 8192, 8192),
    "rows_256_small": (256, 4096, 4096),
    "rows_256_wide": (256, 14336, 4096),
    "ragged_1000": (1000, 1000, 1000),
    "ragged_odd_k": (1000, 3000, 777),
    "ragged_odd_n": (3000, 5001, 2048),
    "ragged_even": (2050, 3070, 1026),
    "ragged_prime": (2011, 2017, 2003),
    "ragged_4095": (4095, 4095, 4095),
    "ragged_rows_17": (17, 5000, 3000),
    "ragged_rows_33": (33, 8191, 4095),
    "ragged_rows_127": (127, 4099, 4096),
}
"""m, n, k of x (m, k), weight (n, k), result (m, n)."""
DTYPE = "float16"
FIRST = "fused_0_0"
"""The first plan with the first choice of tiles."""
LEAST_GEOMEAN = 1.0
LEAST = 0.9
"""Goals, in times of the library: over all shapes, and for each."""
_MODULE = '''"""A linear layer without bias."""

import torch


class Model(torch.nn.Module):
    """Multiplies by the transposed weight."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear({k}, {n}, bias=False)

    def forward(self, x):
        return self.linear(x)


def get_inputs():
    return [torch.randn({m}, {k})]


def get_init_inputs():
    return []
'''


def main(arguments: Sequence[str] | None = None) -> int:
    """Do one of the three steps; 0 when all outputs were right and the goals are met."""
    parser = steps.parser(__doc__, tiles=6)
    parser.add_argument("--only", action="append", default=[], choices=SHAPES, metavar="SHAPE")
    options, others = steps.parse(parser, arguments)
    chosen = {name: SHAPES[name] for name in options.only or SHAPES}
    if options.step == "make":
        make(chosen, options.sources, options.target, options.tiles)
        return 0
    code = _time(options, others) if options.step == "time" else 0
    record = json.loads(options.out.read_text(encoding="utf-8"))
    result = Result.of(record["rows"], chosen)
    print("\n".join(result.lines()))
    return code or int(not result.meets_goals())


def reference(shape: tuple[int, int, int]) -> str:
    """Return the module of one shape (m, n, k)."""
    m, n, k = shape
    return _MODULE.format(m=m, n=n, k=k)


def make(shapes: Mapping[str, tuple[int, int, int]], folder: Path, target: str, tiles: int) -> None:
    """Write a folder for each shape (m, n, k by name), see `benchmarks.fusion.made`."""
    from benchmarks.fusion import made  # noqa: PLC0415  the card has no project
    from xeforge.domain.problem import TensorSpec  # noqa: PLC0415

    modules = [
        made.Wanted(name, reference(shape), (TensorSpec("x", (shape[0], shape[2]), DTYPE),), DTYPE)
        for name, shape in shapes.items()
    ]
    made.make(modules, folder, target, tiles)


def _time(options: argparse.Namespace, others: Sequence[str]) -> int:
    from benchmarks.fusion import card  # noqa: PLC0415  needs a card

    only = [word for name in options.only for word in ("--only", name)]
    given = ["--sources", str(options.sources), "--out", str(options.out), *only, *others]
    return card.main([*given, "--without-compiled"])


@dataclass(frozen=True, slots=True)
class Line:
    """One shape, measured.

    Attributes:
        name, shape: m, n, k.
        library_us: Median of eager.
        ratio, low, high: Eager's time over that of the best file; of single rounds, 10 % and 90 %.
        first_ratio: The same of the file that the compiler would choose; 0: it was wrong, failed,
            or was too slow to be timed again.
        best: Name of the file.
    """

    name: str
    shape: tuple[int, int, int]
    library_us: float
    ratio: float
    low: float
    high: float
    first_ratio: float
    best: str

    def text(self) -> str:
        """Return a row of the table."""
        m, n, k = self.shape
        library = 2e-6 * m * n * k / self.library_us
        return (
            f"{self.name:16} {m:>6} {n:>6} {k:>6} {self.library_us:9.1f} {library:5.0f} "
            f"{library * self.ratio:5.0f}  {self.ratio:5.3f} [{self.low:.3f}, {self.high:.3f}] "
            f"{self.first_ratio:6.3f}  {self.best}"
        )


@dataclass(frozen=True, slots=True)
class Result:
    """All shapes.

    Attributes:
        rows: Those that were timed.
        untimed: Names of shapes that have no right kernel, or were not reached.
    """

    rows: tuple[Line, ...]
    untimed: tuple[str, ...]

    @classmethod
    def of(
        cls, rows: Sequence[Mapping[str, Any]], shapes: Mapping[str, tuple[int, int, int]]
    ) -> "Result":
        """Read what `card` wrote about the folders of these shapes."""
        timed = {each["id"]: each for each in rows if "over_eager" in each}
        lines = (_line(timed[name], shape) for name, shape in shapes.items() if name in timed)
        return cls(tuple(lines), tuple(name for name in shapes if name not in timed))

    def geomean(self, name: str = "ratio") -> float:
        """Return the geometric mean of one kind of ratio; 0 where one of them is 0."""
        ratios = [getattr(each, name) for each in self.rows]
        return statistics.geometric_mean(ratios) if ratios and min(ratios) > 0 else 0.0

    def meets_goals(self) -> bool:
        """Say whether every shape was timed, none is too slow, and the mean is high enough."""
        if self.untimed or not self.rows:
            return False
        return self.geomean() >= LEAST_GEOMEAN and min(each.ratio for each in self.rows) >= LEAST

    def lines(self) -> list[str]:
        """Return the table, then the mean, the worst, and what is missing."""
        head = f"{'shape':16} {'m':>6} {'n':>6} {'k':>6} {'eager us':>9} {'TF/s':>5} {'ours':>5}"
        found = [f"{head}  ratio [10 %, 90 %]     first  best", *(e.text() for e in self.rows)]
        if self.rows:
            worst = min(self.rows, key=lambda each: each.ratio)
            found += [
                f"geomean {self.geomean():.3f}, first choices {self.geomean('first_ratio'):.3f}",
                f"worst {worst.ratio:.3f} ({worst.name}), {len(self.rows)} shapes",
            ]
        found += [f"not timed: {', '.join(self.untimed)}"] if self.untimed else []
        return found


def _line(row: Mapping[str, Any], shape: tuple[int, int, int]) -> Line:
    over, choosing, best = row["over_eager"], row["choosing"], row["best"]
    # Files were compared with each other in rounds of their own.
    first = choosing.get(FIRST)
    share = choosing[best] / first if first else 0.0
    return Line(
        row["id"],
        shape,
        row["microseconds"]["eager"],
        over["ratio"],
        over["low"],
        over["high"],
        over["ratio"] * share,
        best,
    )


if __name__ == "__main__":
    sys.exit(main())
