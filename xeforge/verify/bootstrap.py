"""Medians and intervals of log-ratios whose neighbours in time resemble each other."""

from math import ceil
from math import sqrt

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
_LOW_PERCENT, _HIGH_PERCENT = 2.5, 97.5
_LARGEST_SHARE = 4
"""A block is at most this part of the series, so that resampling has something to choose."""

Series = NDArray[np.float64]


def block_length(values: Series) -> int:
    """Return how many consecutive values make a block: longer where neighbours are alike.

    At least the square root of the series; three times the autocorrelation time (as of a
    first-order process) where that is more.
    """
    count = len(values)
    centred = values - values.mean()
    power = float(centred @ centred)
    lag_one = float(centred[1:] @ centred[:-1]) / power if power > 0 else 0.0
    alike = min(max(lag_one, 0.0), 0.95)
    wanted = max(sqrt(count), 3 * (1 + alike) / (1 - alike))
    return max(1, min(ceil(wanted), count // _LARGEST_SHARE))


def resampled_medians(values: Series, generator: np.random.Generator) -> Series:
    """Return the medians of series put together from random blocks of consecutive values.

    Blocks wrap around the end, so that every value is drawn equally often.
    """
    count = len(values)
    length = block_length(values)
    starts = generator.integers(0, count, size=(RESAMPLES, ceil(count / length)))
    places = (starts[:, :, None] + np.arange(length)) % count
    drawn: Series = values[places.reshape(RESAMPLES, -1)[:, :count]]
    medians: Series = np.median(drawn, axis=1)
    return medians


def interval(resampled: Series) -> tuple[float, float]:
    """Return the 95 % percentile interval."""
    low, high = np.percentile(resampled, [_LOW_PERCENT, _HIGH_PERCENT])
    return float(low), float(high)


def hodges_lehmann(values: Series) -> float:
    """Return the median of all pairwise means: efficient, and deaf to a few outliers."""
    rows, columns = np.triu_indices(len(values))
    return float(np.median((values[rows] + values[columns]) / 2))
