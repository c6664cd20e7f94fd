"""The gate reads everything and runs nothing."""

import pytest

from xeforge.verify.gate import gate
from xeforge.verify.gates import GATES


def test_submitted_kernel_passes_its_own_gate(make):
    found = gate(make.problem(), make.source, make.device)
    assert [each.check for each in found] == [name for name, _ in GATES]
    assert all(each.passed for each in found)


@pytest.mark.parametrize("source", ["def f(:\n", "", "x = 1\0"])
def test_text_that_is_no_python_is_one_finding(make, source):
    (found,) = gate(make.problem(), source, make.device)
    assert (found.check, found.reason) == ("syntax", "RUNTIME_ERROR")


def test_every_gate_speaks_even_when_the_first_complains(make):
    source = make.source.replace("forward(self, x)", "forward(self, z)").replace(
        "num_warps=4", "num_warps=3"
    )
    reasons = [each.reason for each in gate(make.problem(), source, make.device) if not each.passed]
    assert reasons == ["OUTPUT_CONTRACT", "RESOURCE_LIMIT"]
