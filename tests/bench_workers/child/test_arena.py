"""Tensors survive the way through shared memory: values, strides, formats."""

ARENA = """
import os
from arena import Arena, ArenaFull
number = os.memfd_create("arena")
os.ftruncate(number, 1 << 16)
arena = Arena(number, writable=True)
reader = Arena(os.open(f"/proc/self/fd/{number}", os.O_RDONLY), writable=False)
"""


def test_strides_and_values_are_kept(interpreter):
    answer = interpreter(
        ARENA
        + """
x = torch.randn(4, 6).t()[::2]
record, end = arena.put(x, 0, keep_strides=True)
back = reader.copy_out(record, "cpu")
answer["equal"] = torch.equal(x, back)
answer["strides"] = [list(x.stride()), list(back.stride())]
answer["offset"] = back.storage_offset()
y = torch.ones(3, 1).expand(3, 5)
record, _ = arena.put(y, end, keep_strides=True)
answer["expanded"] = list(reader.copy_out(record, "cpu").stride())
record, _ = arena.put(y, end, keep_strides=False)
answer["plain"] = list(reader.copy_out(record, "cpu").stride())
"""
    )
    assert answer["equal"]
    assert answer["strides"] == [[2, 6], [2, 6]]
    assert answer["offset"] == 0
    assert answer["expanded"] == [1, 0]
    assert answer["plain"] == [5, 1]


def test_all_formats_pass(interpreter):
    answer = interpreter(
        ARENA
        + """
names = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
         "int64", "int32", "int16", "int8", "uint8", "bool"]
for name in names:
    x = torch.tensor([0, 1, 1]).to(getattr(torch, name))
    record, _ = arena.put(x, 0, keep_strides=True)
    back = reader.copy_out(record, "cpu")
    answer[name] = str(back.dtype).endswith(name) and back.float().tolist() == [0.0, 1.0, 1.0]
record, _ = arena.put(torch.empty(0, 3), 0, keep_strides=True)
answer["empty"] = list(reader.copy_out(record, "cpu").shape) == [0, 3]
record, _ = arena.put(torch.tensor(2.5), 0, keep_strides=True)
answer["scalar"] = reader.copy_out(record, "cpu").item() == 2.5
"""
    )
    assert [name for name, passed in answer.items() if not passed] == []


def test_lack_of_room_says_how_much_is_needed_and_growth_is_seen(interpreter):
    answer = interpreter(
        ARENA
        + """
x = torch.zeros(1 << 15)
try:
    arena.put(x, 0, keep_strides=True)
except ArenaFull as full:
    answer["needed"] = full.needed_bytes
os.ftruncate(number, 1 << 18)
record, end = arena.put(x + 1, 0, keep_strides=True)
answer["sum"], answer["end"] = reader.copy_out(record, "cpu").sum().item(), end
"""
    )
    assert answer == {"needed": 1 << 17, "sum": float(1 << 15), "end": 1 << 17}
