"""Operators are told apart: computing, copying, and what costs nothing."""


def test_operators_are_sorted_by_what_they_do(interpreter):
    answer = interpreter(
        """
from accounting import Accounting
account = Accounting()
x = torch.randn(4, 4)
with account:
    y = torch.empty_like(x).zero_()
    p = torch.empty_permuted((2, 3), (1, 0))
    z = x.t().reshape(-1)[2:].view(-1, 2).unsqueeze(0)
    w = (x @ x).half().contiguous()
    n = x.sum().item()
    y.copy_(x)
answer["computed"], answer["copied"] = sorted(account.computed), sorted(account.copied)
"""
    )
    assert answer["computed"] == ["aten.mm", "aten.sum"]
    assert answer["copied"] == [
        "aten._local_scalar_dense",
        "aten._to_copy",
        "aten.clone",
        "aten.copy_",
    ]


def test_kernels_launched_meanwhile_do_not_count(interpreter):
    answer = interpreter(
        """
from accounting import Accounting
account, model = Accounting(), file("vector_add").Model()
x, y = torch.randn(300), torch.randn(300)
recorder.RECORDER.drain()  # the child is shared with other tests
with account:
    model(x, y)
answer["computed"], answer["copied"] = sorted(account.computed), sorted(account.copied)
answer["launches"] = recorder.RECORDER.drain()
"""
    )
    assert answer == {
        "computed": [],
        "copied": [],
        "launches": [{"kernel": "add_kernel", "grid": [2]}],
    }
