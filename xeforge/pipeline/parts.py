"""The ports bundled: what a composition root must supply."""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.device import Device
from xeforge.ports import Advice
from xeforge.ports import Capture
from xeforge.ports import Clock
from xeforge.ports import Evaluator
from xeforge.ports import JobStore
from xeforge.ports import Proposer
from xeforge.ports import TimingPlan

SEARCH_TIMING = TimingPlan(seed=0, min_pairs=20, max_pairs=100, seconds=1.0, control_pairs=10)
CONFIRM_TIMING = TimingPlan(
    seed=0, min_pairs=60, max_pairs=400, seconds=4.0, control_pairs=40, batches=6
)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything `advance` reaches the outside world through.

    Attributes:
        store: Jobs and histories.
        evaluator: Runs untrusted code on the job's device.
        interpreter: Runs it in Triton's interpreter as well, where every access is checked
            against its tensor; None when `evaluator` is interpreted already or there is none.
        proposers: By name.
        device: Model of accelerator to optimize for.
        clock: Where time comes from.
        capture: Exports the reference for proposers; None: nothing here can.
        advice: Says what is known to help; None: nobody does.
        search_timing, confirm_timing: How long to measure.
    """

    store: JobStore
    evaluator: Evaluator
    interpreter: Evaluator | None
    proposers: Mapping[str, Proposer]
    device: Device
    clock: Clock
    search_timing: TimingPlan = SEARCH_TIMING
    confirm_timing: TimingPlan = CONFIRM_TIMING
    capture: Capture | None = None
    advice: Advice | None = None
