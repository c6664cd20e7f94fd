"""One integrity or numeric check per file, over recorded evidence; none stops the others."""

from collections.abc import Callable
from typing import Final

from xeforge.domain.evidence import Finding
from xeforge.verify.checks import aliasing
from xeforge.verify.checks import build
from xeforge.verify.checks import contract
from xeforge.verify.checks import determinism
from xeforge.verify.checks import incorrect
from xeforge.verify.checks import judge_clock
from xeforge.verify.checks import memory_safety
from xeforge.verify.checks import mutation
from xeforge.verify.checks import own_kernels
from xeforge.verify.checks import plausible
from xeforge.verify.checks import precision
from xeforge.verify.checks import ran
from xeforge.verify.checks import shape_overfit
from xeforge.verify.checks import stale
from xeforge.verify.checks import state
from xeforge.verify.checks import steady
from xeforge.verify.checks import timed_outputs
from xeforge.verify.checks import unwritten
from xeforge.verify.checks import window
from xeforge.verify.context import CheckContext

Check = Callable[[CheckContext], Finding]

CHECKS: Final[tuple[tuple[str, Check], ...]] = tuple(
    (module.NAME, module.check)
    for module in (
        build,
        ran,
        state,
        contract,
        unwritten,
        memory_safety,
        incorrect,
        precision,
        mutation,
        aliasing,
        determinism,
        stale,
        own_kernels,
        shape_overfit,
        timed_outputs,
        window,
        judge_clock,
        plausible,
        steady,
    )
)
