"""The report says what is recorded, labels estimates and cannot be broken by what it quotes."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from xeforge.domain.certificate import Certificate
from xeforge.domain.codec import dumps
from xeforge.domain.codec import loads
from xeforge.domain.events import Proposed
from xeforge.domain.events import Skipped
from xeforge.pipeline.certificate import digest
from xeforge.pipeline.certificate import issue
from xeforge.pipeline.certificate import sealed
from xeforge.report import markdown
from xeforge.report import page
from xeforge.report import units
from xeforge.report.document import Report
from xeforge.report.document import build_report


class Links(HTMLParser):
    """Collects everything a page would load, and the tags it has."""

    def __init__(self):
        super().__init__()
        self.loaded = []
        self.tags = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.loaded += [value for name, value in attrs if name in {"src", "href"}]


def test_a_measured_claim_names_card_interval_and_baseline(measured, device):
    report = build_report(measured, device)
    assert report.headline == (
        "2.00x faster than the submitted kernel, measured on NVIDIA H200 "
        "(95 % interval 1.98x to 2.02x)"
    )
    assert "ESTIMATE" not in markdown.render(report)


@pytest.mark.parametrize("finished", [True, False])
def test_a_run_without_walls_is_labelled_in_report_and_certificate(measured, device, finished):
    audited = replace(measured.audited, sandbox="bare")
    records = tuple(
        replace(each, event=audited) if each.event == measured.audited else each
        for each in measured.records
    )
    bare = replace(measured, records=records if finished else records[:-2])
    report = build_report(bare, device)
    assert "UNSANDBOXED" in report.headline
    assert "UNSANDBOXED" in markdown.render(report)
    certificate = issue(bare, device, 0.0)
    assert (certificate is not None) == finished
    if certificate is not None:
        assert "UNSANDBOXED" in certificate.claim


def test_an_estimate_is_labelled_in_every_rendering(estimated, device):
    report = build_report(estimated, device)
    assert "by ESTIMATE" in report.headline
    assert report.grade == "estimated"
    assert "> **ESTIMATE.**" in markdown.render(report)
    html = page.render(report, device, ceilings=None, samples=())
    assert '<p class="estimate"><strong>ESTIMATE.</strong>' in html


def test_the_report_survives_its_json_form(measured, device):
    report = build_report(measured, device)
    assert loads(Report, dumps(report)) == report
    assert json.loads(dumps(report))["trials"][1]["reason"] == "INCORRECT_OUTPUT"


def test_the_diff_shows_the_change_alone(measured, device):
    diff = build_report(measured, device).diff
    changed = [line for line in diff.splitlines() if re.match(r"[-+][^-+]", line)]
    assert changed == ["-BLOCK = 64", "+BLOCK = 128"]


def test_an_interrupted_job_says_that_its_best_is_not_confirmed(interrupted, device):
    report = build_report(interrupted, device)
    assert report.outcome == "interrupted"
    assert "t1 is the best so far, NOT confirmed yet" in report.headline
    assert "+BLOCK = 128" in report.diff


def test_the_page_loads_nothing_and_escapes_what_it_quotes(measured, device):
    confirmed = measured.confirmation("t1")
    html = page.render(
        build_report(measured, device),
        device,
        ceilings=measured.audited.ceilings,
        samples=confirmed.samples,
    )
    links = Links()
    links.feed(html)
    assert not [each for each in links.loaded if not each.startswith("#")]
    assert "script" not in links.tags
    assert "&lt;script&gt;" in html
    assert html.count("<svg") == 2


def test_table_cells_of_the_markdown_cannot_be_split(measured, device):
    text = markdown.render(build_report(measured, device))
    (row,) = [line for line in text.splitlines() if line.startswith("| t2 |")]
    assert "a \\| b" in row


def test_the_certificate_carries_digests_of_the_three_texts(measured, device):
    certificate = issue(measured, device, 5.0)
    assert certificate is not None
    assert certificate.digests["winner"] == digest("BLOCK = 128\nWARPS = 4\n")
    assert set(certificate.digests) == {"kernel", "reference", "winner", "body"}
    assert certificate.versions["driver"] == "580.1"
    assert certificate.samples == measured.confirmation("t1").samples


def test_a_changed_figure_does_not_match_the_digest_of_the_whole(measured, device):
    certificate = issue(measured, device, 5.0)
    assert sealed(certificate) == certificate
    changed = replace(certificate, claim=certificate.claim.replace("2.00x", "9.00x"))
    assert sealed(changed).digests["body"] != changed.digests["body"]
    again = loads(Certificate, dumps(certificate))
    assert sealed(again) == again


def test_no_certificate_without_a_confirmed_winner(interrupted, device):
    assert issue(interrupted, device, 5.0) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.234e-5, "12.3 us"), (0.0421, "42.1 ms"), (3.0, "3 s"), (9.99e-4, "999 us")],
)
def test_durations_read_well(value, text):
    assert units.seconds(value) == text


def test_a_missing_ratio_is_a_dash():
    assert units.ratio(None, None, None) == "-"
    assert units.ratio(1.5, 1.5, 1.5) == "1.50x"
    assert units.ratio(1.5, 1.4, 1.6) == "1.50x [1.40, 1.60]"


def test_what_was_left_out_on_advice_and_what_was_followed_is_told(measured, device):
    skipped = Skipped("drop_masks", ("memory.x",), "memory.x does not apply: not is_ragged")
    records = []
    for record in measured.records:
        event = record.event
        if isinstance(event, Proposed):
            first, *others = event.candidates
            followed = replace(first, recipes=("tiles.y", "tiles.z"))
            event = replace(event, candidates=(followed, *others), skipped=(skipped,))
        records.append(replace(record, event=event))
    report = build_report(replace(measured, records=tuple(records)), device)
    (note,) = [each for each in report.notes if "drop_masks" in each]
    assert note.endswith(
        "in stage autotuning leaves out drop_masks: memory.x does not apply: not is_ragged"
    )
    assert [row.recipes for row in report.trials] == [("tiles.y", "tiles.z"), ()]
    text = markdown.render(report)
    assert note in text
    assert text.count("(advice: tiles.y, tiles.z)") == 1
