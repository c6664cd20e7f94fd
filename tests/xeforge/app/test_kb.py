"""`xeforge kb` looks into the knowledge base, checks it, and says why it advises what it does."""

import json
import re
from pathlib import Path

import pytest

from tests.conformance.job_store import PROBLEM
from tests.conformance.job_store import FakeClock
from tests.conformance.job_store import judge
from xeforge.adapters.sql_store import SqlStore
from xeforge.domain.wins import Effect

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


def judged(home: Path, effect: Effect, *recipes: str, number: int = 1) -> None:
    """Record a verdict about recipes in the store that commands use."""
    home.mkdir(exist_ok=True)
    store = SqlStore(home / "jobs.sqlite3", FakeClock())
    store.create(f"j{number}", PROBLEM)
    judge(store, f"j{number}", "t1", effect, *recipes)
    store.close()


@pytest.fixture
def home(tmp_path) -> Path:
    return tmp_path / "home"


WHY = ("kb", "why", EXAMPLES / "matmul_upcast.py", "--spec", EXAMPLES / "matmul_upcast.yaml")
TILES, TMA = "memory.hardware_tile_loads", "nvidia.tma_on_hopper"


def because(done) -> dict[str, str]:
    return {each["recipe"]: each["because"] for each in json.loads(done.out)["chosen"]}


def test_why_heeds_the_record_of_this_machine_unless_it_is_given_one(xeforge, home, tmp_path):
    before = because(xeforge(*WHY, "--json"))
    assert not any("won" in each for each in before.values())
    assert not home.exists(), "asking makes no store"
    first, *_, last = before
    for number in range(1, 6):
        judged(home, Effect.WON if number < 4 else Effect.LOST, last, number=number)
        judged(home, Effect.LOST, first, number=number + 10)
    after = because(xeforge(*WHY, "--json"))
    assert after[last].endswith("; won 3 of 5 on nvidia-h200")
    assert next(iter(after)) != first
    assert "won 3 of 5 on nvidia-h200 (score" in xeforge(*WHY).out
    elsewhere = because(xeforge(*WHY, "--target", "nvidia-a100", "--json"))
    assert not any("won" in each for each in elsewhere.values())
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"nvidia-h200": {first: {"tried": 2, "won": 2}}}))
    told = because(xeforge(*WHY, "--record", given, "--json"))
    assert told[first].endswith("; won 2 of 2 on nvidia-h200")
    assert "won" not in told[last]


def test_record_prints_what_why_reads(xeforge, home, tmp_path):
    assert "no job of this machine has followed a recipe" in xeforge("kb", "record").out
    assert json.loads(xeforge("kb", "record", "--json").out) == {}
    judged(home, Effect.WON, TILES, TMA)
    judged(home, Effect.LOST, TMA, number=2)
    judged(home, Effect.ESTIMATED_FASTER, "precision.no_float64", number=3)
    done = xeforge("kb", "record")
    assert f"{TMA}: won 1 of 2 on nvidia-h200" in done.out
    assert "precision.no_float64: faster by estimate in 1 of 1 on nvidia-h200" in done.out
    path = tmp_path / "record.json"
    path.write_text(xeforge("kb", "record", "--json").out, encoding="utf-8")
    assert json.loads(path.read_text()) == {
        "nvidia-h200": {TILES: {"tried": 1, "won": 1}, TMA: {"tried": 2, "won": 1}}
    }
    (home / "jobs.sqlite3").unlink()
    told = because(xeforge(*WHY, "--record", path, "--json"))
    assert told[TMA].endswith("; won 1 of 2 on nvidia-h200")
    assert json.loads(xeforge("kb", "record", "--target", "intel-b580", "--json").out) == {}


def test_record_says_what_it_cannot_place(xeforge, home):
    judged(home, Effect.WON, "gone.recipe", TILES)
    done = xeforge("kb", "record", "--json")
    assert json.loads(done.out) == {"nvidia-h200": {TILES: {"tried": 1, "won": 1}}}
    assert "not shown: gone.recipe on nvidia-h200" in done.said
    wrong = xeforge("kb", "record", "--target", "nvidia-h20")
    assert wrong.code == 2
    assert "did you mean 'nvidia-h200'?" in wrong.said


def test_every_subcommand_stands_in_the_readme():
    from xeforge.app.kb import app

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {each.name for each in app.registered_commands}
    assert names == {"lint", "list", "show", "search", "why", "record"}
    row = next(line for line in readme.splitlines() if line.startswith("| `xeforge kb "))
    assert all(re.search(rf"\b{name}\b", row) for name in names)
