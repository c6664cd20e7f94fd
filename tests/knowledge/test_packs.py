"""Packs are read whole or not at all; every refusal names file, line and remedy."""

import time
from pathlib import Path

import pytest

from knowledge import packs
from knowledge.packs import check_names
from knowledge.packs import load_base
from knowledge.packs import load_rulings
from knowledge.packs import read_pack
from knowledge.pairs import PACKS
from knowledge.pairs import read_all_pairs
from xeforge.domain.issue import ISSUE_TYPES
from xeforge.errors import BadSpec
from xeforge.intake.stages import STAGE_NAMES

BASE = load_base()


def test_our_packs_hold_what_was_promised():
    assert len(BASE.recipes) >= 80
    assert len(BASE.rulings) >= 30
    assert {each.stage for each in BASE.recipes} == set(STAGE_NAMES)
    assert {issue for each in BASE.recipes for issue in each.cures} == set(ISSUE_TYPES)
    assert set(BASE.packs) == {path.stem for path in PACKS.glob("*.yaml")}


def test_every_recipe_has_evidence_and_an_honest_effect():
    for each in BASE.recipes:
        assert each.evidence
        assert each.hurts
        assert (each.effect.ratio is None) or each.effect.source, each.id
        assert each.effect.strength != "measured" or each.effect.device


def test_rules_alone_are_the_rules_of_the_base():
    assert {each.rule.id for each in load_rulings()} == {each.rule.id for each in BASE.rulings}


def test_a_users_packs_are_merged(sound):
    merged = load_base(sound)
    assert merged.recipe("small.fuse") is not None
    assert merged.recipe("small.fuse").strength == "claimed"
    assert len(merged.recipes) == len(BASE.recipes) + 1
    assert merged.pairs["twice"].before.parent == sound / "examples"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("recipes:", "recipies:", "unknown key; did you mean 'recipes'?"),
        ("    cures:", "    cure:", "unknown key; did you mean 'cures'?"),
        ("    remedy:", "    remedie:", "unknown key; did you mean 'remedy'?"),
        ("stage: fusion", "stage: fussion", "no stage is called 'fussion'; did you mean 'fusion'?"),
        ("[unfused_elementwise]", "[unfused_elementwice]", "did you mean 'unfused_elementwise'?"),
        ("launches >= 2", "launchs >= 2", "no fact is called 'launchs'; did you mean 'launches'?"),
        ("launches >= 2", "launches >=", "no predicate: invalid syntax"),
        ("launches >= 2", "launches >= '2'", "is a text where a number is needed"),
        ("launches >= 2", "launches", "it is a number, not a claim"),
        ("launches >= 2", "__import__('os')", "is not allowed"),
        ("launches >= 2", "device.vendor.upper() == 'X'", "is not allowed"),
        ("num_warps <= 8", "num_warp <= 8", "did you mean 'num_warps'?"),
        ("holds: {num_warps: 8}", "holds: {num_wraps: 8}", "did you mean 'num_warps'?"),
        ("evidence: [mine]", "evidence: [yours]", "no source of this pack is called 'yours'"),
        ("evidence: [mine]", "evidence: []", "at least 1 item"),
        ("    evidence: [mine]\n", "", "the key 'evidence' is missing"),
        ("strength: claimed", "strength: sure", "found 'sure'"),
        ("id: small.fuse", "id: other.fuse", "does not begin with the pack's name"),
        ("id: small.fuse", "id: small.few_warps", "is there already"),
        ("pack: small", "pack: large", "the pack is called 'large', the file 'small'"),
        ("example: twice", "example: thrice", "no example is called 'thrice'"),
        ("strength: expected}", "strength: expected, ratio: 2.0}", "that nobody measured"),
        ("strength: expected}", "strength: measured}", "an effect that was measured has a source"),
        (
            "strength: expected}",
            "strength: measured, source: mine}",
            "a measured effect has a ratio and a device",
        ),
        ("evidence: [mine]", "evidence: [mine]\n    undoes: [small.fuze]", "did you mean 'small.f"),
        ("evidence: [mine]", "evidence: [mine]\n    after: [small.fuse]", "in a circle"),
        ("about: A pack", "needs: [smal]\nabout: A pack", "no pack is called 'smal'"),
        ("about: A pack", "needs: [small]\nabout: A pack", "go round in a circle: small -> small"),
        ("scope: launch", "scope: lunch", "did you mean 'launch'?"),
        ('turns: {fusion: "on"}', 'turns: {fision: "on"}', "found 'fision'"),
        ("    says: Put the chain", "    says: One\n    says: Put the chain", "given twice"),
        ("cures: [unfused", "cures: [[unfused", "not valid YAML"),
        ("says: Put the chain into one kernel.", "says: Put.", "at least 10 characters"),
        ("url: https:", "url: ftp:", "match pattern"),
        ("require: num_warps <= 8", "require: 8", "valid string"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(sound, plant, old, new, words):
    line = plant(old, new)
    with pytest.raises(BadSpec) as caught:
        load_base(sound)
    error = caught.value
    assert words in error.message
    assert error.file == str(sound / "small.yaml")
    assert line - 9 <= error.line <= line + 2  # what is missing is missed where the entry begins
    assert error.remedy


def test_a_circle_over_several_recipes_is_spelt_out(sound):
    path = sound / "small.yaml"
    text = path.read_text(encoding="utf-8")
    recipe = text[text.index("  - id: small.fuse") :]
    more = recipe.replace("small.fuse", "small.two").replace("Put the", "Then put the")
    text = f"{text}    after: [small.two]\n{more}    after: [small.fuse]\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadSpec, match=r"small.fuse -> small.two -> small.fuse"):
        load_base(sound)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("shape: [N]", "shape: [M]", "the size 'M' is not given under small"),
        ("twice:", "trice:", "the file trice.before.py is not there"),
        ("small: {N: 37}", "small: {N: 0}", "greater than or equal to 1"),
        ("dtype: float32", "dtype: float33", "no number format is called 'float33'"),
    ],
)
def test_wrong_lists_of_examples_are_refused(sound, plant, old, new, words):
    plant(old, new, "examples/pairs.yaml")
    with pytest.raises(BadSpec) as caught:
        read_all_pairs([sound])
    assert words in caught.value.message
    assert caught.value.line is not None


def test_a_name_belongs_to_one_pack(sound):
    file = read_pack(sound / "small.yaml")
    with pytest.raises(BadSpec, match="a pack of this name stands in"):
        check_names([file, file])


def test_alias_bombs_are_refused(sound):
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for here, there in ("ba", "cb", "dc", "ed", "fe"):
        bomb += f"{here}: &{here} [{', '.join([f'*{there}'] * 10)}]\n"
    (sound / "bomb.yaml").write_text(bomb, encoding="utf-8")
    started = time.perf_counter()
    with pytest.raises(BadSpec, match="more than 50,000 values") as caught:
        read_pack(sound / "bomb.yaml")
    assert caught.value.line is not None
    assert time.perf_counter() - started < 20


def test_folders_without_packs_are_refused(tmp_path: Path):
    with pytest.raises(BadSpec, match="there is no such folder"):
        load_base(tmp_path / "nowhere")
    with pytest.raises(BadSpec, match="no pack is here"):
        load_base(tmp_path)


def test_nothing_is_remembered_of_a_base_that_was_refused(sound, plant):
    plant("stage: fusion", "stage: fision")
    with pytest.raises(BadSpec):
        load_base(sound)
    plant("stage: fision", "stage: fusion")
    assert load_base(sound).recipe("small.fuse") is not None
    assert packs.load_base() is BASE


def test_a_large_base_is_read(sound):
    text = (sound / "small.yaml").read_text(encoding="utf-8")
    head, recipe = text.split("recipes:\n")
    for number in range(2):
        name = f"many{number}"
        body = "".join(
            recipe.replace("small.fuse", f"{name}.r{n}").replace("Put the chain", f"Put chain {n}")
            for n in range(200)
        )
        whole = head.replace("small", name) + "recipes:\n" + body
        (sound / f"{name}.yaml").write_text(whole, encoding="utf-8")
    assert len(load_base(sound).recipes) == len(BASE.recipes) + 401
