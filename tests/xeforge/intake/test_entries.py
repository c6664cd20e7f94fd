import pytest

FRAME = """
inputs:
  X: {shape: [M, N], dtype: float16}
  Y: {shape: [N], dtype: float16}
bench-gpu:
  - params: [X, Y]
    dims: {M: 4, N: 8}
    %s
"""


@pytest.mark.parametrize(
    ("line", "message", "field"),
    [
        ('flop: "2*M*Q"', "unknown dimension 'Q'", "bench-gpu[0].flop"),
        ('flop: "M -"', "no formula", "bench-gpu[0].flop"),
        ("flop: -3", "negative", "bench-gpu[0].flop"),
        ("flop: [1]", "a number or a formula", "bench-gpu[0].flop"),
        ("flop: true", "truth value", "bench-gpu[0].flop"),
        ('mem_bytes: "M/0"', "divides by zero", "bench-gpu[0].mem_bytes"),
        ('bytes: "M-N"', "negative", "bench-gpu[0].bytes"),
        ("rtol: loose", "'loose' is no rtol", "bench-gpu[0].rtol"),
        ("atol: -1e-3", "is no atol", "bench-gpu[0].atol"),
        ("rtol: .nan", "is no rtol", "bench-gpu[0].rtol"),
        ("weight: 0", "is no weight", "bench-gpu[0].weight"),
        ("weight: true", "is no weight", "bench-gpu[0].weight"),
        ("dtype: flot16", "did you mean 'float16'", "bench-gpu[0].dtype"),
        ("dtype: complex64", "unknown dtype 'complex64'", "bench-gpu[0].dtype"),
        (
            "memory_format: chanels_last",
            "did you mean 'channels_last'",
            "bench-gpu[0].memory_format",
        ),
        ("flops: 3", "unknown key 'flops'; did you mean 'flop'", "bench-gpu[0].flops"),
        ("dtype: 16", "valid string", "bench-gpu[0].dtype"),
    ],
)
def test_bad_fields_point_at_their_line(refusal, line, message, field):
    error = refusal(FRAME % line)
    assert error.code == "bad_spec"
    assert message in error.message
    assert error.field == field
    assert error.line == 7


@pytest.mark.parametrize(
    ("entry", "message", "field"),
    [
        ("{dims: {M: 4, N: 8}}", "lists no params", "bench-gpu[0]"),
        ("{params: [], dims: {M: 4, N: 8}}", "lists no params", "bench-gpu[0]"),
        ("{params: [X, Z], dims: {M: 4, N: 8}}", "'Z' is not declared", "bench-gpu[0].params[1]"),
        ("{params: [X, X], dims: {M: 4, N: 8}}", "listed twice", "bench-gpu[0].params[1]"),
        ("{params: X, dims: {M: 4, N: 8}}", "valid list", "bench-gpu[0].params"),
        ("{params: [X], dims: {M: 4}}", "'N' of inputs.X.shape[1]", "bench-gpu[0].dims"),
        ("{params: [X]}", "'M' of inputs.X.shape[0] is not declared", "bench-gpu[0].dims"),
        ("{params: [X], dims: {M: 0, N: 8}}", "0 is not positive", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: -4, N: 8}}", "-4 is not positive", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: 4.5, N: 8}}", "no integer", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: four, N: 8}}", "no integer", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: true, N: 8}}", "no integer", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: [4], N: 8}}", "no integer", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: null, N: 8}}", "is expected", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: {M: {a: 1}, N: 8}}", "is expected", "bench-gpu[0].dims.M"),
        ("{params: [X], dims: 4}", "dims is a mapping", "bench-gpu[0].dims"),
        ("{params: [X], dims: []}", "empty list", "bench-gpu[0]"),
        ("{params: [X], dims: [{M: 4, N: 8}, {M: 4}]}", "'N'", "bench-gpu[0].dims[1]"),
        ("{params: [X], dims: {M: 4, N: 8}, mem_bytes: 1, bytes: 2}", "same", "bench-gpu[0].bytes"),
        ("[X]", "a mapping is expected", "bench-gpu[0]"),
    ],
)
def test_bad_entries(refusal, entry, message, field):
    text = f"inputs:\n  X: {{shape: [M, N]}}\nbench-gpu:\n  - {entry}\n"
    error = refusal(text)
    assert message in error.message
    assert (error.field, error.line) == (field, 4)


def test_params_without_declared_inputs(refusal):
    error = refusal("ci: [{params: [X], dims: {N: 1}}]\n")
    assert "declares no inputs" in error.message
    assert error.field == "ci[0].params"


def test_zero_flops_are_legal(spec_of):
    assert spec_of(FRAME % "flop: 0").workloads[0].flops == 0.0


def test_plain_memory_formats_are_no_format(spec_of):
    assert spec_of(FRAME % "memory_format: contiguous_format").workloads[0].memory_format is None
