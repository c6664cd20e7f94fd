"""Folds with a kernel's own function give what folding element by element gives."""


def test_maxima_keep_nan_and_moments_merge(interpreter):
    answer = interpreter(
        """
torch.manual_seed(7)
x = torch.randn(4, 2048)
most, mean, square, everything = file("own_folds").folded(x)
wide = x.double()
answer["most"] = torch.equal(most, x.amax(1))
answer["everything"] = torch.equal(everything, x.max())
answer["mean"] = float((mean.double() - wide.mean(1)).abs().max())
answer["square"] = float((square.double() / (wide.var(1) * 2047) - 1).abs().max())
x[2, 5] = float("nan")
most, _, _, everything = file("own_folds").folded(x)
answer["nan"] = most.isnan().tolist()
answer["all_nan"] = bool(everything.isnan())
"""
    )
    assert answer["most"]
    assert answer["everything"]
    assert answer["mean"] < 1e-6
    assert answer["square"] < 1e-6
    assert answer["nan"] == [False, False, True, False]
    assert answer["all_nan"]
