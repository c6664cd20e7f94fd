"""The report as one self-contained HTML page."""

from collections.abc import Sequence

from markupsafe import Markup

from xeforge.domain.device import Ceilings
from xeforge.domain.device import Device
from xeforge.domain.samples import PairedSamples
from xeforge.report import charts
from xeforge.report.document import Report
from xeforge.report.document import is_estimate
from xeforge.report.markdown import environment


def render(
    report: Report,
    device: Device,
    *,
    ceilings: Ceilings | None,
    samples: Sequence[PairedSamples],
) -> str:
    """Return the page; it loads nothing from anywhere."""
    template = environment(is_html=True).get_template("report.html.j2")
    return template.render(
        report=report,
        is_estimate=is_estimate(report),
        diff_lines=[(_kind(line), line) for line in report.diff.splitlines()],
        roofline=Markup(charts.roofline(report.workloads, device, ceilings)),  # noqa: S704 our own SVG
        distributions=[Markup(charts.paired(each)) for each in samples],  # noqa: S704 our own SVG
    )


def _kind(line: str) -> str:
    """Name the style of a diff line."""
    if line.startswith(("+++", "---", "@@")):
        return "meta"
    return {"+": "added", "-": "removed"}.get(line[:1], "same")
