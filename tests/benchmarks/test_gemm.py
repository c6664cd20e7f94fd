"""Plain products beside the library: what is written for a card, and how its record is read."""

import ast
import json

import pytest

from benchmarks.fusion.gemm import SHAPES
from benchmarks.fusion.gemm import Result
from benchmarks.fusion.gemm import main
from benchmarks.fusion.gemm import make
from benchmarks.fusion.gemm import reference

PAIR = {"square_1024": SHAPES["square_1024"], "rows_16": SHAPES["rows_16"]}


def row(name, *, ratio, first=20.0):
    """A row as `card` writes it."""
    return {
        "id": name,
        "best": "fused_0_1",
        "choosing": {"fused_0_0": first, "fused_0_1": 10.0},
        "microseconds": {"eager": 10.0 * ratio, "fused_0_1": 10.0},
        "over_eager": {"ratio": ratio, "low": ratio - 0.1, "high": ratio + 0.1},
    }


def test_the_shapes_are_of_all_kinds():
    assert len(SHAPES) >= 24
    assert {m for m, n, k in SHAPES.values() if m == n == k} >= {1024, 2048, 4096, 8192}
    assert any(m >= 16 * n for m, n, _ in SHAPES.values())
    assert any(n >= 16 * m for m, n, _ in SHAPES.values())
    assert {m for m, n, k in SHAPES.values() if min(n, k) >= 4096} >= {16, 32, 64, 128, 256}
    assert any(k % 8 for _, _, k in SHAPES.values())
    assert any(n % 8 and not k % 8 for _, n, k in SHAPES.values())


def test_the_module_multiplies_by_the_transposed_weight():
    names = {}
    exec(compile(reference((5, 7, 3)), "ref.py", "exec"), names)
    model = names["Model"](*names["get_init_inputs"]())
    (x,) = names["get_inputs"]()
    assert model.linear.weight.shape == (7, 3)
    assert (model(x) - x @ model.linear.weight.T).abs().max() < 1e-6


def test_files_are_written_for_each_choice_and_old_ones_go(tmp_path):
    (tmp_path / "rows_16").mkdir()
    (tmp_path / "rows_16" / "fused_9_9.py").write_text("old", encoding="utf-8")
    make({"rows_16": SHAPES["rows_16"]}, tmp_path, "nvidia-h200", 3)
    folder = tmp_path / "rows_16"
    made = sorted(each.name for each in folder.glob("fused_*.py"))
    assert made[0] == "fused_0_0.py"
    assert "fused_9_9.py" not in made
    texts = [(folder / each).read_text(encoding="utf-8") for each in made]
    assert len(set(texts)) == len(texts)
    assert all("tl.dot" in each and ast.parse(each) for each in texts)
    assert (folder / "dtype").read_text(encoding="utf-8") == "float16"


def test_a_record_becomes_a_table():
    result = Result.of([row("square_1024", ratio=0.95), row("rows_16", ratio=1.2)], PAIR)
    assert result.geomean() == pytest.approx((0.95 * 1.2) ** 0.5)
    assert [each.first_ratio for each in result.rows] == [
        pytest.approx(0.475),
        pytest.approx(0.6),
    ]
    text = "\n".join(result.lines())
    assert "worst 0.950 (square_1024), 2 shapes" in text
    assert "not timed" not in text
    assert result.meets_goals()


@pytest.mark.parametrize(
    "rows",
    [
        [row("square_1024", ratio=0.89), row("rows_16", ratio=2.0)],
        [row("square_1024", ratio=0.95), row("rows_16", ratio=1.0)],
        [row("square_1024", ratio=2.0), {"id": "rows_16", "failures": {}, "errors": {}}],
        [],
    ],
)
def test_goals_are_missed_where_one_is_slow_or_untimed_or_the_mean_is_low(rows):
    assert not Result.of(rows, PAIR).meets_goals()


def test_a_first_choice_that_was_not_timed_counts_as_nothing():
    failed = row("rows_16", ratio=1.5)
    del failed["choosing"]["fused_0_0"]
    result = Result.of([failed], {"rows_16": SHAPES["rows_16"]})
    assert result.geomean("first_ratio") == 0.0
    assert result.geomean() == pytest.approx(1.5)


def test_show_fails_where_shapes_are_missing(tmp_path, capsys):
    out = tmp_path / "gemm.json"
    out.write_text(json.dumps({"rows": [row("rows_16", ratio=1.5)]}), encoding="utf-8")
    assert main(["show", "--out", str(out)]) == 1
    assert "not timed: square_1024" in capsys.readouterr().out
    assert main(["show", "--out", str(out), "--only", "rows_16"]) == 0


@pytest.mark.parametrize("words", [["make"], ["time", "--out", "x"], ["show", "--what"]])
def test_what_is_missing_or_unknown_is_named(words, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert "missing" in capsys.readouterr().err or words[0] == "show"
