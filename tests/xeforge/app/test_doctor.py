"""The diagnosis: every gap has a remedy or says that none is needed."""

import json

from xeforge.app import doctor


def test_rows_keep_their_form_and_every_gap_has_an_answer(xeforge):
    outcome = xeforge("doctor", "--json")
    rows = json.loads(outcome.out)
    assert outcome.code == 0, outcome.out
    for row in rows:
        assert set(row) == {"part", "works", "detail", "remedy", "is_required"}
        assert row["works"] or row["remedy"], row
    parts = [row["part"] for row in rows]
    assert len(parts) == len(set(parts))
    assert {"python", "torch", "triton", "isolation in force", "cuda", "xpu"} <= set(parts)


def test_people_see_what_is_in_force(xeforge):
    outcome = xeforge("doctor")
    assert "IN FORCE" in outcome.out
    assert "limit: network" in outcome.out
    assert "missing" not in outcome.out


def test_no_card_needs_nothing_but_a_hidden_one_does():
    none = doctor._no_card("xpu", "", nodes=[])
    assert none.remedy.startswith("none needed")
    hidden = doctor._no_card("xpu", "", nodes=["/dev/dri/renderD128"])
    assert "XPU build of torch" in hidden.remedy
    broken = doctor._no_card("cuda", "the run child: no driver", nodes=["/dev/nvidia0"])
    assert broken.remedy
    assert "no driver" in broken.detail
