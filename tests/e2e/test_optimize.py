"""From submission to certificate without a GPU: the real command, real children, a real store."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from xeforge.domain.certificate import Certificate
from xeforge.domain.codec import loads
from xeforge.domain.events import Judged
from xeforge.domain.events import Resumed
from xeforge.report.document import Report

ROOT = Path(__file__).parents[2]
FAULTS = ROOT / "tests" / "faults"
KERNEL = ROOT / "tests" / "e2e" / "kernels" / "widened_product.py"
SPEC = KERNEL.with_suffix(".yaml")


class Command:
    """`xeforge` in a process of its own, with its own job folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "XEFORGE_HOME": str(folder / "home")}

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "xeforge.app.main", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=280)
        return subprocess.CompletedProcess([], process.returncode, out, err)


def optimize(*more: object) -> list[object]:
    fixed = ["--spec", SPEC, "--device", "cpu", "--stages", "dtype_fix,autotuning"]
    return ["optimize", KERNEL, *fixed, "--budget-trials", "3", *more]


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    return Command(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def whole(command):
    """One uninterrupted job."""
    folder = command.folder / "report"
    winner = command.folder / "faster.py"
    done = command.run(*optimize("--report", folder, "-o", winner, "--json"))
    return done, folder, winner


@pytest.mark.slow
def test_without_a_gpu_a_faster_kernel_is_an_estimate_with_its_own_exit_code(whole):
    done, folder, _ = whole
    assert done.returncode == 6, done.stderr
    report = loads(Report, done.stdout)
    assert report.grade == "estimated"
    assert "by ESTIMATE" in report.headline
    assert "ESTIMATE" in (folder / "report.html").read_text(encoding="utf-8")
    assert "ESTIMATE" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_winner_is_the_kernel_without_the_upcast(whole):
    _, folder, winner = whole
    source = winner.read_text(encoding="utf-8")
    assert source == (folder / "winner.py").read_text(encoding="utf-8")
    assert "a.to(tl.float32)" not in source
    assert "dtype=tl.float32" in source, "the accumulator stays in float32"


@pytest.mark.slow
def test_the_certificate_carries_the_claim_and_no_samples(whole):
    _, folder, _ = whole
    certificate = loads(Certificate, (folder / "certificate.json").read_text(encoding="utf-8"))
    assert certificate.samples == ()
    assert certificate.card is None
    assert certificate.estimates
    assert certificate.trial.against == "t0"


@pytest.mark.slow
def test_a_certificate_can_be_checked_here(whole, command):
    _, folder, _ = whole
    done = command.run("certificate", "check", folder / "certificate.json")
    assert done.returncode == 0, done.stderr
    assert "the claim holds" in done.stdout


@pytest.mark.slow
def test_bench_agrees_with_the_search_and_refuses_the_reverse(whole, command):
    _, _, winner = whole
    reference = KERNEL.with_name("widened_product_pytorch.py")
    fixed = ["--spec", SPEC, "--device", "cpu", "--reference", reference, "--json"]
    forward = command.run("bench", KERNEL, winner, *fixed)
    assert forward.returncode == 6, forward.stderr
    assert json.loads(forward.stdout)["trial"]["verdict"]["outcome"] == "accepted"
    backward = command.run("bench", winner, KERNEL, *fixed)
    assert backward.returncode == 3, backward.stderr
    assert json.loads(backward.stdout)["trial"]["verdict"]["reason"] == "NO_SPEEDUP"


@pytest.mark.slow
def test_a_killed_job_resumes_to_the_same_winner_without_repeating_a_trial(whole, tmp_path):
    from xeforge.adapters.sql_store import SqlStore
    from xeforge.adapters.system_clock import SystemClock

    command = Command(tmp_path)
    process = command.start(*optimize("--report", tmp_path / "report"))
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("t1"):
            process.send_signal(signal.SIGKILL)
            break
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    store = SqlStore(tmp_path / "home" / "jobs.sqlite3", SystemClock())
    (job,) = store.jobs()
    before = store.history(job)
    assert before.finished is None
    done = command.run("optimize", "--resume", job, "--report", tmp_path / "report", "--json")
    assert done.returncode == 6, done.stderr
    after = store.history(job)
    store.close()
    assert after.records[: len(before.records)] == before.records
    assert sum(isinstance(record.event, Resumed) for record in after.records) == 1
    judged = [each.trial.candidate for each in after.of(Judged)]
    assert len(judged) == len(set(judged))
    winner = (tmp_path / "report" / "winner.py").read_text(encoding="utf-8")
    assert winner == whole[2].read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_known(tmp_path, stop):
    command = Command(tmp_path)
    process = command.start(*optimize("--report", tmp_path / "report"))
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("audit"):
            process.send_signal(stop)
            break
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "xeforge optimize --resume" in err
    assert "Traceback" not in err
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert report["outcome"] == "interrupted"
