"""Charts as self-contained SVG text."""

import io
import math
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.samples import PairedSamples
from xeforge.report.document import WorkloadRow

_WIDTH_INCHES, _HEIGHT_INCHES = 7.0, 3.6


def roofline(rows: Sequence[WorkloadRow], device: Device, ceilings: Ceilings | None) -> str:
    """Draw submitted and found kernel under the roofs of the device; empty when nothing fits.

    Measured ceilings are used where there are any; otherwise published peaks, and the title says
    so.
    """
    shown = [row for row in rows if row.flops and row.moved_bytes]
    if not shown:
        return ""
    bandwidth = ceilings.copy_bytes_per_s if ceilings else device.bandwidth_bytes_per_s
    rates = dict(ceilings.matrix_flops_per_s if ceilings else device.matrix_flops_per_s)
    peak = max(rates.values(), default=max(device.vector_flops_per_s.values(), default=0.0))
    figure, axes = _axes()
    points = [row.flops / row.moved_bytes for row in shown if row.flops and row.moved_bytes]
    left, right = min(points) / 8, max(*points, peak / bandwidth) * 8
    grid = [left * (right / left) ** (step / 100) for step in range(101)]
    roof = [min(peak, bandwidth * intensity) / 1e12 for intensity in grid]
    axes.plot(
        grid,
        roof,
        color="0.35",
        label=f"roof: {bandwidth / 1e12:.2f} TB/s, {peak / 1e12:.0f} TFLOP/s",
    )
    for row, intensity in zip(shown, points, strict=True):
        flops = row.flops or math.nan
        before, after = flops / row.baseline_seconds / 1e12, flops / row.winner_seconds / 1e12
        axes.plot([intensity, intensity], [before, after], color="0.7", zorder=1)
        axes.scatter([intensity], [before], marker="o", color="tab:orange", zorder=2)
        axes.scatter([intensity], [after], marker="^", color="tab:blue", zorder=2)
        axes.annotate(
            row.workload, (intensity, after), fontsize=7, xytext=(4, 4), textcoords="offset points"
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("arithmetic intensity, FLOP/byte")
    axes.set_ylabel("TFLOP/s")
    kind = "measured ceilings" if ceilings else "published peaks"
    axes.set_title(f"{device.title}: {kind}; circle = submitted, triangle = found", fontsize=9)
    axes.legend(fontsize=7)
    return _svg(figure)


def paired(samples: PairedSamples) -> str:
    """Draw the distribution of the paired ratios beside the A/A control of the same run."""
    figure, axes = _axes()
    pairs = list(zip(samples.first_seconds, samples.second_seconds, strict=True))
    control = list(zip(samples.control_first_seconds, samples.control_second_seconds, strict=True))
    axes.hist(
        [a / b for a, b in pairs], bins=30, color="tab:blue", alpha=0.7, label="submitted / found"
    )
    if control:
        axes.hist(
            [a / b for a, b in control],
            bins=15,
            color="0.5",
            alpha=0.7,
            label="control: submitted / submitted",
        )
    axes.axvline(1.0, color="0.2", linewidth=1)
    axes.set_xlabel("ratio of one pair of calls on the same input")
    axes.set_ylabel("pairs")
    axes.set_title(f"{samples.workload}: {len(pairs)} pairs", fontsize=9)
    axes.legend(fontsize=7)
    return _svg(figure)


def _axes() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH_INCHES, _HEIGHT_INCHES), layout="constrained")
    return figure, figure.add_subplot()


def _svg(figure: Figure) -> str:
    """Return the figure as an SVG element without the XML prologue."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "xeforge"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
