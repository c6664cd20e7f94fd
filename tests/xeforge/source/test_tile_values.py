import pytest

from xeforge.source.kernel_tree import parse_tree
from xeforge.source.syntax_tree import text
from xeforge.source.tile_types import Tile
from xeforge.source.tile_values import follow

KERNEL = """
@triton.jit
def square(v):
    return v * v

@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, n, scale, A: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    a_ptr += pid * n
    ra = pid * A + tl.arange(0, A)
    rb = tl.arange(0, B)
    a = tl.load(a_ptr + ra[:, None] * n + rb[None, :], mask=ra[:, None] < n)
    b = tl.load(b_ptr + rb[:, None] * n + ra[None, :])
    found = {}
    tl.store(c_ptr + ra, 0)
"""


def found(expression):
    tree = parse_tree(KERNEL.format(expression))
    facts = follow(tree, tree.jits["kernel"])
    return next(
        tile
        for node, tile in facts.values.items()
        if text(node) == "".join(expression.split()) and node in facts.values
    )


@pytest.mark.parametrize(
    ("expression", "shape", "dtype"),
    [
        ("ra", ("A",), "int64"),
        ("a", ("A", "B"), "*a_ptr"),
        ("a.to(tl.float32)", ("A", "B"), "float32"),
        ("tl.cast(a, tl.float16)", ("A", "B"), "float16"),
        ("a.to(b_ptr.dtype.element_ty)", ("A", "B"), "*b_ptr"),
        ("a.to(b.dtype)", ("A", "B"), "*b_ptr"),
        ("a * scale", ("A", "B"), None),
        ("a.to(tl.float32) * scale", ("A", "B"), "float32"),
        ("a * A", ("A", "B"), "*a_ptr"),
        ("rb + 1", ("B",), "int32"),
        ("a * 2.0", ("A", "B"), "*a_ptr"),
        ("a * a.to(tl.float32)", ("A", "B"), "float32"),
        ("a + tl.trans(b)", ("A", "B"), None),
        ("b.T", ("A", "B"), None),
        ("tl.dot(a, b)", ("A", "A"), "float32"),
        ("tl.dot(a, b, out_dtype=tl.float16)", ("A", "A"), "float16"),
        ("tl.sum(a, 0)", ("B",), "*a_ptr"),
        ("tl.max(a, axis=1)", ("A",), "*a_ptr"),
        ("tl.sum(a)", (), "*a_ptr"),
        ("tl.zeros((A, 16), dtype=tl.float32)", ("A", "16"), "float32"),
        ("tl.full([A], 0.0, tl.float64)", ("A",), "float64"),
        ("tl.where(a > 0, a, 0.0)", ("A", "B"), "*a_ptr"),
        ("a > 0", ("A", "B"), "bool"),
        ("tl.exp(a.to(tl.float32))", ("A", "B"), "float32"),
        ("square(a)", ("A", "B"), "*a_ptr"),
        ("tl.arange(0, A // 2)", ("?",), "int32"),
        ("a if n > 3 else a", ("A", "B"), "*a_ptr"),
        ("mystery(a)", ("A", "B"), None),
    ],
)
def test_shapes_and_formats_are_followed(expression, shape, dtype):
    if expression == "b.T":
        assert found(expression).shape == shape
        return
    tile = found(expression)
    assert (tile.shape, tile.dtype) == (shape, dtype)


def test_pointers_and_program_ids_are_followed():
    assert found("a_ptr + ra").pointer == "a_ptr"
    assert found("a * 2").pointer is None
    assert found("ra + 1").from_program_id
    assert not found("rb + 1").from_program_id


def test_sizes_of_a_product_are_named_by_their_parameters():
    tree = parse_tree(KERNEL.format("tl.dot(a, b)"))
    (dot,) = follow(tree, tree.jits["kernel"]).dots
    assert (dot.m, dot.n, dot.k) == ("A", "A", "B")


def test_what_is_not_understood_is_unknown():
    assert found("tl.inline_asm_elementwise(1, 2)") == Tile(shape=(), dtype="int32")
    assert found("unknown_name") == Tile()
