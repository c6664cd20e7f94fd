import pytest

from xeforge.intake.arguments import coerced


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1e-5", 1e-5),
        ("1E3", 1000.0),
        ("-7", -7),
        ("1_000", 1000),
        (".5", 0.5),
        ("2.", 2.0),
        ("nan", "nan"),
        ("relu", "relu"),
        ("1e", "1e"),
        ("", ""),
        (3, 3),
        (True, True),
        ("0x10", "0x10"),
    ],
)
def test_numeric_strings_become_numbers(given, expected):
    result = coerced(given)
    assert result == expected
    assert type(result) is type(expected)


FRAME = """
inputs: {X: {shape: [N]}}
inits:
  - first: 3
  - %s
ci:
  - {params: [X], dims: {N: 2, FOUT: 5, NO: 7}}
"""


@pytest.mark.parametrize(
    ("entry", "value", "dim"),
    [
        ("dim: FOUT", 5, "FOUT"),
        ("any: FOUT", 5, "FOUT"),
        ("dim: NO", 7, "NO"),
        ("dim: 4", 4, ""),
        ("stride: [N, 1]", (2, 1), ""),
        ("mode: same", "same", ""),
        ("layout: NHWC", "NHWC", ""),
        ("eps: 1e-6", 1e-6, ""),
        ("bias: false", False, ""),
    ],
)
def test_constructor_arguments(spec_of, entry, value, dim):
    (workload,) = spec_of(FRAME % entry).workloads
    assert workload.init_args == (3, value)
    assert workload.init_dims == ("", dim)
    assert type(workload.init_args[1]) is type(value)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("dim: FIN", "'FIN' is not declared in ci[0].dims"),
        ("out: FOOT", "did you mean 'FOUT'"),
        ("stride: null", "is expected"),
        ("stride: {a: 1}", "is expected"),
    ],
)
def test_bad_constructor_arguments(refusal, entry, message):
    error = refusal(FRAME % entry)
    assert message in error.message
    assert error.line == 4
    assert error.field.startswith("inits[1].")
