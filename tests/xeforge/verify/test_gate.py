"""The gate reads everything and runs nothing."""

from pathlib import Path

import pytest

from xeforge.verify import checks
from xeforge.verify import gates
from xeforge.verify.gate import gate


def test_submitted_kernel_passes_its_own_gate(make):
    found = gate(make.problem(), make.source, make.device)
    assert [each.check for each in found] == [name for name, _ in gates.GATES]
    assert all(each.passed for each in found)


def test_registry_is_the_folder():
    files = {path.stem for path in Path(gates.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {name for name, _ in gates.GATES}


def test_registry_of_checks_is_the_folder():
    files = {path.stem for path in Path(checks.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {name for name, _ in checks.CHECKS}


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
