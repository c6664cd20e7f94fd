"""The lint has nothing to say of our base, and finds every planted fault with file and line."""

import dataclasses

import pytest

from knowledge import lint as linting
from knowledge.lint import lint
from knowledge.pairs import PACKS
from xeforge.errors import BadRequest

RULE = """\
  - id: small.many_warps
    scope: launch
    when: has_dot
    require: num_warps >= 16
    says: A product takes at least sixteen warps here.
    remedy: Take sixteen warps.
    strength: documented
    evidence: [guide]
    holds: {num_warps: 16}
    breaks: {num_warps: 8}
recipes:
"""
RECIPE = """\
  - id: small.split
    stage: fusion
    cures: [fusion_register_pressure]
    says: Take the chain apart again when it spills.
    hurts: Where it does not spill.
    example: twice
    effect: {expect: No spills are left., strength: expected}
    strength: claimed
    evidence: [mine]
"""


@pytest.fixture
def alone(sound, monkeypatch):
    """Lint the small base instead of ours."""
    monkeypatch.setattr(linting, "PACKS", sound)
    return sound


def test_our_base_is_clean():
    assert lint() == ()


def test_the_small_base_is_clean(alone):
    assert lint() == ()


def append(folder, text):
    path = folder / "small.yaml"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "check", "words"),
    [
        ("recipes:\n", RULE, "contradictions", "small.many_warps and small.few_warps"),
        ("launches >= 2", "launches >= 2 and launches < 2", "dead", "can never apply"),
        (
            "launches >= 2",
            'device.vendor == "intel" and device.capability == 90',
            "dead",
            "small.fuse can never apply",
        ),
        ("when: has_dot", "when: num_warps > 8", "trials", "it applies on no device"),
        ("holds: {num_warps: 8}", "holds: {num_warps: 9}", "trials", "'holds': it gives False"),
        ("breaks: {num_warps: 16}", "breaks: {block_m: 4}", "trials", "it gives None"),
        (
            "launches >= 2",
            'device.name != "nvidia-h20"',
            "devices",
            "no device has the name 'nvidia-h20'; did you mean 'nvidia-h200'?",
        ),
        ("launches >= 2", 'device.vendor != "nvidea"', "devices", "did you mean 'nvidia'?"),
        (
            "evidence: [guide]",
            "evidence: [mine]",
            "evidence",
            "documented, but none of its sources",
        ),
        (
            "  mine:",
            "  spare: {title: Nobody reads it}\n  mine:",
            "evidence",
            "'spare' is cited nowhere",
        ),
        ("fusion\n", "fision\n", "file", "no stage is called 'fision'"),
        ("example: twice", "example: twise", "file", "did you mean 'twice'?"),
    ],
)
def test_planted_faults_are_found(alone, plant, old, new, check, words):  # noqa: PLR0917
    line = plant(old, new)
    found = lint()
    assert [each.check for each in found if words in each.message] == [check], found
    fault = next(each for each in found if words in each.message)
    assert fault.file == str(alone / "small.yaml")
    assert line - 12 <= fault.line <= line + 6  # the entry's first line, or the field's
    assert fault.remedy
    assert str(fault).startswith(f"{alone}/small.yaml:{fault.line}: {check}: ")


def test_recipes_that_undo_each_other_must_say_so(alone):
    append(alone, RECIPE + '    turns: {fusion: "off"}\n')
    (fault,) = lint()
    assert fault.check == "reversals"
    assert "fusion goes on in one and off in the other" in fault.message
    append(alone, "    undoes: [small.fuse]\n")
    assert lint() == ()


def test_examples_turned_round_are_a_reversal(alone):
    examples = alone / "examples"
    for when, other in (("before", "after"), ("after", "before")):
        text = (examples / f"twice.{other}.py").read_text(encoding="utf-8")
        (examples / f"back.{when}.py").write_text(text, encoding="utf-8")
    pairs = (examples / "pairs.yaml").read_text(encoding="utf-8")
    more = pairs.removeprefix("pairs:\n").replace("twice", "back")
    (examples / "pairs.yaml").write_text(pairs + more, encoding="utf-8")
    append(alone, RECIPE.replace("example: twice", "example: back"))
    (fault,) = lint()
    assert "turned round" in fault.message


def test_the_same_advice_twice_is_a_fault(alone):
    append(
        alone,
        RECIPE.replace(
            "Take the chain apart again when it spills", "PUT the chain into one kernel"
        ),
    )
    (fault,) = lint()
    lines = (alone / "small.yaml").read_text(encoding="utf-8").splitlines()
    assert fault.check == "duplicates"
    assert lines[fault.line - 1] == "  - id: small.split"


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        ("twice.after.py", lambda text: text.replace("x * 2.0", "x + x"), "the same program"),
        (
            "twice.after.py",
            lambda text: text.replace("def run(x)", "def run(x"),
            "not valid Python",
        ),
        (
            "twice.after.py",
            lambda text: text.replace("def run(x)", "def walk(x)"),
            "no function 'run'",
        ),
        (
            "twice.after.py",
            lambda text: text.replace("run(x)", "run(y)"),
            "does not take the inputs",
        ),
        ("twice.before.py", lambda text: text.replace("@triton.jit\n", ""), "no Triton kernel"),
        ("twice.before.py", lambda text: text.replace("double[", "list["), "launches no kernel"),
    ],
)
def test_broken_examples_are_found(alone, file, change, words):
    path = alone / "examples" / file
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    found = lint()
    assert any(words in each.message for each in found), found
    assert all(each.check == "examples" and each.file.endswith(file) for each in found)


def test_examples_that_nobody_cites_are_found(alone):
    path = alone / "examples" / "pairs.yaml"
    text = path.read_text(encoding="utf-8")
    more = text.removeprefix("pairs:\n").replace("twice", "spare")
    path.write_text(text + more, encoding="utf-8")
    for when in ("before", "after"):
        source = (alone / "examples" / f"twice.{when}.py").read_text(encoding="utf-8")
        (alone / "examples" / f"spare.{when}.py").write_text(source, encoding="utf-8")
    (fault,) = lint()
    assert fault.message == "no recipe shows spare"
    assert fault.line == 7


def test_examples_are_run_where_asked(alone):
    assert lint(run=lambda pair: "") == ()
    (fault,) = lint(run=lambda pair: f"{len(pair.inputs)} elements differ")
    assert fault.message == "twice: 1 elements differ"
    assert fault.file.endswith("pairs.yaml")

    def refuses(pair):
        raise BadRequest("cannot be run")

    assert lint(run=refuses)[0].message == "twice: cannot be run"


def test_one_unreadable_file_is_one_fault(alone, plant):
    plant("stage: fusion", "stage: fision")
    (alone / "other.yaml").write_text("pack: [", encoding="utf-8")
    found = lint()
    assert [each.file.rpartition("/")[2] for each in found] == ["other.yaml", "small.yaml"]
    assert dataclasses.asdict(found[0])["line"] >= 1


def test_ours_and_a_users_are_looked_at_together(sound):
    (sound / "small.yaml").write_text(
        (sound / "small.yaml")
        .read_text(encoding="utf-8")
        .replace("launches >= 2", "launches > 2 and launches < 2"),
        encoding="utf-8",
    )
    assert linting.PACKS == PACKS
    (fault,) = lint(sound)
    assert fault.check == "dead"
