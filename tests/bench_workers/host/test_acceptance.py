"""What the acceptance of a card makes of a child's words, and of real copies through memory."""

import os
from contextlib import closing

import pytest

from bench_workers.host.acceptance import _shared_memory
from bench_workers.host.acceptance import ceiling_checks
from bench_workers.host.acceptance import conformance_checks
from bench_workers.host.acceptance import copy_rate
from knowledge.load import find_device
from xeforge.domain.device import Ceilings

H200 = find_device("nvidia-h200")
B580 = find_device("intel-b580")


def by_name(checks):
    return {each.name: each for each in checks}


def test_bytes_cross_shared_memory_both_ways_in_a_real_child(evaluator):
    sessions = evaluator._sessions
    with closing(sessions.start("run")) as session:
        facts = session.ask("conform", {}, seconds=120)["facts"]
        found = by_name(_shared_memory(session, sessions.given[0], sessions.answers[0]))
    assert set(found) == {"copy.values", "copy.to_device", "copy.from_device"}
    assert [each for each in found.values() if not each.passed] == []
    checks = by_name(conformance_checks(facts))
    assert set(checks) == {f"device.{name}" for name in _ON_CPU}
    assert [each for each in checks.values() if not each.passed] == []


_ON_CPU = ("events", "synchronize", "host_ahead", "arithmetic")


class Liar:
    """A device whose copies lose a byte."""

    def __init__(self, sessions):
        self._sessions = sessions

    def ask(self, op, payload, *, seconds):
        assert op == "echo_shared"
        sent = os.pread(self._sessions.given[0].readable, payload["record"]["shape"][0], 0)
        table = bytes((each + 1) % 256 for each in range(256))
        back = bytearray(sent.translate(table))
        back[-1] ^= 1
        os.pwrite(self._sessions.answers[0].writable, back, 0)
        return {"record": {"offset": 0}, "in_seconds": 0.01, "out_seconds": 9.0, "notes": ["x"]}


def test_a_lost_byte_and_a_slow_link_are_noticed(evaluator):
    sessions = evaluator._sessions
    found = by_name(_shared_memory(Liar(sessions), sessions.given[0], sessions.answers[0]))
    assert not found["copy.values"].passed
    assert found["copy.to_device"].passed
    assert not found["copy.from_device"].passed
    assert "GB/s; x" in found["copy.from_device"].message


def test_no_time_at_all_is_no_rate():
    assert not copy_rate("copy", 0.0, "").passed


@pytest.mark.parametrize(
    ("rate", "passed"), [(4.2e12, True), (1.0e12, False), (6.0e12, False), (1e9, False)]
)
def test_the_copy_ceiling_is_compared_with_the_published_bandwidth(rate, passed):
    copy = by_name(ceiling_checks(Ceilings(rate, {}), H200))["ceiling.copy"]
    assert copy.passed == passed
    assert copy.number == rate


def test_products_faster_than_published_are_not_believed():
    peak = H200.peak_flops_per_s("float16")
    found = by_name(ceiling_checks(Ceilings(4.2e12, {"float16": 0.8 * peak}), H200))
    assert found["ceiling.float16"].passed
    found = by_name(ceiling_checks(Ceilings(4.2e12, {"float16": 2 * peak}), H200))
    assert not found["ceiling.float16"].passed


def test_float32_operands_may_use_the_matrix_units():
    tf32 = H200.peak_flops_per_s("tf32")
    found = by_name(ceiling_checks(Ceilings(4.2e12, {"float32": 0.8 * tf32}), H200))
    assert found["ceiling.float32"].passed


def test_an_intel_card_is_judged_by_its_own_numbers():
    rate = 0.85 * B580.bandwidth_bytes_per_s
    assert by_name(ceiling_checks(Ceilings(rate, {}), B580))["ceiling.copy"].passed
