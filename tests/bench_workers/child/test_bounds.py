"""Accesses outside a tensor are found, placed and kept from memory."""

RUN = """
from bounds import WATCH
WATCH.drain()
model = file({name!r}).Model()
x, y = torch.randn(2, 300).unbind()
x, y = x.clone(), y.clone()
out = model(x, y)
answer["faults"] = WATCH.drain()
answer["nans"] = int(out.isnan().sum())
"""


def test_a_read_past_the_end_names_kernel_line_argument_and_offset(interpreter):
    answer = interpreter(RUN.format(name="out_of_bounds"))
    assert answer["faults"] == [
        {
            "access": "read",
            "kernel": "add_kernel",
            "line": 10,
            "argument": "x_ptr",
            "program": [1, 0, 0],
            "offset_bytes": 1200,
        }
    ]
    assert answer["nans"] == 4, "faulty lanes read poison"


def test_a_write_past_the_end_is_dropped(interpreter):
    (fault,) = interpreter(RUN.format(name="out_of_bounds_write"))["faults"]
    assert (fault["access"], fault["argument"], fault["line"]) == ("write", "out_ptr", 12)


def test_landing_in_another_tensor_is_a_fault_too(interpreter):
    answer = interpreter(
        """
from bounds import WATCH
module = file("vector_add")
x, y, out = torch.zeros(3, 64).unbind()
x, out = x.clone(), out.clone()
distance = (y.clone().data_ptr() - x.data_ptr()) // 4
kept = torch.full((1 << 20,), 7.0)
near = kept[1000:1064].clone()
WATCH.drain()
module.add_kernel[(1,)](x, near, out, 300, BLOCK=256)
answer["arguments"] = sorted({each["argument"] for each in WATCH.drain()})
"""
    )
    assert answer["arguments"] == ["out_ptr", "x_ptr", "y_ptr"]


def test_right_kernels_have_no_faults(interpreter):
    answer = interpreter(RUN.format(name="vector_add"))
    assert answer == {"faults": [], "nans": 0}


def test_a_view_may_be_left_but_not_its_storage(interpreter):
    answer = interpreter(
        """
from bounds import WATCH
module = file("vector_add")
whole = torch.arange(300.0)
out = torch.empty(100)
WATCH.drain()
module.add_kernel[(1,)](whole[100:200], whole[:100], out, 100, BLOCK=128)
answer["faults"] = WATCH.drain()
answer["sum"] = float(out.sum())
"""
    )
    assert answer == {"faults": [], "sum": float(sum(2 * i + 100 for i in range(100)))}


def test_addresses_from_memory_cannot_be_checked(interpreter):
    answer = interpreter(
        """
module = file("pointer_table")
x = torch.ones(16)
table, out = torch.tensor([x.data_ptr()]), torch.empty(16)
try:
    module.gather_kernel[(1,)](table, out, BLOCK=16)
except Exception as error:
    answer["cause"] = type(error.__cause__).__name__
"""
    )
    assert answer["cause"] == "Uncheckable"
