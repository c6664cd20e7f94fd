import pytest
from hypothesis import given
from hypothesis import strategies as st

from xeforge.domain.problem import TensorSpec
from xeforge.domain.submission import SourceFile
from xeforge.errors import UserError
from xeforge.intake.spec import read_spec

GATE = """
inputs:
  X: {shape: [ROWS, COLS], dtype: bfloat16}
  G: {shape: [COLS], dtype: bfloat16}
default_variant: bench-gpu-tall
ci:
  - {params: [X, G], dims: {ROWS: 3, COLS: 200}}
bench-gpu-tall:
  - {params: [X, G], dtype: bfloat16, dims: {ROWS: 50000, COLS: 768},
     flop: "5*ROWS*COLS", mem_bytes: "2*(2*ROWS*COLS + COLS)", rtol: 0.02, atol: 0.002}
"""
LINEAR = """
inputs:
  X: {shape: [TOK, FIN], dtype: float16}
inits:
  - dim: FIN
  - out_features: FOUT
  - dim: LEAK
  - dim: GAIN_SHAPE
  - eps: "1e-6"
  - mode: relu
  - bias: true
bench-gpu:
  - params: [X]
    dtype: float16
    dims: {TOK: 640, FIN: 3072, FOUT: 1536, LEAK: 1e-5, GAIN_SHAPE: [1536, 1]}
    flop: "2*TOK*FIN*FOUT + 3*TOK*FOUT"
    rtol: 1e-2
    atol: "1e-3"
    weight: 2
  - {params: [X], dims: {TOK: 24, FIN: 3072, FOUT: 1536, LEAK: 0.03, GAIN_SHAPE: [1]}}
bench-gpu-small:
  - {params: [X], dtype: float16, dims: {TOK: 24, FIN: 3072, FOUT: 9, LEAK: 0.03, GAIN_SHAPE: [9]}}
"""
GATHER = """
name: gather
description: rows of a table
inputs:
  TABLE: {shape: [VOCAB, DIM], dtype: inherit, inits: [softmax, scale]}
  IDX: {shape: [BATCH], dtype: int64, range: [0, VOCAB]}
ci:
  - {params: [TABLE, IDX], dtype: float32, dims: {VOCAB: 37, DIM: 24, BATCH: 5}}
bench-xpu:
  - params: [TABLE, IDX]
    dtype: float16
    memory_format: channels_last
    dims:
      - {VOCAB: 60000, DIM: 512, BATCH: 4096}
      - {VOCAB: 100, DIM: 64, BATCH: 7}
    bytes: "2*2*BATCH*DIM + 8*BATCH"
"""


def test_default_variant_and_the_others_verified_only(spec_of):
    spec = spec_of(GATE)
    tall, ci = spec.workloads
    assert (tall.name, tall.is_timed, ci.name, ci.is_timed) == (
        "bench-gpu-tall[0]",
        True,
        "ci[0]",
        False,
    )
    assert tall.inputs == (
        TensorSpec("X", (50000, 768), "bfloat16", dims=("ROWS", "COLS")),
        TensorSpec("G", (768,), "bfloat16", dims=("COLS",)),
    )
    assert (tall.flops, tall.moved_bytes) == (5 * 50000 * 768, 2 * (2 * 50000 * 768 + 768))
    assert (tall.rtol, tall.atol, ci.rtol, ci.atol) == (0.02, 0.002, 1e-2, 1e-5)
    assert (ci.dtype, ci.flops, ci.init_args) == ("bfloat16", None, None)
    assert spec.notes == ("shapes of bench-gpu-tall, the spec's default_variant",)
    assert spec.document.line(spec.paths["bench-gpu-tall[0]"]) == 8


def test_constructor_arguments_of_every_kind(spec_of):
    first, second, small = spec_of(LINEAR).workloads
    assert first.init_args == (3072, 1536, 1e-5, (1536, 1), 1e-6, "relu", True)
    assert first.init_dims == ("FIN", "FOUT", "LEAK", "GAIN_SHAPE", "", "", "")
    assert second.init_args[3] == (1,)
    assert (first.rtol, first.atol) == (0.01, 0.001)
    assert (first.weight, second.weight) == (2.0, 1.0)
    assert (first.is_timed, second.is_timed, small.is_timed) == (True, True, False)
    assert first.flops == 2 * 640 * 3072 * 1536 + 3 * 640 * 1536
    assert second.dtype == "float16"


def test_what_was_decided_is_told(spec_of):
    notes = spec_of(LINEAR).notes
    assert "shapes of bench-gpu, the default where nothing is asked for" in notes
    assert "all 2 entries of bench-gpu are used, not the first alone" in notes
    assert any("weights" in each for each in notes)


def test_integer_inputs_inherit_and_lists_of_dims(spec_of):
    spec = spec_of(GATHER, prefers_xpu=True)
    assert [each.name for each in spec.workloads] == ["bench-xpu[0]", "bench-xpu[1]", "ci[0]"]
    large, small, ci = spec.workloads
    assert large.inputs == (
        TensorSpec(
            "TABLE",
            (60000, 512),
            "float16",
            transforms=("softmax", "scale"),
            dims=("VOCAB", "DIM"),
        ),
        TensorSpec(
            "IDX",
            (4096,),
            "int64",
            range=(0.0, 60000.0),
            dims=("BATCH",),
            range_dims=("", "VOCAB"),
        ),
    )
    assert small.moved_bytes == 2 * 2 * 7 * 64 + 8 * 7
    assert large.memory_format == "channels_last"
    assert ci.inputs[0].dtype == "float32"
    assert "bench-xpu[0]: per-input dtypes are honoured: TABLE float16, IDX int64" in spec.notes
    assert "spec key 'name' is informational and changes nothing" in spec.notes
    assert spec.paths["bench-xpu[1]"] == ("bench-xpu", 0)


MIXED = """
inputs:
  X: {shape: [N], dtype: DTYPE_X}
  S: {shape: [N], dtype: DTYPE_S}
  I: {shape: [N], dtype: int32, range: [0, 4]}
bench-gpu:
  - {params: [X, S, I], dtype: float16, dims: {N: 8}}
"""


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (("float32", "float32"), ["float16", "float16", "int32"]),
        (("float16", "float32"), ["float16", "float32", "int32"]),
        (("inherit", "float32"), ["float16", "float32", "int32"]),
        (("half", "torch.float16"), ["float16", "float16", "int32"]),
        (("int8", "float32"), ["int8", "float16", "int32"]),
    ],
)
def test_dtype_of_the_entry_replaces_only_one_common_float_dtype(spec_of, declared, expected):
    text = MIXED.replace("DTYPE_X", declared[0]).replace("DTYPE_S", declared[1])
    (workload,) = spec_of(text).workloads
    assert [each.dtype for each in workload.inputs] == expected
    assert workload.dtype == "float16"


def test_replaced_dtypes_are_told(spec_of):
    notes = spec_of(MIXED.replace("DTYPE_X", "float32").replace("DTYPE_S", "float32")).notes
    assert "bench-gpu[0]: dtype float16 replaces float32 declared for X, S" in notes


def test_module_of_integer_inputs_is_not_cast(spec_of):
    text = "inputs: {I: {shape: [N], dtype: int32}}\nci:\n  - {params: [I], dims: {N: 3}}\n"
    assert spec_of(text).workloads[0].dtype is None


def test_unusual_but_legal_sizes(spec_of):
    text = """
    inputs: {X: {shape: [NO, 4, BIG], range: [-0.5, "1e-1"]}, S: {shape: []}}
    inits: []
    anything: [{params: [X, S], dims: {NO: 2, BIG: 1e3}}]
    """
    (workload,) = spec_of(text).workloads
    assert workload.inputs[0].shape == (2, 4, 1000)
    assert workload.inputs[0].dims == ("NO", "", "BIG")
    assert workload.inputs[0].range == (-0.5, 0.1)
    assert workload.inputs[1].shape == ()
    assert workload.init_args == ()
    assert workload.dtype == "float32"


def test_spec_without_inputs_leaves_them_to_the_file(spec_of):
    text = """
    ci: [{dims: {tokens: 3, hidden: 8}, dtype: bfloat16, bytes: "2*tokens*hidden"}]
    """
    (workload,) = spec_of(text).workloads
    assert workload.from_file
    assert workload.inputs == ()
    assert workload.dims == {"tokens": 3, "hidden": 8}
    assert (workload.init_args, workload.dtype, workload.moved_bytes) == (None, "bfloat16", 48.0)


ENTRY = "[{params: [X], dims: {N: 2}}]"
INPUTS = "inputs: {X: {shape: [N]}}\n"


@pytest.mark.parametrize(
    ("names", "prefers_xpu", "asked", "chosen"),
    [
        (("ci", "bench-gpu", "bench-xpu"), True, (), "bench-gpu"),
        (("ci", "bench-xpu", "other"), True, (), "bench-xpu"),
        (("ci",), False, (), "ci"),
        (("ci", "bench-gpu", "bench-gpu-7"), False, ("bench-gpu-7",), "bench-gpu-7"),
        (("ci", "bench-gpu"), False, ("ci",), "ci"),
    ],
)
def test_choice_of_the_variant(spec_of, names, prefers_xpu, asked, chosen):
    text = INPUTS + "".join(f"{name}: {ENTRY}\n" for name in names)
    workloads = spec_of(text, *asked, prefers_xpu=prefers_xpu).workloads
    assert [each.variant for each in workloads if each.is_timed] == [chosen]
    assert {each.variant for each in workloads} == set(names)


def test_several_variants_at_once(spec_of):
    text = INPUTS + f"a: {ENTRY}\nb: {ENTRY}\nc: {ENTRY}\n"
    workloads = spec_of(text, "c", "a", "c").workloads
    assert [(each.variant, each.is_timed) for each in workloads] == [
        ("c", True),
        ("a", True),
        ("b", False),
    ]


def test_unknown_variant_lists_the_known_ones(refusal):
    error = refusal(INPUTS + f"bench-gpu: {ENTRY}\nci: {ENTRY}\n", "bench-gpy")
    assert (error.code, error.field) == ("bad_request", "variant")
    assert "did you mean 'bench-gpu'" in error.message
    assert error.remedy == "one of bench-gpu, ci"


def test_unknown_default_variant(refusal):
    error = refusal(INPUTS + f"default_variant: benchgpu\nbench-gpu: {ENTRY}\n")
    assert (error.line, error.field) == (2, "default_variant")
    assert "did you mean 'bench-gpu'" in error.message


def test_several_variants_without_a_default_must_be_chosen(refusal):
    error = refusal(INPUTS + f"a: {ENTRY}\nbench-xpu: {ENTRY}\n")
    assert error.code == "bad_request"
    assert "--variant: a, bench-xpu" in error.remedy


HUGE = """
inputs:
  X: {shape: [ROWS, COLS], dtype: float32}
bench-gpu:
  - {params: [X], dims: {ROWS: 250000, COLS: 500000}}
ci:
  - {params: [X], dims: {ROWS: 2, COLS: 5}}
"""


def test_five_hundred_gigabytes_are_refused_with_the_size(refusal):
    error = refusal(HUGE)
    assert (error.code, error.line, error.field) == ("bad_spec", 4, "bench-gpu[0].dims")
    assert "take 500.0 GB, more than the 68.7 GB allowed" in error.message
    assert "X smaller" in error.remedy


def test_a_huge_entry_that_was_not_chosen_is_left_out_and_told(spec_of):
    spec = spec_of(HUGE, "ci")
    assert [each.name for each in spec.workloads] == ["ci[0]"]
    assert any("left out" in each and "500.0 GB" in each for each in spec.notes)


PIECES = (
    "[",
    "]",
    "{",
    "}",
    ":",
    "-",
    "0",
    "1e-5",
    "null",
    "true",
    "X",
    " ",
    "\n",
    "*a",
    "&a",
    "<<: ",
)


@given(
    st.sampled_from((GATE, LINEAR, GATHER, HUGE)),
    st.lists(
        st.tuples(st.integers(0, 900), st.integers(0, 6), st.sampled_from(PIECES)), max_size=4
    ),
)
def test_damaged_specs_are_read_or_refused_with_a_remedy(text, damages):
    for start, length, piece in damages:
        text = text[:start] + piece + text[start + length :]
    try:
        spec = read_spec(SourceFile("s.yaml", text), variants=(), prefers_xpu=False)
    except UserError as error:
        complaint = error
    else:
        assert any(each.is_timed for each in spec.workloads)
        return
    assert complaint.file == "s.yaml"
    assert complaint.remedy
