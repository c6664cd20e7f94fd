import pytest

FRAME = """
inputs:
  X: {shape: [M, N], %s}
bench-gpu:
  - {params: [X], dims: {M: 4, N: 8, F: 0.5}}
"""


@pytest.mark.parametrize(
    ("text", "message", "field"),
    [
        ("dtype: float17", "unknown dtype 'float17'", "inputs.X.dtype"),
        ("dtype: [float16]", "valid string", "inputs.X.dtype"),
        ("dtype: inherit", "inherits its dtype", "bench-gpu[0]"),
        ("range: [0]", "two bounds", "inputs.X.range"),
        ("range: 3", "valid list", "inputs.X.range"),
        ("range: [1.0, 0.0]", "is empty", "inputs.X.range"),
        ("range: [0, .inf]", "no bound", "inputs.X.range[1]"),
        ("range: [0, Q]", "'Q' of inputs.X.range[1] is not declared", "bench-gpu[0].dims"),
        ("range: [true, 2]", "no bound", "inputs.X.range[0]"),
        ("dtype: int32, range: [3, 3]", "holds no integer", "inputs.X.range"),
        ("dtype: int32, range: [0, F]", "fractional", "inputs.X.range"),
        ("dtype: int8, range: [0, 200]", "does not fit int8", "inputs.X.range"),
        ("dtype: uint8, range: [-1, 4]", "does not fit uint8", "inputs.X.range"),
        ("dtype: bool, range: [0, 3]", "does not fit bool", "inputs.X.range"),
        ("inits: [softmx]", "did you mean 'softmax'", "inputs.X.inits[0]"),
        ("inits: [abs, symmetric]", "square", "inputs.X.inits[1]"),
        ("inits: abs", "valid list", "inputs.X.inits"),
        ("init: [abs]", "did you mean 'inits'", "inputs.X.init"),
    ],
)
def test_bad_inputs(refusal, text, message, field):
    error = refusal(FRAME % text)
    assert message in error.message
    assert error.field == field
    assert error.line == (2 if field.startswith("inputs") else 4)


@pytest.mark.parametrize(
    ("shape", "inits", "message"),
    [
        ("[N]", "[triu]", "needs a matrix"),
        ("[N, N, N]", "[transpose]", "needs a matrix"),
        ("[]", "[softmax]", "at least one dimension"),
        ("[[N]]", "[]", "lists dimensions"),
        ("[0]", "[]", "not positive"),
    ],
)
def test_shapes_and_transforms(refusal, shape, inits, message):
    declared = f"inputs: {{X: {{shape: {shape}, inits: {inits}}}}}\n"
    text = declared + "ci: [{params: [X], dims: {N: 2}}]\n"
    assert message in refusal(text).message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dtype: int64, range: [0, N]", (0.0, 8.0)),
        ("dtype: bool, range: [0, 2]", (0.0, 2.0)),
        ("dtype: uint8, range: [0, 256]", (0.0, 256.0)),
        ("range: [-1, F]", (-1.0, 0.5)),
        ("range: [2, 2]", (2.0, 2.0)),
    ],
)
def test_ranges(spec_of, text, expected):
    assert spec_of(FRAME % text).workloads[0].inputs[0].range == expected
