from tests.xeforge.propose.conftest import make_workload
from tests.xeforge.propose.samples import replaced
from tests.xeforge.propose.samples_all import SUMMED
from tests.xeforge.propose.samples_all import WIDE
from xeforge.propose.recipes import drop_float64

SAMPLE = WIDE["accumulator"]


def test_kernel_and_host_use_float32(rewrites):
    (found,) = rewrites(drop_float64, SAMPLE)
    assert "float64" not in found.source
    assert "tl.zeros((BC,), dtype=tl.float32)" in found.source
    assert "return y.float().to(x.dtype)" in found.source
    assert found.because == (
        "float32 instead of float64 (3 uses): no input, weight or result has it"
    )
    assert found.recipes == ("precision.no_float64",)


def test_what_only_the_host_computes_follows_no_advice(rewrites):
    source = SAMPLE.source.replace("tl.float64", "tl.float32")
    (found,) = rewrites(drop_float64, source, shapes=SAMPLE.timed)
    assert "double" not in found.source
    assert found.recipes == ()


def test_a_result_in_float64_keeps_its_format(rewrites):
    source = replaced(SAMPLE.source, ("y.double().to(x.dtype)", "y.double()"))
    assert rewrites(drop_float64, source, shapes=SAMPLE.timed) == ()
    cleared = replaced(
        SAMPLE.source,
        ("dtype=x.dtype)", "dtype=torch.float64)"),
        ("return y.double().to(x.dtype)", "return y"),
    )
    assert rewrites(drop_float64, cleared, shapes=SAMPLE.timed) == ()


def test_host_stays_when_the_result_would_change_format(rewrites):
    mixed = replaced(
        SAMPLE.source,
        ("return y.double().to(x.dtype)", "z = unknown(y.double())\n        return z"),
    )
    (found,) = rewrites(drop_float64, mixed, shapes=SAMPLE.timed)
    assert "tl.float64" not in found.source
    assert SUMMED.strip().splitlines()[0] in found.source


def test_float64_anywhere_in_the_problem_forbids_it(rewrites):
    assert rewrites(drop_float64, SAMPLE, dtype="float64") == ()
    checked = make_workload(*SAMPLE.timed, dtype="float64", name="ci[0]", is_timed=False)
    assert rewrites(drop_float64, SAMPLE, more=[checked]) == ()


def test_nothing_to_do_without_float64(rewrites):
    plain = SAMPLE.source.replace("float64", "float32").replace("y.double().to(x.dtype)", "y")
    assert rewrites(drop_float64, plain, shapes=SAMPLE.timed) == ()
