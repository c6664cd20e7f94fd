"""Raw times of several sides to medians, ratios with intervals, and percentages."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from xeforge.verify.bootstrap import interval
from xeforge.verify.bootstrap import resampled_medians

_SEED = 7


@dataclass(frozen=True, slots=True)
class Workout:
    """What was computed, and how fast the card could be.

    Attributes:
        workload, dims, dtype: Names.
        floor_seconds: Time the measured ceilings allow; 0: unknown.
        bound: ``"matrix"`` or ``"memory"``.
    """

    workload: str
    dims: str
    dtype: str
    floor_seconds: float
    bound: str


def ratio(first: list[float], second: list[float]) -> dict[str, float]:
    """Return first over second, paired, with its 95 % interval; above 1 the second is faster."""
    logs = np.log(np.asarray(first)) - np.log(np.asarray(second))
    low, high = interval(resampled_medians(logs, np.random.default_rng(_SEED)))
    return {
        "estimate": float(np.exp(np.median(logs))),
        "low": float(np.exp(low)),
        "high": float(np.exp(high)),
    }


def summarise(
    workout: Workout,
    times: dict[str, list[float]],
    checks: dict[str, tuple[int, float]],
    failures: dict[str, str],
) -> dict[str, Any]:
    """Return one workload's part of the record; times in microseconds."""
    sides: dict[str, dict[str, Any]] = {
        name: {
            "median_us": float(np.median(raw)) * 1e6,
            "quartiles_us": [float(each) * 1e6 for each in np.percentile(raw, [25, 75])],
            "ceiling_ratio": workout.floor_seconds / float(np.median(raw)),
            "is_verified": name in checks and checks[name][0] == 0,
            "wrong_elements": checks[name][0] if name in checks else None,
            "largest_error": checks[name][1] if name in checks else None,
            "raw_us": [round(each * 1e6, 3) for each in raw],
        }
        for name, raw in times.items()
        if raw
    }
    pairs = {"speedup": ("submitted", "found"), "versus_compiled": ("compiled", "found")}
    ratios: dict[str, Any] = {
        key: ratio(times[first], times[second])
        for key, (first, second) in pairs.items()
        if times.get(first) and times.get(second)
    }
    rivals = {name: each["median_us"] for name, each in sides.items() if name.startswith("sdpa ")}
    if rivals and "found" in sides:
        best = min(rivals, key=lambda name: rivals[name])
        ratios["versus_best_sdpa"] = ratio(times[best], times["found"]) | {"backend": best}
    return {
        "workload": workout.workload,
        "dims": workout.dims,
        "dtype": workout.dtype,
        "bound": workout.bound,
        "floor_us": workout.floor_seconds * 1e6,
        "sides": sides,
        "failures": failures,
        **ratios,
    }
