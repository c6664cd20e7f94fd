"""A finished job with one accepted and one rejected candidate, measured or estimated."""

from dataclasses import replace

import pytest

from knowledge.load import find_device
from xeforge.domain.candidate import Candidate
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.events import Analyzed
from xeforge.domain.events import Audited
from xeforge.domain.events import Confirmed
from xeforge.domain.events import Described
from xeforge.domain.events import Finished
from xeforge.domain.events import JobOutcome
from xeforge.domain.events import Judged
from xeforge.domain.events import Planned
from xeforge.domain.events import Proposed
from xeforge.domain.events import Recorded
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.samples import Conditions
from xeforge.domain.samples import PairedSamples
from xeforge.domain.submission import SourceFile
from xeforge.domain.trial import Trial
from xeforge.domain.trial import WorkloadResult
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Speed
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import rejected

BEFORE = "BLOCK = 64\nWARPS = 4\n"
AFTER = "BLOCK = 128\nWARPS = 4\n"
WORKLOAD = Workload(
    "bench-gpu[0]", "bench-gpu", (), (), None, {"M": 512}, flops=2e9, moved_bytes=1e7
)
CARD = Card("cuda", 0, "NVIDIA H200", "GPU-1", "580.1", "2.11.0", "3.6.0", 2**37)
SAMPLES = PairedSamples(
    workload="bench-gpu[0]",
    weight=1.0,
    first_seconds=(2e-3, 2.1e-3, 2e-3),
    second_seconds=(1e-3, 1.05e-3, 1e-3),
    first_host_seconds=(),
    second_host_seconds=(),
    control_first_seconds=(2e-3, 2e-3),
    control_second_seconds=(2e-3, 2.01e-3),
    first_warm_seconds=None,
    second_warm_seconds=None,
    first_call_seconds=1.0,
    second_call_seconds=1.0,
    outputs_checked=2,
    outputs_wrong=0,
    floor_seconds=5e-4,
    conditions=Conditions(),
)


def trial(grade: Grade) -> Trial:
    ratio = Interval(2.0, 1.98, 2.02) if grade is Grade.MEASURED else Interval(2.0, 2.0, 2.0)
    verdict = Verdict(Outcome.ACCEPTED, "faster", grade=grade, speed=Speed.FASTER)
    result = WorkloadResult("bench-gpu[0]", 1.0, 2e-3, 1e-3, ratio, 5e-4)
    return Trial("t1", "t0", verdict, ratio=ratio, results=(result,))


def history_of(grade: Grade) -> History:
    is_measured = grade is Grade.MEASURED
    ceilings = Ceilings(4.2e12, {"float16": 7.9e14})
    case = CaseEvidence("ci[0]/declared/random#1", "declared", "random", CaseStatus.RAN)
    events = (
        Described(("float16[512, 512]",), ()),
        Audited(
            (Issue("device_hard_coded", Severity.WARNING, 'uses "xpu" | <script>', 7, "drop it"),),
            Evidence((case,)),
            BuildEvidence(()),
            (),
            ("ci[0]/declared/random",),
            ("bench-gpu[0]: too large for the interpreter",),
            CARD if is_measured else None,
            ceilings if is_measured else None,
            "bubblewrap",
        ),
        Analyzed(()),
        Planned(("autotuning",), ("autotuning: missing_autotune",)),
        Proposed(
            "autotuning",
            "config_search",
            0,
            (
                Candidate("t1", "t0", "autotuning", "config_search", AFTER, "BLOCK 64 -> 128", {}),
                Candidate("t2", "t0", "autotuning", "config_search", "x = 1\n", "a | b", {}),
            ),
        ),
        Judged(trial(grade)),
        Judged(Trial("t2", "t1", rejected(Reason.INCORRECT_OUTPUT, "element [0] is 1"))),
        Confirmed(trial(grade), (SAMPLES,) if is_measured else (), ()),
        Finished(JobOutcome.IMPROVED, "t1", "every planned stage is exhausted"),
    )
    records = tuple(Recorded(n, f"s{n}", 100.0 + n, event) for n, event in enumerate(events))
    kernel = SourceFile("kernel.py", BEFORE)
    reference = SourceFile("kernel_pytorch.py", "")
    problem = Problem(kernel, reference, (WORKLOAD,), "nvidia-h200", "cuda")
    return History("j1", problem, records)


@pytest.fixture
def measured() -> History:
    return history_of(Grade.MEASURED)


@pytest.fixture
def estimated() -> History:
    return history_of(Grade.ESTIMATED)


@pytest.fixture
def interrupted(measured) -> History:
    return replace(measured, records=measured.records[:-2])


@pytest.fixture
def device():
    return find_device("nvidia-h200")
