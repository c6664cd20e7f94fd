"""Refuse an answer of another number, shape, format, layout or device."""

from collections.abc import Iterator

from xeforge.domain.evidence import CaseEvidence
from xeforge.domain.evidence import Finding
from xeforge.domain.evidence import OutputEvidence
from xeforge.domain.verdict import Reason
from xeforge.verify.context import CheckContext
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.places import describe_case
from xeforge.verify.places import listed

NAME = "contract"


def check(context: CheckContext) -> Finding:
    """Compare what was returned with what the reference (or the baseline) returns."""
    complaints = [
        f"{describe_case(case)}: {text}"
        for case in context.cases()
        for text in _case_complaints(case, context)
    ]
    if complaints:
        return failed(NAME, Reason.OUTPUT_CONTRACT, listed(complaints))
    return passed(NAME)


def _case_complaints(case: CaseEvidence, context: CheckContext) -> Iterator[str]:
    if case.output_count != case.expected_output_count:
        yield f"returns {case.output_count} outputs, expected {case.expected_output_count}"
    for output in case.outputs:
        baseline = context.baseline_output(case, output.index)
        for text in _output_complaints(output, baseline):
            yield f"output {output.index} {text}"


def _output_complaints(output: OutputEvidence, baseline: OutputEvidence | None) -> Iterator[str]:
    if output.shape != output.expected_shape:
        yield f"has shape {list(output.shape)}, expected {list(output.expected_shape)}"
        return
    if output.dtype != output.expected_dtype:
        yield f"is {output.dtype}, expected {output.expected_dtype}"
    # Strides may be the reference's or the submitted kernel's: its callers live with both.
    allowed = {output.expected_strides, baseline.strides if baseline else output.expected_strides}
    if output.strides not in allowed:
        yield f"has strides {list(output.strides)}, expected {list(output.expected_strides)}"
    if baseline is not None and _kind(output.device) != _kind(baseline.device):
        yield f"is on {output.device}, expected {baseline.device}"


def _kind(device: str) -> str:
    return device.partition(":")[0]
