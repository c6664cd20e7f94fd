"""Where the oracle keeps what it knows about a case."""

SETTLED = """
import oracle
def case(count):
    turned = torch.arange(float(count)).reshape(2, -1).T
    state = {{"weight": torch.ones(3)}}
    whole = torch.tensor([1, 2])
    return oracle.Answered(None, [turned, [whole, 5]], state, own=[turned], wide=[turned.double()])
{lines}
"""


def settled(interpreter, lines):
    return interpreter(SETTLED.format(lines=lines))


def test_a_small_case_is_kept_by_the_host_as_it_lies(interpreter):
    answer = settled(
        interpreter,
        """
before = case(12)
after = oracle._settled(before)
oracle._HOST = "meta"  # where nothing lies before
elsewhere = oracle._settled(before)
moved = [elsewhere.inputs[0], elsewhere.inputs[1][0], elsewhere.state["weight"]]
moved += [*elsewhere.own, *elsewhere.wide]
answer["moved"] = sorted({str(each.device) for each in moved})
tensors = [after.inputs[0], after.inputs[1][0], after.state["weight"], *after.own, *after.wide]
answer["devices"] = sorted({str(each.device) for each in tensors})
answer["strides"] = list(after.inputs[0].stride()), list(after.own[0].stride())
answer["values"] = torch.equal(after.own[0], before.own[0]), torch.equal(
    after.wide[0], before.wide[0])
answer["plain"] = after.inputs[1][1]
answer["is_own"] = after.own[0].data_ptr() != before.own[0].data_ptr()
""",
    )
    assert answer["devices"] == ["cpu"]
    assert answer["moved"] == ["meta"]
    assert answer["strides"] == [[1, 6], [1, 6]]
    assert answer["values"] == [True, True]
    assert answer["plain"] == 5
    assert answer["is_own"]


def test_a_large_case_stays_on_the_device(interpreter):
    answer = settled(
        interpreter,
        """
before = case(200_000)
answer["size"] = before.size_bytes()
answer["same"] = oracle._settled(before) is before
""",
    )
    assert answer["size"] > 1 << 20
    assert answer["same"]
