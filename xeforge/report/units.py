"""Numbers as people read them."""


def seconds(value: float) -> str:
    """Write a duration with three digits and a fitting unit."""
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


def ratio(estimate: float | None, low: float | None, high: float | None) -> str:
    """Write a speed-up with its interval; a dash when there is none."""
    if estimate is None or low is None or high is None:
        return "-"
    if low == high:
        return f"{estimate:.2f}x"
    return f"{estimate:.2f}x [{low:.2f}, {high:.2f}]"


def rate(amount: float | None, duration_seconds: float, unit: str) -> str:
    """Write an amount per second in tera-units; empty when the amount is not known."""
    return "" if amount is None else f"{amount / duration_seconds / 1e12:.3g} T{unit}/s"
