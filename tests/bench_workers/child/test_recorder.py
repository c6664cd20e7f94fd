"""Configurations that do not fit are passed over, as Triton's tuner passes over them."""

import pytest

_LAUNCH = """
import types
from triton.runtime.errors import OutOfResources

def launching(tuner):
    (config,) = tuner.configs
    if config not in payload["fitting"]:
        raise OutOfResources(300_000, 232_448, "shared memory")
    return config

tuner = types.SimpleNamespace(configs=[])
try:
    chosen = recorder._first_that_fits(tuner, launching, ("a", "b", "c", "d"), (), {})
except OutOfResources as error:
    chosen = str(error)
answer = {"chosen": chosen, "named": recorder.RECORDER.chosen}
"""


@pytest.mark.parametrize(("fitting", "chosen"), [("cd", "c"), ("a", "a"), ("d", "d")])
def test_the_first_that_fits_is_launched(interpreter, fitting: str, chosen: str) -> None:
    answer = interpreter(_LAUNCH, fitting=list(fitting))
    assert answer == {"chosen": chosen, "named": chosen}


def test_nothing_fits_is_a_fault(interpreter) -> None:
    assert "shared memory" in interpreter(_LAUNCH, fitting=[])["chosen"]
