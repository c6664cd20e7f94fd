"""What is warmed ahead: the device before the memory that is pinned for it."""

_RUN = """
import warm_up
order = []

class Arena:
    def map_ahead(self):
        order.append("map")

class Session:
    lanes = [(Arena(), Arena())]
    class device:
        name = "cpu"
        is_accelerator = True
        synchronize = staticmethod(lambda: order.append("synchronize"))

class Clock:
    cold = staticmethod(lambda call: call())

warm_up.own_clock = lambda session: Clock
made = torch.empty
torch.empty = lambda *words, **options: (order.append("open"), made(*words, **options))[1]
try:
    warm_up.run(Session)
finally:
    torch.empty = made
answer["order"] = order
"""


def test_the_device_is_open_before_memory_is_pinned(interpreter):
    order = interpreter(_RUN)["order"]

    assert order[:3] == ["open", "map", "map"]
    assert order[-1] == "synchronize"
