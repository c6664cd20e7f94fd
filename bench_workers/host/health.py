"""A card that may be hurt is looked at before its next job, so that a fault costs one trial.

A kernel that faults ends its own process; the card is nearly always well for the next one. Where
it is not, every later candidate would be blamed for it.
"""

import threading
from collections.abc import Callable

from xeforge.errors import CandidateError
from xeforge.errors import DeviceLost
from xeforge.errors import PlatformError

PROBE_SECONDS = 120.0
_WORDS = 500


class CardHealth:
    """Remembers a suspicion until a probe has cleared it.

    Args:
        probe: Has a fresh child do known work on the card; returns what was wrong, or nothing.
            None where there is no card: nothing is ever suspected.
    """

    def __init__(self, probe: Callable[[], str] | None) -> None:
        self._probe = probe
        self._lock = threading.Lock()
        self._suspicion = ""

    @property
    def is_suspected(self) -> bool:
        """Whether the card must be probed before it is used again."""
        return bool(self._suspicion)

    def suspect(self, words: str) -> None:
        """Remember that something happened after which the card may not be well."""
        if self._probe is not None:
            self._suspicion = words[:_WORDS] or "an unnamed fault"

    def settle(self) -> None:
        """Probe a suspected card; do nothing when nothing is suspected.

        Raises:
            DeviceLost: It does not compute. It stays suspected, so the next job probes it again.
        """
        with self._lock:
            if self._probe is None or not self._suspicion:
                return
            try:
                wrong = self._probe()
            except (CandidateError, PlatformError) as error:
                wrong = error.message
            if wrong:
                raise DeviceLost(
                    f"after a fault ({self._suspicion}) the card fails a probe: {wrong}",
                    remedy="see what the driver says (nvidia-smi, xpu-smi, dmesg); reset the card",
                )
            self._suspicion = ""
