"""The only place that reads the time of day."""

import time


class SystemClock:
    """The machine's own clock."""

    def now_seconds(self) -> float:
        """Return Unix time."""
        return time.time()
