"""`xeforge kb` looks into the knowledge base, checks it, and says why it advises what it does."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def own_pack(tmp_path) -> Path:
    folder = tmp_path / "packs"
    folder.mkdir()
    (folder / "own.yaml").write_text(
        """\
pack: own
about: A pack of a user.
sources: {mine: {title: my measurements}}
recipes:
  - id: own.tip
    stage: memory_access
    cures: [missing_tma]
    when: has_dot
    says: A tip that only this user knows about.
    hurts: Where it is not measured.
    example: descriptors
    effect: {expect: Something was measured., strength: expected}
    strength: claimed
    evidence: [mine]
""",
        encoding="utf-8",
    )
    return folder


def test_lint_is_clean_on_ours(xeforge):
    done = xeforge("kb", "lint")
    assert done.code == 0
    assert done.out.startswith("clean: ")
    assert "20 devices" in done.out


def test_lint_fails_with_file_and_line(xeforge, own_pack):
    path = own_pack / "own.yaml"
    path.write_text(path.read_text().replace("memory_access", "memory_acces"), encoding="utf-8")
    done = xeforge("kb", "lint", "--kb", own_pack)
    assert done.code == 2
    assert f"{path}:6: file: " in done.out
    assert "did you mean 'memory_access'?" in done.out
    faults = json.loads(xeforge("kb", "lint", "--kb", own_pack, "--json").out)
    assert [each["line"] for each in faults] == [6]


def test_list_filters_by_stage_and_issue(xeforge):
    rows = json.loads(xeforge("kb", "list", "--stage", "fusion", "--json").out)
    assert rows
    assert {row["stage"] for row in rows} == {"fusion"}
    rows = json.loads(xeforge("kb", "list", "--issue", "missing_tma", "--json").out)
    assert all("missing_tma" in row["cures"] for row in rows)


@pytest.mark.parametrize("what", ["recipes", "constraints", "devices", "packs", "examples"])
def test_list_knows_every_kind(xeforge, what):
    assert len(json.loads(xeforge("kb", "list", what, "--json").out)) >= 16
    assert xeforge("kb", "list", what).code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "recipe"), "did you mean 'recipes'?"),
        (("show", "memory.relaxed_sum"), "did you mean 'memory.relaxed_sums'?"),
        (("list", "--stage", "fusio"), "did you mean 'fusion'?"),
        (("list", "--kb", "/nowhere"), "there is no such folder"),
    ],
)
def test_what_is_not_there_is_said(xeforge, arguments, words):
    done = xeforge("kb", *arguments)
    assert done.code == 2
    assert words in done.said


def test_show_gives_evidence_of_everything(xeforge):
    for name, words in (
        ("algorithm.online_softmax", "arxiv.org/abs/1805.02867"),
        ("intel_rules.no_clusters", "num_ctas == 1"),
        ("nvidia-b200", "Blackwell Tuning Guide"),
        ("whole_row", "tl.load"),
    ):
        done = xeforge("kb", "show", name)
        assert done.code == 0
        assert words in done.out
    shown = json.loads(xeforge("kb", "show", "fusion.light_epilogue", "--json").out)
    assert shown["stage"] == "fusion"


def test_search_finds_words_in_any_order(xeforge):
    hits = json.loads(xeforge("kb", "search", "REGISTERS", "intel", "--json").out)
    assert "intel_xe2.large_registers_for_large_tiles" in {each["name"] for each in hits}
    assert xeforge("kb", "search", "xylophone").out.strip() == "0 found"


@pytest.mark.parametrize("name", ["matmul_upcast", "softmax_rows", "attention_forward"])
def test_why_says_what_fits_and_what_does_not(xeforge, name):
    spec = EXAMPLES / f"{name}.yaml"
    done = xeforge("kb", "why", EXAMPLES / f"{name}.py", "--spec", spec, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    found = {each["type"] for each in told["issues"]}
    assert told["chosen"]
    assert told["tokens"] <= told["budget"] == 2000
    assert {each["kind"] for each in told["left_out"]} >= {"no issue", "does not apply"}
    for each in told["chosen"]:
        assert any(f"{issue} (line" in each["because"] for issue in found)
    printed = xeforge("kb", "why", EXAMPLES / f"{name}.py", "--spec", spec).out
    assert "Why here: cures" in printed
    assert "left out:" in printed


def test_why_follows_target_budget_and_own_packs(xeforge, own_pack):
    kernel = EXAMPLES / "matmul_upcast.py"
    spec = EXAMPLES / "matmul_upcast.yaml"
    more = ("--spec", spec, "--kb", own_pack, "--json")
    told = json.loads(xeforge("kb", "why", kernel, "--target", "intel-b580", *more).out)
    names = [each["recipe"] for each in told["chosen"]]
    assert "intel_xe2.block_loads_by_descriptor" in names
    assert not any(name.startswith("nvidia.") for name in names)
    assert "own.tip" in {*names, *(each["recipe"] for each in told["left_out"])}
    small = json.loads(xeforge("kb", "why", kernel, "--budget-tokens", "200", *more).out)
    assert small["tokens"] <= 200
    assert any(each["kind"] == "budget" for each in small["left_out"])


def test_why_tells_broken_rules(xeforge, tmp_path):
    text = (EXAMPLES / "matmul_upcast.py").read_text(encoding="utf-8")
    path = tmp_path / "clustered.py"
    path.write_text(text.replace("BLOCK_M=32,", "BLOCK_M=32, num_ctas=2,"), encoding="utf-8")
    told = json.loads(xeforge("kb", "why", path, "--target", "nvidia-a100", "--json").out)
    (broken,) = told["broken_rules"]
    assert broken["rule"] == "nvidia_rules.clusters_need_hopper"
    assert broken["refuses"]
    assert "refused: Clusters" in xeforge("kb", "why", path, "--target", "nvidia-a100").out
    told = json.loads(xeforge("kb", "why", path, "--target", "nvidia-h200", "--json").out)
    assert told["broken_rules"] == []
