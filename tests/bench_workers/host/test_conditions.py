"""Readings of a card through the driver's tool."""

import subprocess

import pytest

from bench_workers.host import conditions


@pytest.fixture
def tool(monkeypatch):
    """Answer in place of the driver's tool."""

    def answer(text):
        monkeypatch.setattr(conditions.shutil, "which", lambda _: "nvidia-smi")
        done = subprocess.CompletedProcess([], 0, stdout=text)
        monkeypatch.setattr(conditions.subprocess, "run", lambda *_, **__: done)

    return answer


def test_clock_temperature_and_reasons_are_read(tool):
    tool("1980, 41, 0x0000000000000024\n")
    reading = conditions.read("cuda")
    assert reading.sm_clock_mhz == 1980
    assert reading.temperature_c == 41
    assert reading.throttle == ("software power cap", "software thermal slowdown")


@pytest.mark.parametrize("text", ["", "[N/A], 41, 0x0\n", "Unable to determine\n"])
def test_answers_that_say_nothing_are_no_reading(tool, text):
    tool(text)
    assert conditions.read("cuda") is None


def test_a_tool_that_hangs_is_no_reading(tool, monkeypatch):
    tool("")

    def hang(*_, **__):
        raise subprocess.TimeoutExpired("nvidia-smi", 5)

    monkeypatch.setattr(conditions.subprocess, "run", hang)
    assert conditions.read("cuda") is None


def test_without_a_tool_there_is_no_reading():
    assert conditions.read("cpu") is None


def test_summary_keeps_order_and_drops_gaps():
    one = conditions.Reading(1980, 40, ())
    two = conditions.Reading(1700, 80, ("software power cap",))
    found = conditions.summary([one, None, two])
    assert found.sm_clock_mhz == (1980, 1700)
    assert found.temperature_c == (40, 80)
    assert found.throttle == ("software power cap",)
