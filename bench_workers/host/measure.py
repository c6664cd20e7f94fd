"""Times two sources alternately on one card, in sandboxed siblings, call by call."""

import time
from collections.abc import Callable
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from bench_workers.host import conditions
from bench_workers.host.judge_clock import JudgeClock
from bench_workers.host.judge_clock import JudgedTimes
from bench_workers.host.judge_clock import verify
from bench_workers.host.oracle import Oracle
from bench_workers.host.oracle import spec_fields
from bench_workers.host.schedule import Turn
from bench_workers.host.schedule import is_decided
from bench_workers.host.schedule import turns
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Session
from xeforge.domain.case import Fill
from xeforge.domain.device import Backend
from xeforge.domain.device import Ceilings
from xeforge.domain.problem import Workload
from xeforge.domain.samples import PairedSamples
from xeforge.errors import CandidateError
from xeforge.errors import CandidateRaised
from xeforge.errors import OutOfHostResources
from xeforge.ports import TimingPlan

CANDIDATE = "candidate"
_WARM_UP_CALLS = 3
_MOST_WARM_UP_CALLS = 20
_FLAT_RATIO = 1.03
_WARM_CALLS = 11
_CHECKS = 1
"""Beside the last call's."""
_DECIDED_EVERY = 10
_MOST_UNCLEAN = 12
_OPEN_FACTOR = 4.0
_SEED_STEP = 1000
_PATIENCE = 4.0
"""So many times its seconds a run may last to reach the fewest pairs."""


@dataclass(frozen=True, slots=True)
class Siblings:
    """Children that take part in one comparison.

    Attributes:
        first: Holds the baseline.
        second: Holds the candidate.
        twin: Holds the baseline too, in a process of its own: the A/A control.
    """

    first: Session
    second: Session
    twin: Session


@dataclass(frozen=True, slots=True)
class Reading:
    """One timed call.

    Attributes:
        device: Seconds between device events.
        whole: Seconds until the whole device was idle.
        is_usable: Whether the host was ahead of the device, so that only the device was timed; or
            it never is, since the code waits for the device by itself.
    """

    device: float
    whole: float
    is_usable: bool


@dataclass(slots=True)
class Times:
    """What one side showed, in order."""

    device: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


class Comparison:
    """One workload, two sources.

    Args:
        oracle: Makes inputs and checks outputs of timed calls.
        siblings: Children with the sources imported.
        workload: What to time.
        plan: How long.
        deadlines: For the requests.
        ceilings: Of the card.
        backend: For the conditions.
    """

    def __init__(
        self,
        oracle: Oracle,
        siblings: Siblings,
        workload: Workload,
        plan: TimingPlan,
        deadlines: Deadlines,
        *,
        ceilings: Ceilings | None,
        backend: Backend,
    ) -> None:
        self._oracle = oracle
        self._siblings = siblings
        self._workload = workload
        self._plan = plan
        self._deadlines = deadlines
        self._ceilings = ceilings
        self._backend = backend
        self._sets = 1
        self._unclean = dict.fromkeys(("first", "second", "twin"), 0)
        self._checked = 0
        self._wrong = 0
        self._pairs: dict[str, Times] = {"first": Times(), "second": Times()}
        self._control: dict[str, Times] = {"first": Times(), "second": Times()}

    def run(self, driver: Executor) -> Callable[[], PairedSamples]:
        """Measure until decided, or until pairs or seconds are used up.

        Args:
            driver: Asks the driver's own tool, which takes its time, beside what is not timed.

        Returns:
            What gives the samples; it waits for the driver's last answer.

        Raises:
            CandidateError: One side failed; the message says which.
            OracleFailed: Inputs could not be made.
        """
        before = driver.submit(conditions.read, self._backend)
        first_calls = self._open()
        self._warm_up()
        before.result()
        warm = {name: self._warm(name) for name in ("first", "second")}
        self._alternate()
        judged = self._batches()
        after = driver.submit(conditions.read, self._backend)
        self._close()
        return lambda: self._samples(first_calls, warm, judged, [before.result(), after.result()])

    def _batches(self) -> JudgedTimes:
        """Let the judge time both sides by its own clock."""
        judge = JudgeClock(self._oracle, self._ask, self._workload, self._plan, self._payload())
        judged = judge.run()
        self._checked += judged.checked
        self._wrong += judged.wrong
        return judged

    def _children(self) -> dict[str, Session]:
        found = self._siblings
        return {"first": found.first, "second": found.second, "twin": found.twin}

    def _ask(
        self, name: str, op: str, payload: Mapping[str, Any], *, factor: float = 1.0
    ) -> dict[str, Any]:
        """Ask one side; its failures say which side it was.

        Raises:
            CandidateError: The candidate failed.
            OutOfHostResources: The baseline or its twin did, which was right before: not the
                candidate's fault.
        """
        words = {"first": "the baseline side", "second": "the candidate", "twin": "the control"}
        try:
            return self._children()[name].ask(
                op,
                {"workload": self._workload.name, **payload},
                seconds=factor * self._deadlines.case,
            )
        except CandidateError as error:
            message = f"{words[name]} while timed: {error.message}"
            if name != "second":
                raise OutOfHostResources(
                    message, remedy="see what else uses the card (nvidia-smi, xpu-smi)"
                ) from error
            error.message = message
            error.args = (message,)
            raise

    def _payload(self) -> dict[str, Any]:
        fields = self._oracle.workload_payload(self._workload, seed=self._plan.seed)
        return {**fields, "workload": self._workload.name}

    def _open(self) -> dict[str, float]:
        """Make every side ready; return host seconds of each first call."""
        made = self._oracle.ask("time_sets", self._payload())
        self._sets = len(made["sets"])
        workload = self._workload
        recipe = {
            "inputs": [spec_fields(each) for each in workload.inputs],
            "fill": str(Fill.RANDOM),
            "seed": self._plan.seed,
            "memory_format": workload.memory_format,
        }
        payload = {
            "name": CANDIDATE,
            "arguments": made["arguments"],
            "seed": self._plan.seed,
            "dtype": workload.dtype,
            "memory_format": workload.memory_format,
            "dims": dict(workload.dims),
            "sets": made["sets"],
            "state": made["state"],
            "recipe": recipe if workload.inputs else None,
        }
        seconds = {}
        for name in self._children():
            answer = self._ask(name, "time_open", payload, factor=_OPEN_FACTOR)
            if answer.get("state_mismatch"):
                raise CandidateRaised(f"{name}: {answer['state_mismatch']}", kind="StateMismatch")
            seconds[name] = float(answer["first_call_seconds"])
        return seconds

    def _sample(self, name: str, seed: int) -> Reading:
        answer = self._ask(name, "time_sample", {"seed": seed, "set": seed % self._sets})
        is_clean = bool(answer["is_clean"])
        if not is_clean:
            self._unclean[name] += 1
        device, whole = float(answer["device_seconds"]), float(answer["whole_seconds"])
        return Reading(device, whole, is_clean or self._unclean[name] > _MOST_UNCLEAN)

    def _warm_up(self) -> None:
        """Call all sides until the baseline's reading is flat."""
        readings: list[float] = []
        for index in range(_MOST_WARM_UP_CALLS):
            seed = self._plan.seed - 1 - index
            readings.append(self._sample("first", seed).device)
            for name in ("second", "twin"):
                if index < _WARM_UP_CALLS:
                    self._sample(name, seed)
            last = readings[-_WARM_UP_CALLS:]
            if len(last) == _WARM_UP_CALLS and max(last) <= _FLAT_RATIO * min(last):
                return

    def _warm(self, name: str) -> float:
        seed = self._plan.seed - _MOST_WARM_UP_CALLS - 1
        payload = {"seed": seed, "set": seed % self._sets, "calls": _WARM_CALLS}
        return float(self._ask(name, "time_warm", payload)["device_seconds"])

    def _alternate(self) -> None:
        started = time.monotonic()
        last = None
        for turn in turns(self._plan.seed + _SEED_STEP, self._plan, checks=_CHECKS):
            self._turn(turn)
            if turn.is_control:
                continue
            last = turn
            if self._is_enough(time.monotonic() - started):
                break
        # Which call is the last one nobody knows before: code that behaves for so many calls, or
        # until it is timed, has had its chance by then.
        if last is not None and "second" not in last.checked:
            self._check("second", last.seed)

    def _is_enough(self, seconds: float) -> bool:
        first, second = self._pairs["first"].device, self._pairs["second"].device
        if len(first) < self._plan.min_pairs:
            return seconds > _PATIENCE * self._plan.seconds
        if seconds > self._plan.seconds:
            return True
        return len(first) % _DECIDED_EVERY == 0 and is_decided(first, second)

    def _turn(self, turn: Turn) -> None:
        """Time one pair on the same inputs; check outputs after both."""
        target = self._control if turn.is_control else self._pairs
        read = {}
        for side in turn.order:
            name = "twin" if turn.is_control and side == "second" else side
            read[side] = self._sample(name, turn.seed)
            if side in turn.checked:
                self._check(name, turn.seed)
        if all(each.is_usable for each in read.values()):
            for side, each in read.items():
                target[side].device.append(each.device)
                target[side].whole.append(each.whole)

    def _check(self, name: str, seed: int) -> None:
        """Compare the outputs of the call just timed with the oracle's; list who computes next."""
        fetched = self._ask(name, "time_fetch", {})
        fields = {**self._payload(), "sample_seed": seed, "set": seed % self._sets}
        answer = verify(self._oracle, self._workload, fields, fetched["outputs"])
        self._checked += 1
        self._wrong += int(answer.is_wrong)
        if name == "second":
            # Among the timed calls, so that nothing tells it from them: who computes?
            self._ask(name, "time_listed", {"seed": seed + 1, "set": (seed + 1) % self._sets})

    def _close(self) -> None:
        for name in self._children():
            self._ask(name, "time_close", {})
        self._oracle.ask("time_forget", {"workload": self._workload.name})

    def _samples(
        self,
        first_calls: Mapping[str, float],
        warm: Mapping[str, float],
        judged: JudgedTimes,
        readings: list[conditions.Reading | None],
    ) -> PairedSamples:
        return PairedSamples(
            workload=self._workload.name,
            weight=self._workload.weight,
            first_seconds=tuple(self._pairs["first"].device),
            second_seconds=tuple(self._pairs["second"].device),
            first_host_seconds=tuple(self._pairs["first"].whole),
            second_host_seconds=tuple(self._pairs["second"].whole),
            control_first_seconds=tuple(self._control["first"].device),
            control_second_seconds=tuple(self._control["second"].device),
            first_warm_seconds=warm["first"],
            second_warm_seconds=warm["second"],
            first_call_seconds=first_calls["first"],
            second_call_seconds=first_calls["second"],
            outputs_checked=self._checked,
            outputs_wrong=self._wrong,
            floor_seconds=floor_seconds(self._workload, self._ceilings),
            conditions=conditions.summary(readings),
            first_judge_seconds=judged.first,
            second_judge_seconds=judged.second,
        )


def floor_seconds(workload: Workload, ceilings: Ceilings | None) -> float | None:
    """Return the time that compulsory bytes and declared arithmetic need at measured ceilings."""
    if ceilings is None:
        return None
    moved = workload.moved_bytes
    bounds = [] if moved is None else [moved / ceilings.copy_bytes_per_s]
    rate = ceilings.matrix_flops_per_s.get(workload.dtype or "float32")
    if workload.flops is not None and rate:
        bounds.append(workload.flops / rate)
    return max(bounds) if bounds else None
