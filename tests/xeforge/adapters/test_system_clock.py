"""The clock tells the machine's time."""

import time

from xeforge.adapters.system_clock import SystemClock


def test_it_agrees_with_the_machine() -> None:
    before = time.time()
    got = SystemClock().now_seconds()
    assert before <= got <= time.time()
