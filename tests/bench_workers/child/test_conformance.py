"""The device interface drives cuda and xpu alike; doubles stand in for both."""

import re
from pathlib import Path

from tests.conformance.device import DOUBLE
from tests.conformance.device import EVERYWHERE
from tests.conformance.device import CardSuite
from tests.conformance.device import DeviceSuite


class TestXpu(CardSuite):
    BACKEND = "xpu"
    SET_UP = DOUBLE + "\ndevice, made = double('xpu')\n"

    def test_nothing_that_only_cuda_has_is_asked_for(self, interpreter):
        answer = interpreter(
            self.SET_UP
            + """
import os
from arena import Arena
number = os.memfd_create("arena")
os.ftruncate(number, 1 << 16)
arena = Arena(number, writable=True, device=device)
record, _ = arena.put(torch.ones(8), 0, keep_strides=False)
answer["sum"] = arena.take(record).sum().item()
os.ftruncate(number, 1 << 17)
arena.take(record)
answer["note"] = arena.note
answer["asked"] = sorted({each for each in made.vendor.asked if isinstance(each, str)})
"""
        )
        assert answer["sum"] == 8
        assert answer["note"] == "shared memory is not pinned: torch.xpu cannot register it"
        assert answer["asked"] == ["is_initialized"]

    def test_without_a_sleep_kernel_the_cache_flush_fills_the_queue(self, facts):
        assert "flushing the cache" in facts["delay"]["message"]


class TestCuda(CardSuite):
    BACKEND = "cuda"
    SET_UP = DOUBLE + "\ndevice, made = double('cuda')\n"

    def test_memory_mapped_before_the_device_is_open_is_pinned_at_its_next_use(self, interpreter):
        answer = interpreter(
            self.SET_UP
            + """
import os
from arena import Arena
number = os.memfd_create("arena")
os.ftruncate(number, 1 << 16)
is_open = [False]
made.vendor._offered["is_initialized"] = lambda: is_open[0]
arena = Arena(number, writable=True, device=device)
registered = lambda: sum(1 for each in made.vendor.asked if each[0] == "register")
arena.map_ahead()
answer["closed"], is_open[0] = registered(), True
arena.map_ahead(); arena.map_ahead()
answer["open"] = registered()
"""
        )
        assert answer == {"closed": 0, "open": 1}

    def test_shared_memory_is_pinned_once_and_released_when_it_grows(self, interpreter):
        answer = interpreter(
            self.SET_UP
            + """
import os
from arena import Arena
number = os.memfd_create("arena")
os.ftruncate(number, 1 << 16)
arena = Arena(os.open(f"/proc/self/fd/{number}", os.O_RDONLY), writable=False, device=device)
record = {"offset": 0, "shape": [4], "strides": [1], "dtype": "uint8"}
arena.take(record); arena.take(record)
os.ftruncate(number, 1 << 17)
arena.take(record)
calls = [each for each in made.vendor.asked if not isinstance(each, str)]
answer["calls"] = [name for name, _ in calls]
answer["sizes"] = [words[1:] for name, words in calls if name == "register"]
answer["note"] = arena.note
"""
        )
        assert answer["calls"] == ["register", "unregister", "register"]
        assert answer["sizes"] == [[1 << 16, 8], [1 << 17, 8]]
        assert answer["note"] == ""

    def test_a_refused_registration_is_noted_and_taken_off_the_record(self, interpreter):
        answer = interpreter(
            self.SET_UP
            + """
made.vendor.cudart().cudaHostRegister = lambda *words: 801
answer["note"] = device.pin(4096, 4096, writable=True)
device.unpin(4096)
answer["tail"] = [each for each in made.vendor.asked if isinstance(each, str)][-1]
"""
        )
        assert answer["note"] == "shared memory is not pinned (cudaHostRegister: 801)"
        assert answer["tail"] == "synchronize"


class TestCpu(DeviceSuite):
    CHECKS = frozenset(EVERYWHERE)
    SET_UP = "from device import SessionDevice\ndevice = SessionDevice('cpu')\n"

    def test_nothing_is_pinned_where_nothing_is_copied(self, interpreter):
        answer = interpreter(self.SET_UP + 'answer["note"] = device.pin(0, 4096, writable=True)')
        assert answer["note"] == ""


def test_a_device_that_computes_wrongly_is_noticed(interpreter):
    answer = interpreter(
        DOUBLE
        + """
import conformance, probing
device, made = double("xpu")
real = torch.arange
made.arange = lambda *words, **options: real(*words, **options).index_fill_(
    0, torch.tensor([3]), 9)
answer["right"] = probing.computes(device)
class Wrong(torch.Tensor):
    def __mul__(self, other):
        return super().__mul__(other) + 1
made.arange = lambda *words, **options: Given(real(*words, **options))
class Given:
    def __init__(self, values): self.values = values
    def __mul__(self, other): return self.values * other
    def to(self, _name): return self.values.as_subclass(Wrong)
answer["wrong"] = probing.computes(device)
"""
    )
    assert "known sum" in answer["right"]
    assert "1,048,576 of 1,048,576 known values came back wrong" in answer["wrong"]


def test_only_the_device_interface_and_the_stand_ins_name_a_vendor():
    """Stand-ins answer user code in a vendor's name; they never drive a device."""
    folder = Path(__file__).parents[3] / "bench_workers" / "child"
    named = {
        path.stem
        for path in folder.glob("*.py")
        if re.search(r"\btorch\.(cuda|xpu)\.\w+\(", path.read_text(encoding="utf-8"))
    }
    assert named - {"redirect"} == set()
