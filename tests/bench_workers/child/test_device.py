"""The device interface drives cuda and xpu alike, shown on a double that records calls."""

DOUBLE = """
from types import SimpleNamespace
from device import SessionDevice
calls = []

class Event:
    def __init__(self, enable_timing): calls.append(("event", enable_timing))
    def record(self): calls.append("record")
    def query(self): return False
    def elapsed_time(self, end): return 2.0

def double(**extra):
    unit = SimpleNamespace(name="Some Card", total_memory=1 << 34, driver_version="1.2", **extra)
    module = SimpleNamespace(
        Event=Event,
        synchronize=lambda: calls.append("synchronize"),
        empty_cache=lambda: calls.append("empty_cache"),
        is_available=lambda: True,
        device_count=lambda: 2,
        get_device_properties=lambda index: unit,
    )
    return SimpleNamespace(cuda=module, xpu=module)
"""


def test_xpu_properties_are_read_by_their_own_names(interpreter):
    answer = interpreter(
        DOUBLE
        + """
device = SessionDevice("xpu", double(gpu_subslice_count=20, last_level_cache_size=1 << 24))
answer["facts"] = device.properties()
answer["count"] = len(device.all_properties())
answer["delay"] = device.delay() is None
answer["name"] = device.name
"""
    )
    assert answer["facts"] == {
        "backend": "xpu",
        "product": "Some Card",
        "uuid": "",
        "driver": "1.2",
        "memory_bytes": 1 << 34,
        "l2_bytes": 1 << 24,
        "compute_units": 20,
    }
    assert answer["count"] == 2
    assert answer["delay"], "without a sleep kernel the queue is filled with another flush"
    assert answer["name"] == "xpu:0"


def test_a_timed_call_is_between_events_and_the_device_is_idle_after_it(interpreter):
    answer = interpreter(
        DOUBLE
        + """
from clock import SampleClock
device = SessionDevice("xpu", double())
device.name = "cpu"
clock = SampleClock(device, 1 << 10)
calls.clear()
clock.flush = lambda: calls.append("flush")
result, sample = clock.cold(lambda: calls.append("call") or 5)
answer["order"] = [each for each in calls if each != ("event", True)]
answer["sample"] = [sample.device_seconds, sample.whole_seconds, sample.is_clean]
answer["result"] = result
"""
    )
    assert answer["order"] == [
        "flush",
        "flush",
        "record",
        "call",
        "record",
        "synchronize",
        "record",
        "synchronize",
    ]
    assert answer["sample"] == [2e-3, 2e-3, True]
    assert answer["result"] == 5


def test_a_host_that_was_late_makes_the_sample_unclean_and_the_filler_longer(interpreter):
    answer = interpreter(
        DOUBLE
        + """
from clock import SampleClock
device = SessionDevice("cuda", double())
device.name = "cpu"
slept = []
device.module._sleep = slept.append
clock = SampleClock(device, 1 << 10)
Event.query = lambda self: True
answer["clean"] = [clock.cold(lambda: None)[1].is_clean for _ in range(3)]
answer["ratios"] = [slept[1] / slept[0], slept[2] / slept[1]]
"""
    )
    assert answer == {"clean": [False] * 3, "ratios": [2.0, 2.0]}


def test_without_an_accelerator_the_host_clock_counts(interpreter):
    answer = interpreter(
        """
from device import SessionDevice
device = SessionDevice("cpu")
start, end = device.event(), device.event()
start.record(); sum(range(1000)); end.record()
device.synchronize(); device.empty_cache()
answer["positive"] = start.elapsed_time(end) > 0
answer["all"] = device.all_properties()
"""
    )
    assert answer == {"positive": True, "all": []}


def test_memory_that_siblings_could_use_is_given_back_and_less_is_kept(interpreter):
    """Asking the driver for memory again takes milliseconds, so little of it stays."""
    answer = interpreter(
        DOUBLE
        + """
def given_back(unused, memory):
    made = double()
    made.cuda.get_device_properties = lambda index: SimpleNamespace(total_memory=memory)
    made.cuda.memory_reserved = lambda: unused + (1 << 29)
    made.cuda.memory_allocated = lambda: 1 << 29
    calls.clear()
    SessionDevice("cuda", made).trim()
    return "empty_cache" in calls

GIB = 1 << 30
answer["large"] = [given_back(each * GIB, 128 * GIB) for each in (3, 5)]
answer["small"] = [given_back(each * GIB, 8 * GIB) for each in (1, 2)]
"""
    )
    assert answer == {"large": [False, True], "small": [False, True]}
