"""The user's wish to stop: raised at once, and remembered where the exception gets lost.

Python raises KeyboardInterrupt wherever the main thread happens to be. In a finalizer it is printed
and forgotten, and the job would go on.
"""

import signal
import threading
from types import FrameType

_ASKED = threading.Event()


def install() -> None:
    """Hear Ctrl-C and a polite request to end (SIGTERM) alike."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def raise_if_asked() -> None:
    """Stop if the user asked for it.

    Raises:
        KeyboardInterrupt: The user did.
    """
    if _ASKED.is_set():
        raise KeyboardInterrupt


def _stop(_number: int, _frame: FrameType | None) -> None:
    _ASKED.set()
    raise KeyboardInterrupt
