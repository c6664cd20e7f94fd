"""The benchmark of starts, with children that load nothing."""

import json

from benchmarks.harness import child_start


def test_all_kinds_are_measured_and_written(tmp_path, capsys):
    out = tmp_path / "start.json"
    assert child_start.main(["--repeats", "2", "--preload", "", "--out", str(out)]) == 0
    record = json.loads(out.read_text())
    assert [each["kind"] for each in record["kinds"]] == ["cold", "spare", "zygote"]
    for each in record["kinds"]:
        for name in ("start_seconds", "close_seconds", "cpu_seconds"):
            assert len(each[name]) == 2
            assert all(0 < value < 60 for value in each[name])
    table = capsys.readouterr().out
    assert record["layer"] in table
    assert table.count(" to ") == 9
