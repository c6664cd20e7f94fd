"""Writes beside guarded memory are found; the memory itself behaves as before."""


def test_writes_beside_a_tensor_are_placed(interpreter):
    answer = interpreter(
        """
from guards import Guards
guards = Guards()
x = guards.surround(torch.arange(6.0).reshape(2, 3).t(), "x")
answer["values"], answer["strides"] = x.tolist(), list(x.stride())
answer["clean"] = guards.faults()
start = x.storage_offset()
x.as_strided((1,), (1,), start + 6).fill_(1.0)
x.as_strided((1,), (1,), start - 2).fill_(1.0)
answer["offsets"] = [each["offset_bytes"] for each in guards.faults()]
answer["argument"] = guards.faults()[0]["argument"]
answer["reads"] = x.as_strided((1,), (1,), start + 7).isnan().item()
"""
    )
    assert answer["values"] == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert answer["strides"] == [1, 3]
    assert answer["clean"] == []
    assert answer["offsets"] == [-5, 24], "the nearest changed byte on each side"
    assert answer["argument"] == "x"
    assert answer["reads"]


def test_fresh_memory_is_guarded_and_poisoned(interpreter):
    answer = interpreter(
        """
from guards import Guards
from poison import FIRST, SECOND, Poison
guards = Guards()
with Poison(FIRST, guards):
    one = torch.empty((2, 3), dtype=torch.float16)
    two = torch.empty_like(torch.zeros(4, dtype=torch.int32))
    three = one.new_empty(2)
answer["nan"] = bool(one.isnan().all() and three.isnan().all())
answer["integers"] = two.tolist()
answer["names"] = [band.name for band in guards.bands]
with Poison(SECOND):
    answer["second"] = torch.empty(2).tolist()
    answer["zeros"] = torch.zeros(2).tolist()
"""
    )
    assert answer["nan"]
    assert answer["integers"] == [0x5B] * 4
    assert answer["names"] == ["fresh float16[2, 3]", "fresh int32[4]", "fresh float16[2]"]
    assert answer["second"] == [-73.5, -73.5]
    assert answer["zeros"] == [0.0, 0.0]
