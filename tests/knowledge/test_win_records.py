"""Wins and losses go to JSON and back; what is wrong in a file is named with its place."""

import json

import pytest

from knowledge.load import read_devices
from knowledge.packs import load_base
from knowledge.win_records import dumps_wins
from knowledge.win_records import read_wins
from xeforge.domain.wins import WinRecord
from xeforge.errors import BadRequest

SUMS, ROWS = "memory.relaxed_sums", "tiles.group_tile_rows"
ENTRY = {"tried": 4, "won": 3}


@pytest.fixture
def read(tmp_path):
    def from_text(content: str, device: str = "nvidia-h200"):
        path = tmp_path / "record.json"
        path.write_text(content, encoding="utf-8")
        ids = load_base().ids
        return read_wins(path, device=device, recipes=ids, devices=read_devices())

    return from_text


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[", "no record of wins"),
        ("[1]", "no record of wins"),
        (json.dumps({SUMS: {"tried": 1}}), f"{SUMS}.won"),
        (json.dumps({SUMS: {"tried": 1, "won": -1}}), f"{SUMS}.won"),
        (json.dumps({SUMS: {"tried": 1, "won": 0.5}}), f"{SUMS}.won"),
        (json.dumps({SUMS: {"tried": 1, "won": 1, "lost": 0}}), f"{SUMS}.lost"),
        (json.dumps({"memory.relaxed_sum": ENTRY}), f"did you mean '{SUMS}'"),
        (json.dumps({SUMS: {"tried": 1, "won": 2}}), "2 wins in 1 trials"),
        (json.dumps({"nvidia-h20": {SUMS: ENTRY}}), "did you mean 'nvidia-h200'"),
        (json.dumps({"nvidia-h200": ENTRY}), "nvidia-h200.tried"),
        (json.dumps({SUMS: ENTRY, "nvidia-h200": {ROWS: ENTRY}}), "nvidia-h200.tried"),
    ],
)
def test_wrong_records_are_refused(read, content, words):
    with pytest.raises(BadRequest) as caught:
        read(content)
    assert words in str(caught.value)
    assert caught.value.remedy


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(BadRequest, match="No such file"):
        read_wins(tmp_path / "none.json", device="nvidia-h200", recipes=(), devices=())


def test_records_without_devices_are_about_the_one_that_is_asked_for(read):
    for device in ("nvidia-h200", "intel-b580"):
        assert read(json.dumps({SUMS: ENTRY}), device) == {SUMS: WinRecord(4, 3)}


def test_what_is_written_is_read_back_device_by_device(read):
    wins = {
        "intel-b580": {SUMS: WinRecord(2, 0)},
        "nvidia-h200": {ROWS: WinRecord(5, 3, 7, 6), SUMS: WinRecord(0, 0, 1, 1)},
        "nvidia-a100": {SUMS: WinRecord(0, 0, 1, 1)},
    }
    text = dumps_wins(wins)
    assert json.loads(text) == {
        "intel-b580": {SUMS: {"tried": 2, "won": 0}},
        "nvidia-h200": {ROWS: {"tried": 5, "won": 3}},
    }
    assert read(text) == {ROWS: WinRecord(5, 3)}
    assert read(text, "intel-b580") == {SUMS: WinRecord(2, 0)}
    assert read(text, "nvidia-a100") == {}
    assert read(dumps_wins({})) == {}


def test_no_device_has_a_dot_in_its_name_and_every_recipe_has():
    assert all("." not in each for each in read_devices())
    assert all("." in each for each in load_base().ids)
