import pytest

CI = "ci: [{params: [X], dims: {N: 2}}]\n"
X = "inputs: {X: {shape: [N]}}\n"


@pytest.mark.parametrize(
    ("text", "message", "field", "line"),
    [
        ("just text\n", "a spec is a mapping", None, 1),
        ("- a\n- b\n", "a spec is a mapping", None, 1),
        (X, "no variant", None, 1),
        (X + "ci: []\n", "no entry", "ci", 2),
        (X + "ci: {params: [X]}\n", "unknown key 'ci'", "ci", 2),
        (X + CI + "inptus: {}\n", "did you mean 'inputs'", "inptus", 3),
        ("inputs: [X]\n" + CI, "inputs is a mapping", "inputs", 1),
        ("inputs: {}\n" + CI, "inputs is a mapping", "inputs", 1),
        ("inputs:\n  X: {dtype: half}\n" + CI, "'shape' is missing", "inputs.X", 2),
        ("inputs:\n  X: [N]\n" + CI, "a mapping is expected", "inputs.X", 2),
        (X + "inits: {dim: N}\n" + CI, "inits is a list", "inits", 2),
        (X + "inits: [N]\n" + CI, "one key", "inits[0]", 2),
        (X + "inits:\n  - {a: N, b: N}\n" + CI, "one key", "inits[0]", 3),
        (X + "default_variant: [ci]\n" + CI, "is a name", "default_variant", 2),
    ],
)
def test_wrong_layouts(refusal, text, message, field, line):
    error = refusal(text)
    assert error.code == "bad_spec"
    assert message in error.message
    assert (error.field, error.line) == (field, line)


def test_sections_that_other_tools_write_for_themselves(spec_of):
    spec = spec_of(X + CI + "name: n\nlowering:\n  family: axpy\n")
    assert len(spec.workloads) == 1
    assert len([each for each in spec.notes if "informational" in each]) == 2
