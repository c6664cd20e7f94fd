import dataclasses

import pytest

from xeforge.domain.candidate import Candidate
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import BuildReport
from xeforge.domain.trial import Trial
from xeforge.domain.trial import WorkloadResult
from xeforge.domain.verdict import Grade
from xeforge.domain.verdict import Interval
from xeforge.domain.verdict import Outcome
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import Verdict
from xeforge.domain.verdict import VoidReason
from xeforge.domain.verdict import rejected
from xeforge.domain.verdict import void
from xeforge.propose.config_search import ConfigSearch
from xeforge.source.knobs import find_knobs

HEADER = "import torch\nimport triton\nimport triton.language as tl\n"
MATMUL = (
    HEADER
    + """
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    rm = tl.program_id(0) * TM + tl.arange(0, TM)
    rn = tl.program_id(1) * TN + tl.arange(0, TN)
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for start in range(0, K, TK):
        rk = start + tl.arange(0, TK)
        a = tl.load(a_ptr + rm[:, None] * K + rk[None, :], mask=rk[None, :] < K, other=0.0)
        b = tl.load(b_ptr + rk[:, None] * N + rn[None, :], mask=rk[:, None] < K, other=0.0)
        acc += tl.dot(a, b)
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc, mask=mask)


class Model(torch.nn.Module):
    def forward(self, a, b):
        (M, K), N = a.shape, b.shape[1]
        c = torch.empty((M, N), device=a.device)
        grid = lambda meta: (triton.cdiv(M, meta["TM"]), triton.cdiv(N, meta["TN"]))
        product[grid](a, b, c, M, N, K, TM=32, TN=32, TK=32)
        return c
"""
)
SCALE = """
@triton.jit
def {name}(x_ptr, y_ptr, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, x * 2.0, mask=offs < n)
"""
CHAIN = (
    HEADER
    + "SIZE = 64\n"
    + SCALE.format(name="first")
    + SCALE.format(name="second")
    + """
class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        first[(triton.cdiv(n, SIZE),)](x, y, n, B=SIZE)
        second[(triton.cdiv(n, SIZE),)](y, y, n, B=SIZE)
        return y
"""
)


def values(source):
    return {each.name: each.value for each in find_knobs(source)}


class Session:
    """Plays the engine: judges every proposal with a function from settings to speed."""

    def __init__(self, make, problem, speed):
        self.make, self.problem, self.speed = make, problem, speed
        self.tried, self.speeds, self.parent = [], {"t0": speed(values(problem.kernel.text))}, None

    def round(self, limit=4):
        assignment = self.make.assignment(
            self.problem, parent=self.parent, tried=self.tried, limit=limit
        )
        proposals = ConfigSearch().propose(assignment)
        for each in proposals:
            self.judge(each)
        return proposals

    def judge(self, proposal):
        against = self.parent.id if self.parent else "t0"
        name = f"t{len(self.tried) + 1}"
        candidate = Candidate(
            name, against, "autotuning", "config_search", proposal.source, proposal.because, {}
        )
        speed = self.speed(values(proposal.source))
        if speed is None:
            self.tried.append((candidate, Trial(name, against, rejected(Reason.TIMEOUT, "slow"))))
            return
        ratio = speed / self.speeds[against]
        verdict = rejected(Reason.NO_SPEEDUP, "no")
        if ratio > 1:
            verdict = Verdict(Outcome.ACCEPTED, "yes", grade=Grade.MEASURED)
        trial = Trial(name, against, verdict, ratio=Interval(ratio, ratio, ratio))
        self.speeds[name] = speed
        self.tried.append((candidate, trial))
        if ratio > 1:
            self.parent = candidate

    def run(self, rounds=40):
        return any(not self.round() for _ in range(rounds))


@pytest.fixture
def problem(make):
    return make.problem(MATMUL, [make.workload((4096, 4096), (4096, 4096))])


def test_tiles_of_the_device_come_first_and_only_those_that_fit(make, problem):
    found = ConfigSearch().propose(make.assignment(problem, limit=3))
    assert [each.settings for each in found] == [
        {"TM": 128, "TN": 256, "TK": 64, "num_warps": 8, "num_stages": 3},
        {"TM": 256, "TN": 128, "TK": 64, "num_warps": 8, "num_stages": 4},
        {"TM": 128, "TN": 128, "TK": 64, "num_warps": 4, "num_stages": 3},
    ]
    assert found[0].because == (
        "product: TM 32 -> 128, TN 32 -> 256, TK 32 -> 64, num_warps default -> 8, num_stages "
        "default -> 3: fewer reloads of both operands, fewer, longer steps along the depth, more "
        "threads share one tile"
    )
    assert "TM=128, TN=256, TK=64, num_warps=8, num_stages=3)" in found[0].source


def test_same_assignment_gives_the_same_answer(make, problem):
    assignment = make.assignment(problem)
    assert ConfigSearch().propose(assignment) == ConfigSearch().propose(assignment)


def test_small_problems_get_no_large_tiles(make):
    problem = make.problem(MATMUL, [make.workload((48, 64), (64, 32))])
    session = Session(make, problem, lambda values: 1.0)
    session.run()
    assert all(values(each.source)["TM"] <= 64 for each, _ in session.tried)


def test_climbs_to_the_best_setting_and_then_stops(make, problem):
    def speed(values):
        best = {"TM": 64, "TN": 256, "TK": 32, "num_warps": 16, "num_stages": 2}
        defaults = {"num_warps": 4, "num_stages": 3}
        now = {name: values[name] or defaults[name] for name in best}
        return 1.0 / (
            1 + sum(abs(now[name].bit_length() - best[name].bit_length()) for name in best)
        )

    session = Session(make, problem, speed)
    assert session.run()
    assert values(session.parent.source)["TN"] == 256
    assert session.speeds[session.parent.id] == pytest.approx(1.0)


def test_nothing_is_proposed_twice_and_everything_is_legal(make, problem):
    session = Session(make, problem, lambda values: 1.0 + (values["TM"] or 0) / 1000)
    assert session.run()
    sources = [each.source for each, _ in session.tried]
    assert len(set(sources)) == len(sources)
    settings = [tuple(sorted(values(each).items())) for each in sources]
    assert len(set(settings)) == len(settings)
    for each in sources:
        now = values(each)
        assert (now["num_warps"] or 4) * 32 <= 512
        stages = now["num_stages"] or 3
        assert (now["TM"] * now["TK"] + now["TK"] * now["TN"]) * 2 * stages <= 200_000


def test_a_direction_that_lost_is_tried_last(make, problem):
    def speed(values):
        warps = values["num_warps"] or 4
        return 0.5 if warps > 4 else 1.0

    session = Session(make, problem, speed)
    session.run(rounds=3)
    order = [each.settings for each in session.round(limit=12)]
    grown = [number for number, each in enumerate(order) if each.get("num_warps", 0) > 4]
    others = [number for number, each in enumerate(order) if "num_warps" not in each]
    assert others
    assert not grown or min(grown) > max(others[:3])


def test_rejected_and_void_trials_are_understood(make, problem):
    session = Session(make, problem, lambda values: None if (values["TN"] > 64) else 1.0)
    assert session.run()
    assert all(values(each.source)["TN"] <= 256 for each, _ in session.tried)
    candidate, _ = session.tried[0]
    lost = Trial(candidate.id, "t0", void(VoidReason.DEVICE_LOST, "gone"))
    again = ConfigSearch().propose(make.assignment(problem, tried=[(candidate, lost)]))
    assert candidate.source not in {each.source for each in again}


def test_stops_at_the_roofline(make, problem):
    first = ConfigSearch().propose(make.assignment(problem, limit=1))[0]
    parent = Candidate("t1", "t0", "autotuning", "config_search", first.source, "", {})
    result = WorkloadResult("bench[0]", 1.0, 2.0, 1.0, Interval(2.0, 2.0, 2.0), 0.97)
    verdict = Verdict(Outcome.ACCEPTED, "yes", grade=Grade.MEASURED)
    trial = Trial("t1", "t0", verdict, ratio=Interval(2.0, 2.0, 2.0), results=(result,))
    at_floor = make.assignment(problem, parent=parent, tried=[(parent, trial)])
    assert ConfigSearch().propose(at_floor) == ()
    slower = dataclasses.replace(trial, results=(dataclasses.replace(result, floor_seconds=0.9),))
    below = make.assignment(problem, parent=parent, tried=[(parent, slower)])
    assert ConfigSearch().propose(below)


def test_streaming_blocks_give_each_thread_whole_vectors(make):
    problem = make.problem(CHAIN, [make.workload((1024, 1024))])
    found = ConfigSearch().propose(make.assignment(problem, limit=40))
    for each in found[:8]:
        block = each.settings.get("first.B", each.settings.get("second.B"))
        warps = each.settings.get("first.num_warps", each.settings.get("second.num_warps"))
        assert block // (32 * warps) in {8, 16, 32}
    assert "(also in second)" in found[0].because
    assert f"SIZE = {found[0].settings['first.B']}" in found[0].source
    assert len({each.source for each in found}) == len(found)


def test_rows_walked_in_steps_try_the_whole_row(make):
    kernel = (
        HEADER
        + """
@triton.jit
def total(x_ptr, y_ptr, n, B: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((B,), dtype=tl.float32)
    for start in range(0, n, B):
        offs = start + tl.arange(0, B)
        acc += tl.load(x_ptr + row * n + offs, mask=offs < n, other=0.0)
    tl.store(y_ptr + row, tl.sum(acc))


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0])
        total[(x.shape[0],)](x, y, x.shape[1], B=128)
        return y
"""
    )
    problem = make.problem(kernel, [make.workload((512, 3000), dtype="float32")])
    found = ConfigSearch().propose(make.assignment(problem, limit=2))
    assert found[0].settings == {"B": 4096, "num_warps": 16}


def test_kernels_that_no_timed_workload_launches_are_left_alone(make):
    source = CHAIN.replace("SIZE)](y", "64)](y").replace(
        "n, B=SIZE)\n        return", "n, B=64)\n        return"
    )
    problem = make.problem(source, [make.workload((1 << 20,))])
    assignment = make.assignment(problem, limit=16)
    everything = ConfigSearch().propose(assignment)
    assert any("second." in name for each in everything for name in each.settings)
    report = BuildReport("first", "bench[0]", {}, 4, 3, 32, 0, 0)
    timed = dataclasses.replace(assignment, parent_builds=BuildEvidence((report,)))
    found = ConfigSearch().propose(timed)
    assert found
    assert all(name.startswith("first.") for each in found for name in each.settings)


def test_a_file_without_knobs_has_nothing_to_search(make):
    source = HEADER + "class Model(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    problem = make.problem(source, [make.workload((4, 4))])
    assert ConfigSearch().propose(make.assignment(problem)) == ()
