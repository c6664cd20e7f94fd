"""The judge's own clock: whole batches of calls, timed from this side of the control pipe.

What a child says about time is its own word. Here nothing it says counts: a batch of calls on
fresh inputs is asked for, and the clock of this process runs until one number per call is there
that every element of that call's outputs goes into. One call, chosen afterwards, is compared
with the oracle, and its number with the outputs.
"""

import random
import time
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Protocol

from bench_workers.host.oracle import Oracle
from bench_workers.host.oracle import read_output
from bench_workers.host.schedule import turn_order
from xeforge.domain.problem import Workload
from xeforge.ports import TimingPlan

_SEED_STEP = 500_000_000
"""Keeps the inputs of batches apart from those of single calls."""
_SEED_BOUND = 2**31
_CALLS_APART = 64
_DIGEST_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class JudgedTimes:
    """Seconds per call, one entry per batch, and what the checked calls showed."""

    first: tuple[float, ...] = ()
    second: tuple[float, ...] = ()
    checked: int = 0
    wrong: int = 0


@dataclass(frozen=True, slots=True)
class Verified:
    """What the oracle said about the outputs of one call.

    Attributes:
        is_wrong: Whether they are not the right ones.
        digest, digest_scale: Sum of all elements and of their absolute values.
    """

    is_wrong: bool
    digest: float
    digest_scale: float


class Ask(Protocol):
    """Asks one side."""

    def __call__(
        self, name: str, op: str, payload: Mapping[str, Any], *, factor: float = 1.0
    ) -> dict[str, Any]:
        """Perform an operation."""
        ...


class JudgeClock:
    """Times both sides of one comparison.

    Args:
        oracle: Checks outputs.
        ask: Asks a side, ``"first"`` or ``"second"``.
        workload: What is called.
        plan: Says how many batches.
        fields: What the oracle needs to know about the workload.
    """

    def __init__(
        self,
        oracle: Oracle,
        ask: Ask,
        workload: Workload,
        plan: TimingPlan,
        fields: Mapping[str, Any],
    ) -> None:
        self._oracle = oracle
        self._ask = ask
        self._workload = workload
        self._plan = plan
        self._fields = fields
        self._secret = random.SystemRandom()

    def run(self) -> JudgedTimes:
        """Time the batches in ABBA order; check one call of one of the candidate's."""
        if not self._plan.batches:
            return JudgedTimes()
        times: dict[str, list[float]] = {"first": [], "second": []}
        chosen = self._secret.randrange(self._plan.batches)
        wrong = 0
        for index in range(self._plan.batches):
            seed = (self._plan.seed + _SEED_STEP + index * _CALLS_APART) % _SEED_BOUND
            for side in turn_order(index):
                ready = self._ask(side, "time_batch", {"seed": seed})
                started = time.monotonic()
                answer = self._ask(side, "time_go", {})
                seconds = time.monotonic() - started
                times[side].append(seconds / max(1, int(ready["calls"])))
                if side == "second" and index == chosen:
                    wrong += int(self._is_wrong(seed, int(ready["calls"]), answer["digests"]))
        return JudgedTimes(tuple(times["first"]), tuple(times["second"]), 1, wrong)

    def _is_wrong(self, seed: int, calls: int, digests: Sequence[float]) -> bool:
        """Compare one call of a batch with the oracle, and with the number given in time."""
        if len(digests) != calls or calls < 1:
            return True
        call = self._secret.randrange(calls)
        fetched = self._ask("second", "time_fetch", {"call": call})
        fields = {
            **self._fields,
            "sample_seed": seed + call,
            "weights_seed": seed,
            "set": call,
        }
        found = verify(self._oracle, self._workload, fields, fetched["outputs"])
        apart = abs(float(digests[call]) - found.digest)
        return found.is_wrong or apart > _DIGEST_TOLERANCE * max(1.0, found.digest_scale)


def verify(
    oracle: Oracle,
    workload: Workload,
    fields: Mapping[str, Any],
    outputs: Sequence[Mapping[str, Any]],
) -> Verified:
    """Have the oracle look at the outputs of one timed call.

    Args:
        oracle: Knows the right answer.
        workload: Says how far they may be off.
        fields: The workload's, with ``sample_seed``, ``set`` and, if different, ``weights_seed``.
        outputs: Records of what lies in shared memory.

    Raises:
        OracleFailed: The reference cannot be evaluated.
    """
    answer = oracle.ask(
        "verify",
        {**fields, "outputs": list(outputs), "rtol": workload.rtol, "atol": workload.atol},
    )
    found = [read_output(each) for each in answer["outputs"]]
    is_wrong = len(outputs) != int(answer["output_count"])
    is_wrong |= any(each.wrong_count > 0 or each.shape != each.expected_shape for each in found)
    return Verified(is_wrong, float(answer["digest"]), float(answer["digest_scale"]))
