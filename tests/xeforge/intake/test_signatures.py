import pytest

from xeforge.intake.signatures import mismatch
from xeforge.source.contents import read_contents


def parameters(signature):
    source = f"def f({signature}): pass\n"
    return read_contents(source, "f.py", require_kernel=False).functions[0].parameters


@pytest.mark.parametrize(
    ("signature", "given", "expected"),
    [
        ("a, b", 2, None),
        ("a, b", 1, "needs 2"),
        ("a, b", 3, "takes 2"),
        ("a, b=1", 1, None),
        ("a, b=1", 0, "needs at least 1"),
        ("a, b=1", 3, "takes at most 2"),
        ("a, *rest", 5, None),
        ("a, *, flag", 1, None),
        ("a, /, **options", 1, None),
        ("", 0, None),
        ("", 1, "takes 0"),
    ],
)
def test_positional_arguments_against_a_signature(signature, given, expected):
    assert mismatch(given, parameters(signature)) == expected
