"""Recipes of inputs: repeatable, distinct, within their ranges."""

import pytest

DRAW = """
from draw import draw, draw_into
def one(seed=1, fill="random", **spec):
    spec = {{"name": "x", "shape": [64, 64], "dtype": "float32", **spec}}
    return draw([spec], fill, seed, None, "cpu")[0]
{lines}
"""


def drawn(interpreter, lines):
    return interpreter(DRAW.format(lines=lines))


def test_same_seed_same_values_other_seed_others(interpreter):
    answer = drawn(
        interpreter,
        """
answer["same"] = torch.equal(one(), one())
answer["other"] = torch.equal(one(), one(seed=2))
spec = {"name": "x", "shape": [8], "dtype": "float32"}
x, y = draw([spec, spec], "random", 1, None, "cpu")
answer["alike"] = torch.equal(x, y)
z = torch.zeros(8)
draw_into([z], [spec], "random", 1)
answer["into"] = torch.equal(x, z)
""",
    )
    assert answer == {"same": True, "other": False, "alike": False, "into": True}


def test_ranges_are_kept(interpreter):
    answer = drawn(
        interpreter,
        """
x = one(dtype="int64", range=[3, 7])
answer["integers"] = sorted(set(x.flatten().tolist()))
x = one(range=[-0.5, 0.5])
answer["floats"] = [bool(x.min() >= -0.5), bool(x.max() <= 0.5), bool(x.std() > 0.2)]
answer["large"] = float(one(fill="large", range=[0, 2]).max())
answer["bool"] = str(one(dtype="bool").dtype)
""",
    )
    assert answer["integers"] == [3, 4, 5, 6]
    assert answer["floats"] == [True, True, True]
    assert answer["large"] <= 2.0
    assert answer["bool"] == "torch.bool"


def test_fills_have_the_values_they_are_named_for(interpreter):
    answer = drawn(
        interpreter,
        """
answer["zeros"] = float(one(fill="zeros").abs().max())
answer["constant"] = len(one(fill="constant").unique())
answer["offset"] = float(one(fill="offset").mean())
answer["large"] = float(one(fill="large", dtype="float16").float().abs().median())
answer["wide"] = float(one(fill="large").abs().median())
""",
    )
    assert answer["zeros"] == 0.0
    assert answer["constant"] == 1
    assert answer["offset"] == pytest.approx(100.0, abs=0.2)
    assert answer["large"] == pytest.approx(6700, rel=0.2)
    assert answer["wide"] == pytest.approx(6.7e17, rel=0.2)


def test_transforms_apply(interpreter):
    answer = drawn(
        interpreter,
        """
def is_close(a, b): return bool(torch.allclose(a, b, atol=1e-5))
x = one(transforms=["softmax"])
answer["softmax"] = is_close(x.sum(-1), torch.ones(64))
answer["abs"] = bool((one(transforms=["abs"]) >= 0).all())
x = one(transforms=["normalize"])
answer["normalize"] = is_close(x.norm(dim=-1), torch.ones(64))
x = one(transforms=["symmetric"])
answer["symmetric"] = is_close(x, x.T)
answer["triu"] = float(one(transforms=["triu"]).tril(-1).abs().max())
answer["tril"] = float(one(transforms=["tril"]).triu(1).abs().max())
x = one(transforms=["transpose"], shape=[2, 4, 6])
answer["transpose"] = [list(x.shape), list(x.stride())]
x = one(transforms=["transpose"], shape=[4, 6], dtype="bfloat16")
answer["cast"] = [list(x.shape), list(x.stride()), str(x.dtype)]
answer["rademacher"] = one(transforms=["rademacher"]).unique().tolist()
answer["uniform"] = [float(one(transforms=["uniform"]).min()) >= 0]
answer["scale"] = float(one(transforms=["scale"]).std())
""",
    )
    true = ("softmax", "abs", "normalize", "symmetric")
    assert all(answer[name] for name in true)
    assert answer["triu"] == answer["tril"] == 0.0
    assert answer["transpose"] == [[2, 4, 6], [24, 1, 4]]
    assert answer["cast"] == [[4, 6], [1, 4], "torch.bfloat16"]
    assert answer["rademacher"] == [-1.0, 1.0]
    assert answer["uniform"] == [True]
    assert answer["scale"] == pytest.approx(1 / 8, rel=0.1)


def test_memory_format_is_kept(interpreter):
    answer = drawn(
        interpreter,
        """
spec = {"name": "x", "shape": [2, 3, 4, 5], "dtype": "float16"}
x = draw([spec], "random", 1, "channels_last", "cpu")[0]
answer["is_last"] = x.is_contiguous(memory_format=torch.channels_last)
before = x.data_ptr()
draw_into([x], [spec], "random", 2)
answer["still"] = x.is_contiguous(memory_format=torch.channels_last) and x.data_ptr() == before
""",
    )
    assert answer == {"is_last": True, "still": True}
