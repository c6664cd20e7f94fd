"""What every device of a session must show; run against doubles of cards and the real CPU."""

from pathlib import Path

import pytest

DOUBLE = (
    Path(__file__).parents[1] / "bench_workers" / "child" / "doubles" / "torch_double.py"
).read_text()
_FACTS = """
import conformance
answer["facts"] = list(conformance.facts(device))
"""
EVERYWHERE = {"events", "synchronize", "host_ahead", "arithmetic"}
ON_CARDS = {"properties", "units", "memory", "delay"}


class DeviceSuite:
    """Subclass and set `SET_UP`: lines that make ``device``; `CHECKS`: those that apply."""

    SET_UP = ""
    CHECKS: frozenset[str] = frozenset()

    @pytest.fixture
    def facts(self, interpreter):
        return {each["name"]: each for each in interpreter(self.SET_UP + _FACTS)["facts"]}

    def test_every_check_that_applies_is_made(self, facts):
        assert set(facts) == set(self.CHECKS)

    def test_every_check_passes(self, facts):
        assert [each for each in facts.values() if not each["passed"]] == []

    def test_numbers_are_plausible(self, facts):
        assert facts["events"]["number"] > 0
        assert facts["synchronize"]["number"] >= 0
        assert facts["host_ahead"]["number"] >= 1

    def test_the_queue_is_filled_and_properties_are_complete(self, interpreter):
        answer = interpreter(
            self.SET_UP
            + """
answer["facts"] = device.properties()
answer["delay"] = device.delay() is not None
answer["events"] = hasattr(device.event(), "record")
"""
        )
        assert set(answer["facts"]) == {
            "backend",
            "product",
            "uuid",
            "driver",
            "memory_bytes",
            "l2_bytes",
            "compute_units",
        }
        assert answer["events"]


class CardSuite(DeviceSuite):
    """A device that works beside the host, played by a double."""

    BACKEND = ""
    CHECKS = frozenset(EVERYWHERE | ON_CARDS)

    @pytest.fixture
    def tried(self, interpreter):
        """Run a faulty double's checks; return those that found the fault."""

        def run(faults):
            lines = f"{DOUBLE}\ndevice, _ = double({self.BACKEND!r}, {faults})\n{_FACTS}"
            return {each["name"] for each in interpreter(lines)["facts"] if not each["passed"]}

        return run

    def test_events_that_run_backwards_are_noticed(self, tried):
        assert {"events", "host_ahead"} <= tried("backwards=True")

    def test_a_device_that_is_never_done_is_noticed(self, tried):
        assert tried("never_done=True") == {"synchronize"}

    def test_memory_that_is_not_given_back_is_noticed(self, tried):
        assert tried("leaks=True") == {"memory"}

    def test_numbers_that_no_card_has_are_noticed(self, tried):
        assert tried("unit={'total_memory': 0}") == {"properties"}
        assert tried("unit={'name': ''}") >= {"properties"}

    def test_only_names_that_the_real_module_has_are_asked_for(self, interpreter):
        answer = interpreter(
            self.SET_UP
            + f"""
import conformance
list(conformance.facts(device))
with device.fast_products():
    pass
device.trim()
device.pin(0, 4096, writable=True)
names = {{each for each in made.vendor.asked if isinstance(each, str)}}
answer["asked"] = sorted(names)
answer["unknown"] = sorted(name for name in names if not hasattr(torch.{self.BACKEND}, name))
answer["precisions"] = made.precisions
"""
        )
        assert {"Event", "synchronize", "get_device_properties"} <= set(answer["asked"])
        assert answer["unknown"] == []
        assert answer["precisions"] == ["high", "highest"]
