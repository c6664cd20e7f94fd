"""Advice is ranked by evidence and record, fits the budget, and what is left out has a reason."""

from dataclasses import replace
from pathlib import Path

from knowledge.load import load_devices
from knowledge.packs import load_base
from knowledge.select import Question
from knowledge.select import effect_value
from knowledge.select import paid
from knowledge.select import render
from knowledge.select import select
from knowledge.select import tokens_of
from xeforge.domain.advice import LeftOutKind
from xeforge.domain.issue import Issue
from xeforge.domain.issue import Severity
from xeforge.domain.wins import WinRecord
from xeforge.source.facts import read_facts
from xeforge.verify.gates.sites import sites_of

BASE = load_base()
EXAMPLES = Path(__file__).parents[2] / "examples"


def question(kernel: str, device: str, *issues: str, **more) -> Question:
    text = (EXAMPLES / f"{kernel}.py").read_text(encoding="utf-8")
    sites = sites_of(read_facts(text, kernel), load_devices()[device])
    found = [Issue(each, Severity.SPEED, "found", 7) for each in issues]
    return Question(sites, found, **more)


def names(selection) -> list[str]:
    return [each.recipe.id for each in selection.chosen]


def test_advice_is_for_what_was_found():
    asked = question("matmul_upcast", "nvidia-h200", "no_swizzling", "missing_tma")
    selection = select(BASE, asked)
    assert "memory.hardware_tile_loads" in names(selection)
    cured = {issue for each in selection.chosen for issue in each.recipe.cures}
    assert cured >= {"no_swizzling", "missing_tma"}
    assert all(each.recipe.cures & {"no_swizzling", "missing_tma"} for each in selection.chosen)
    assert len(selection.chosen) + len(selection.left_out) == len(BASE.recipes)
    assert "cures missing_tma (line 7)" in selection.chosen[0].because + selection.chosen[1].because


def test_without_issues_there_is_no_advice():
    selection = select(BASE, question("matmul_upcast", "nvidia-h200"))
    assert selection.chosen == ()
    assert {each.kind for each in selection.left_out} == {"no issue"}


def test_advice_of_other_vendors_is_left_out_with_the_reason():
    asked = question("matmul_upcast", "nvidia-h200", "missing_grf_mode", "missing_block_pointers")
    left = {each.recipe: each for each in select(BASE, asked).left_out}
    why = left["intel_xe2.block_loads_by_descriptor"]
    assert why.kind == "does not apply"
    assert "device.vendor is 'nvidia'" in why.reason


def test_intel_gets_its_own_advice():
    asked = question("matmul_upcast", "intel-b580", "missing_block_pointers")
    assert "intel_xe2.block_loads_by_descriptor" in names(select(BASE, asked))


def test_what_is_not_known_is_said():
    asked = question("softmax_rows", "nvidia-h200", "suboptimal_tile_size")
    left = {each.recipe: each for each in select(BASE, asked).left_out}
    assert left["tiles.several_rows_a_program"].kind == "not known"
    assert "row_elements" in left["tiles.several_rows_a_program"].reason


def test_the_budget_is_kept_and_the_rest_reported():
    issues = ("missing_tma", "no_swizzling", "missing_autotune", "dtype_precision")
    whole = select(BASE, question("matmul_upcast", "nvidia-h200", *issues))
    small = select(BASE, question("matmul_upcast", "nvidia-h200", *issues, budget_tokens=250))
    assert 0 < small.tokens <= 250 < whole.tokens
    assert set(names(small)) < set(names(whole))
    over = [each for each in small.left_out if each.kind == "budget"]
    assert over
    assert all("250" in each.reason for each in over)
    assert sum(tokens_of(render(each.recipe)) for each in small.chosen) == small.tokens


def test_evidence_ranks_before_claims():
    issues = ("manual_pointer_arithmetic", "missing_block_pointers", "missing_tma")
    selection = select(BASE, question("matmul_upcast", "nvidia-h200", *issues))
    strengths = {"measured": 3, "documented": 2, "claimed": 1}
    known = [
        strengths[each.recipe.strength] + effect_value(each.recipe.effect)
        for each in selection.chosen
    ]
    assert known == sorted(known, reverse=True)
    assert len(set(known)) > 2
    best, *_, worst = selection.chosen
    assert effect_value(best.recipe.effect) > 0
    assert worst.recipe.strength == "claimed"


def test_what_was_measured_to_be_a_loss_counts_against_it():
    block_pointers = next(
        each.effect for each in BASE.recipes if each.id == "addressing.block_pointers_for_tiles"
    )
    assert block_pointers.ratio < 1
    assert effect_value(block_pointers) < 0
    assert effect_value(replace(block_pointers, ratio=1.1)) == 1
    assert effect_value(replace(block_pointers, ratio=0.99)) == 1


def test_wins_move_advice_up_and_losses_down():
    asked = question("matmul_upcast", "nvidia-h200", "no_swizzling", "missing_tma")
    first, *_, last = names(select(BASE, asked))
    records = {last: WinRecord(20, 20), first: WinRecord(20, 0)}
    turned = names(select(BASE, replace(asked, records=records)))
    assert turned[0] == last
    assert turned[-1] == first


def test_advice_that_takes_back_better_advice_is_left_out():
    issues = ("unfused_elementwise", "fusion_noop")
    asked = question("elementwise_chain", "nvidia-h200", *issues)
    selection = select(BASE, asked)
    opposed = {each.recipe: each.reason for each in selection.left_out if each.kind == "opposed"}
    assert "takes back" in opposed["fusion.undo_what_saves_nothing"]


def test_stages_and_versions_are_heeded():
    asked = question("matmul_upcast", "nvidia-h200", "missing_tma", "no_swizzling", triton="3.2")
    old = select(BASE, asked)
    assert "memory.hardware_tile_loads" not in names(old)
    kinds = {each.recipe: each.kind for each in old.left_out}
    assert kinds["memory.hardware_tile_loads"] == "version"
    one = select(BASE, replace(asked, triton="3.7", stages=frozenset({"device_specific"})))
    assert {each.recipe.stage for each in one.chosen} == {"device_specific"}


def test_the_same_question_gets_the_same_answer():
    asked = question("attention_forward", "nvidia-a100", "missing_autotune", "sigmoid_slow_exp")
    assert select(BASE, asked) == select(BASE, asked)


def test_what_is_asked_for_by_name_needs_no_issue_and_no_stage():
    wanted = frozenset({"tiles.group_tile_rows", "precision.no_float64"})
    asked = question("matmul_upcast", "nvidia-h200", only=wanted, stages=frozenset({"fusion"}))
    selection = select(BASE, asked)
    assert {*names(selection), *(each.recipe for each in selection.left_out)} == wanted
    (left,) = (each for each in selection.left_out if each.recipe == "precision.no_float64")
    assert left.kind is LeftOutKind.DOES_NOT_APPLY
    assert "uses_float64" in left.reason


def test_without_a_budget_nothing_is_left_out_for_room():
    issues = ("missing_tma", "no_swizzling", "missing_autotune", "dtype_precision")
    asked = question("matmul_upcast", "nvidia-h200", *issues, budget_tokens=None)
    selection = select(BASE, asked)
    assert selection.budget is None
    assert selection.tokens > 250
    assert all(each.kind is not LeftOutKind.BUDGET for each in selection.left_out)


def test_the_reason_says_how_often_advice_paid_and_where():
    records = {
        "memory.hardware_tile_loads": WinRecord(5, 3),
        "tiles.group_tile_rows": WinRecord(0, 0, estimated=2, estimated_faster=1),
    }
    issues = ("missing_tma", "no_swizzling")
    selection = select(BASE, question("matmul_upcast", "nvidia-h200", *issues, records=records))
    told = {each.recipe.id: each.because for each in selection.chosen}
    assert told["memory.hardware_tile_loads"].endswith("; won 3 of 5 on nvidia-h200")
    assert "won" not in told["nvidia.tma_on_hopper"]
    only_asked = question("matmul_upcast", "nvidia-h200", only=frozenset(records), records=records)
    told = {each.recipe.id: each.because for each in select(BASE, only_asked).chosen}
    assert told["memory.hardware_tile_loads"].startswith("asked for by name; ")


def test_estimates_are_told_and_rank_nothing():
    said = paid(WinRecord(0, 0, estimated=2, estimated_faster=1), "intel-b580")
    assert said == "faster by estimate in 1 of 2 on intel-b580, which counts for nothing"
    assert paid(WinRecord(4, 0, 1, 1), "d").startswith("won 0 of 4 on d; faster by estimate")
    issues = ("no_swizzling", "missing_tma")
    plain = select(BASE, question("matmul_upcast", "nvidia-h200", *issues))
    last = names(plain)[-1]
    guessed = {last: WinRecord(0, 0, estimated=50, estimated_faster=50)}
    asked = question("matmul_upcast", "nvidia-h200", *issues, records=guessed)
    assert names(select(BASE, asked)) == names(plain)
