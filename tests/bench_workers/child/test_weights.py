"""Weights change from call to call, the same way wherever it is computed."""


def test_weights_follow_the_seed_exactly_and_buffers_stay(interpreter):
    answer = interpreter(
        """
from weights import base_of, refresh
def model():
    torch.manual_seed(1)
    made = torch.nn.BatchNorm1d(8).half()
    torch.nn.init.normal_(made.weight)
    return made
one, two = model(), model()
base, same = base_of(one), base_of(two)
refresh(one, base, 5)
refresh(two, same, 9)
answer["differs"] = not torch.equal(one.weight, two.weight)
refresh(two, same, 5)
answer["same"] = torch.equal(one.weight, two.weight)
answer["moved"] = not torch.equal(one.weight, base["weight"])
answer["buffers"] = one.running_var.tolist()
answer["plain"] = base_of(object())
refresh(object(), {}, 3)
"""
    )
    assert answer == {
        "differs": True,
        "same": True,
        "moved": True,
        "buffers": [1.0] * 8,
        "plain": {},
    }
