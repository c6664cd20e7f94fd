"""Renders a record as a table in Markdown."""

from typing import Any

_HEADINGS = (
    "Kernel",
    "Shape",
    "submitted us",
    "found us",
    "speed-up (95 %)",
    "of ceiling",
    "vs torch.compile",
    "vs best SDPA",
    "verified",
)


def render(record: dict[str, Any]) -> str:
    """Return one row per timed workload, and one per kernel that could not be measured."""
    rows: list[tuple[str, ...]] = [_HEADINGS]
    notes: list[str] = []
    for name, kernel in record["kernels"].items():
        result = kernel.get("measured")
        if result is None:
            rows.append((name, kernel.get("failure", "not measured"), *[""] * (len(_HEADINGS) - 2)))
            continue
        rows.extend(_row(name, each) for each in result["workloads"])
        notes.extend(
            f"{name}, {each['workload']}, {side}: {why}"
            for each in result["workloads"]
            for side, why in each["failures"].items()
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return "| " + " | ".join(cells) + " |"


def _row(name: str, workload: dict[str, Any]) -> tuple[str, ...]:
    sides = workload["sides"]
    found = sides.get("found")
    return (
        name,
        f"{workload['dims']} {workload['dtype']}",
        _time(sides.get("submitted")),
        _time(found),
        _interval(workload.get("speedup")),
        f"{found['ceiling_ratio']:.0%} {workload['bound']}" if found else "",
        _ratio(workload.get("versus_compiled")),
        _ratio(workload.get("versus_best_sdpa")),
        ("yes" if found["is_verified"] else "NO") if found else "",
    )


def _time(side: dict[str, Any] | None) -> str:
    return f"{side['median_us']:,.1f}" if side else "failed"


def _interval(ratio: dict[str, float] | None) -> str:
    if ratio is None:
        return ""
    return f"{ratio['estimate']:.2f} ({ratio['low']:.2f}-{ratio['high']:.2f})"


def _ratio(ratio: dict[str, Any] | None) -> str:
    return f"{ratio['estimate']:.2f}" if ratio else ""
