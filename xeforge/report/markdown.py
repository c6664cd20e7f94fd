"""The report as Markdown."""

from jinja2 import Environment
from jinja2 import PackageLoader
from jinja2 import StrictUndefined

from xeforge.report import units
from xeforge.report.document import Report
from xeforge.report.document import is_estimate


def environment(*, is_html: bool) -> Environment:
    """Return the template environment; HTML escapes everything it is given."""
    found = Environment(
        loader=PackageLoader("xeforge.report"),
        autoescape=is_html,  # noqa: S701 Markdown is text; only the page escapes
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters["seconds"] = units.seconds
    found.globals["ratio"] = units.ratio
    found.globals["rate"] = units.rate
    if not is_html:
        found.filters["cell"] = lambda text: " ".join(str(text).split()).replace("|", "\\|")
    return found


def render(report: Report) -> str:
    """Return the Markdown text."""
    template = environment(is_html=False).get_template("report.md.j2")
    return template.render(report=report, is_estimate=is_estimate(report))
