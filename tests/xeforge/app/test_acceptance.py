"""One command tries a card and writes a file that reads back; nothing private is in it."""

import getpass
import json
import platform
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from bench_workers import cards
from bench_workers.host import acceptance as on_device
from xeforge.app import acceptance
from xeforge.app.acceptance import audit_check
from xeforge.app.acceptance import private_words
from xeforge.app.acceptance import read_acceptance
from xeforge.app.acceptance import scrubbed
from xeforge.domain.acceptance import Acceptance
from xeforge.domain.check import Basis
from xeforge.domain.check import Check
from xeforge.domain.codec import loads
from xeforge.domain.device import Card
from xeforge.domain.device import Ceilings
from xeforge.domain.events import Audited
from xeforge.domain.evidence import BuildEvidence
from xeforge.domain.evidence import Evidence
from xeforge.domain.history import History
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.errors import DeviceLost

ROOT = Path(acceptance.__file__).parents[2]
ARC = Card("xpu", 0, "Intel(R) Arc(TM) B580 Graphics", "id-7", "1.6.3", "2.11", "3.6", 12 << 30)
GOOD = Check("device.events", True, Basis.RAN, "pieces add up", 1e-3, "s")
RATES = Ceilings(4.1e11, {"float16": 9e13})


def history(*issues, trusted=("ci[0]/declared/random/N=4",)):
    audited = Audited(
        issues, Evidence(()), BuildEvidence(()), (), trusted, (), None, None, "bubblewrap"
    )

    class Played(History):
        @property
        def audited(self):
            return audited

    return Played("audit", None)


@pytest.fixture
def arc(monkeypatch):
    """A machine with an Arc card; what would run on it is played."""
    monkeypatch.setattr(cards, "list_cards", lambda backend: (ARC,) if backend == "xpu" else ())
    words = f"read {ROOT}/kernels"
    played = (GOOD, replace(GOOD, name="device.delay", message=words))
    monkeypatch.setattr(on_device, "device_checks", lambda *_, **__: (played, RATES))
    monkeypatch.setattr(acceptance, "open_parts", lambda *_, **__: nullcontext())
    monkeypatch.setattr(acceptance, "_audit", lambda problem, parts: history())
    tried = replace(GOOD, name="a_a_is_same", basis=Basis.MEASURED)
    monkeypatch.setattr(acceptance, "selftest", lambda parts, problem: (tried,))


def test_an_arc_owner_gets_one_file_that_reads_back(xeforge, arc, tmp_path):
    file = tmp_path / "arc.json"
    outcome = xeforge("doctor", "--accept", "xpu", "-o", file)
    assert outcome.code == 0, outcome.out + outcome.err
    assert "all 6 passed" in outcome.out
    assert str(file) in outcome.said.replace(" ", "")
    found = read_acceptance(file)
    assert (found.backend, found.target, found.ceilings) == ("xpu", "intel-b580", RATES)
    names = [each.name for each in found.checks]
    assert names == [
        "device.events",
        "device.delay",
        "audit.elementwise_chain",
        "audit.softmax_rows",
        "audit.layer_norm",
        "selftest.a_a_is_same",
    ]
    assert {"torch", "triton", "driver", "python", "kernel"} <= set(found.versions)
    shown = xeforge("doctor", "--read", file)
    assert shown.code == 0
    assert "B580" in shown.out


def test_the_file_holds_nothing_private(xeforge, arc, tmp_path):
    file = tmp_path / "arc.json"
    xeforge("doctor", "--accept", "xpu", "-o", file)
    text = file.read_text(encoding="utf-8")
    assert ARC.uuid not in text
    assert "<program>/kernels" in text
    for word in (str(ROOT), platform.node(), str(tmp_path)):
        assert word not in text


def test_one_failed_check_is_told_by_name_and_code(xeforge, arc, tmp_path, monkeypatch):
    wrong = Issue("wrong_values", Severity.ERROR, "element [0] is 3", None, "")
    monkeypatch.setattr(acceptance, "_audit", lambda problem, parts: history(wrong))
    file = tmp_path / "arc.json"
    outcome = xeforge("doctor", "--accept", "xpu", "-o", file, "--json")
    assert outcome.code == 5
    found = loads(Acceptance, outcome.out)
    assert not found.passed
    assert "element [0] is 3" in found.checks[2].message
    assert xeforge("doctor", "--read", file).code == 5


def test_a_card_nobody_has_data_about_is_tried_all_the_same(xeforge, arc, tmp_path, monkeypatch):
    other = replace(ARC, product="Intel(R) Arc(TM) Z999")
    monkeypatch.setattr(cards, "list_cards", lambda backend: (other,))
    file = tmp_path / "arc.json"
    assert xeforge("doctor", "--accept", "xpu", "-o", file).code == 0
    (note,) = read_acceptance(file).notes
    assert "no device data about" in note
    assert "Z999" in note


def test_a_bench_that_cannot_be_tried_is_a_failed_check(xeforge, arc, tmp_path, monkeypatch):
    def fail(parts, problem):
        raise DeviceLost("the card does not answer")

    monkeypatch.setattr(acceptance, "selftest", fail)
    monkeypatch.setattr(acceptance, "_audit", fail)
    file = tmp_path / "arc.json"
    assert xeforge("doctor", "--accept", "xpu", "-o", file).code == 5
    failed = [each.name for each in read_acceptance(file).checks if not each.passed]
    assert failed == [
        "audit.elementwise_chain",
        "audit.softmax_rows",
        "audit.layer_norm",
        "selftest",
    ]


@pytest.mark.parametrize("backend", ["xpu", "cuda"])
def test_without_a_card_nothing_is_claimed_and_nothing_written(xeforge, tmp_path, backend):
    file = tmp_path / "none.json"
    outcome = xeforge("doctor", "--accept", backend, "-o", file)
    assert outcome.code == 5
    assert f"no {backend} card here" in outcome.said
    assert "nothing was checked" in outcome.said
    assert not file.exists()


def test_the_interpreter_is_no_card(xeforge):
    outcome = xeforge("doctor", "--accept", "cpu")
    assert outcome.code == 2
    assert "use xpu or cuda" in outcome.said


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"format": 9}, "has format 9"),
        ({"passed": False}, "contradicts itself"),
        ({"checks": []}, "contradicts itself"),
        ({"surprise": 1}, "is no acceptance"),
    ],
)
def test_files_that_cannot_be_believed_are_refused(xeforge, arc, tmp_path, change, word):
    file = tmp_path / "arc.json"
    xeforge("doctor", "--accept", "xpu", "-o", file)
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}), encoding="utf-8")
    outcome = xeforge("doctor", "--read", file)
    assert outcome.code == 2
    assert word in outcome.said


def test_private_words_are_replaced_longest_first():
    found = Acceptance(
        1, "xpu", "intel-b580", ARC, None, {}, "bubblewrap", 0.0, ("at /home/me",), (GOOD,), True
    )
    words = {"/home/me/lab": "<folder>", "/home/me": "<home>"}
    said = replace(GOOD, message="/home/me/lab/x and /home/me/y")
    cleaned = scrubbed(replace(found, checks=(said,)), words)
    assert cleaned.checks[0].message == "<folder>/x and <home>/y"
    assert cleaned.notes == ("at <home>",)
    assert str(Path.home()) in {*private_words(), "/root"}
    assert getpass.getuser() in {*private_words(), "root"}


def test_a_short_name_inside_a_word_is_left_alone():
    found = Acceptance(
        1, "xpu", "intel-b580", ARC, None, {}, "bubblewrap", 0.0, ("annex by ann",), (GOOD,), True
    )
    assert scrubbed(found, {"ann": "<user>"}).notes == ("annex by <user>",)


def test_an_audit_without_a_single_right_case_shows_nothing():
    assert audit_check("audit.x", history()).passed
    assert not audit_check("audit.x", history(trusted=())).passed


@pytest.mark.parametrize(
    ("product", "vendor"), [("NVIDIA T9999", "nvidia"), ("AMD Instinct MI9", "amd")]
)
def test_limits_of_an_unknown_card_are_those_of_a_card_of_its_maker(product, vendor):
    device, notes = acceptance._device(replace(ARC, backend="cuda", product=product), None)

    assert device.vendor == vendor
    assert product in notes[0]
