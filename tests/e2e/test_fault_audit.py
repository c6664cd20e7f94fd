"""The product's own audit says of each kernel what the list says, in real children."""

import pytest

from bench_workers.host.evaluator import BenchEvaluator
from bench_workers.host.sessions import Deadlines
from knowledge.load import find_device
from tests.faults.expected import BAD_REFERENCES
from tests.faults.expected import FAULTS
from tests.faults.expected import FOLDER
from tests.faults.expected import HONEST
from tests.faults.expected import REFUSED
from xeforge.app.request import to_problem
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.issue import Severity
from xeforge.errors import UserError
from xeforge.errors import XeForgeError
from xeforge.intake.issues import find_issues
from xeforge.verify import audit
from xeforge.verify.inputs import plan_cases

SHOWN = {name: each for name, each in FAULTS.items() if not each.only_on_device}


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory):
    found = BenchEvaluator(
        find_device("nvidia-h200"),
        "cpu",
        work_dir=tmp_path_factory.mktemp("children"),
        deadlines=Deadlines(load=12.0, case=15.0, oracle=60.0),
    )
    yield found
    found.close()


def audited(evaluator, path, expected):
    """Describe and audit a kernel as the product does, without compiling it for the target."""
    problem = to_problem(
        path,
        spec=expected.spec_path,
        reference=expected.reference_path,
        variants=None,
        device="cpu",
        target="nvidia-h200",
    )
    evaluator.describe(problem)
    cases = plan_cases(problem, purpose="audit", interpreted=True, seed=0)
    evidence = evaluator.examine(problem, problem.kernel.text, cases)
    static = find_issues(problem.kernel, problem.reference)
    return audit.findings(problem, cases, evidence, BuildEvidence(()), static)


@pytest.mark.parametrize("name", SHOWN)
def test_the_fault_is_found_with_its_place(evaluator, name):
    expected = SHOWN[name]
    report = audited(evaluator, FOLDER / name, expected)
    found = [each for each in report.issues if each.type in expected.issues]
    assert found, report.issues
    has_error = any(each.severity is Severity.ERROR for each in report.issues)
    if expected.exit_codes == (4,):
        assert has_error, report.issues
    if expected.exit_codes == (0,):
        assert not has_error, report.issues
    if expected.severity:
        assert expected.severity in {each.severity for each in found}
    if expected.line:
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        (number,) = [index for index, text in enumerate(lines, 1) if expected.line in text]
        assert number in {each.line for each in found}, found
    said = " ".join(each.message for each in found).lower()
    assert all(word.lower() in said for word in expected.words), said


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_look_alike_is_neither_wrong_nor_suspicious(evaluator, name):
    report = audited(evaluator, FOLDER / name, HONEST[name])
    assert [each for each in report.issues if each.severity is not Severity.SPEED] == []
    assert report.trusted_cases


@pytest.mark.parametrize("name", [*REFUSED])
def test_a_file_that_cannot_be_used_is_refused_or_found_wrong(evaluator, name):
    expected = REFUSED[name]
    if 4 in expected.exit_codes:
        report = audited(evaluator, FOLDER / name, expected)
        assert any(each.severity is Severity.ERROR for each in report.issues), report.issues
        return
    with pytest.raises(UserError) as caught:
        audited(evaluator, FOLDER / name, expected)
    assert all(word in str(caught.value) for word in expected.words), caught.value
    assert caught.value.remedy


@pytest.mark.parametrize("name", BAD_REFERENCES)
def test_a_reference_that_cannot_be_used_is_named(evaluator, name):
    expected = BAD_REFERENCES[name]
    with pytest.raises(XeForgeError) as caught:
        audited(evaluator, FOLDER / "honest_words.py", expected)
    assert all(word in str(caught.value) for word in expected.words), caught.value
