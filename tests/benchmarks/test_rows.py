"""The benchmark of row folds and chains: its modules, its table, its goals."""

import pytest
import torch

from benchmarks.fusion import rows

COPY_BYTES_PER_S = 4e12


def _row(name, *, us=10.0, moved=38_000_000, over=1.1):
    return {
        "id": name,
        "best": "fused_0_0",
        "microseconds": {"fused_0_0": us, "compiled": us * over},
        "compulsory_bytes": moved,
        "over_compiled": {"ratio": over, "low": over, "high": over},
    }


def _record(**changed):
    found = {name: _row(name) for name in rows.MODULES}
    found |= {name: _row(name, **words) for name, words in changed.items()}
    return {"copy_bytes_per_s": COPY_BYTES_PER_S, "rows": list(found.values())}


@pytest.mark.parametrize("name", rows.MODULES)
def test_each_module_is_a_reference_file(name):
    scope = {}
    exec(compile(rows.reference(name), f"{name}.py", "exec"), scope)
    model = scope["Model"](*scope["get_init_inputs"]())

    assert isinstance(model, torch.nn.Module)
    assert sum(each.numel() for each in model.parameters()) < 1 << 20


@pytest.mark.parametrize("name", rows.MODULES)
def test_each_module_moves_at_least_64_mb(name):
    module = rows.MODULES[name]
    size = 4 if module.dtype == "float32" else 2
    largest = max(shape[0] * shape[-1] for shape in module.inputs.values() if len(shape) > 1)

    assert largest * size >= 64 << 20


def test_share_is_bytes_over_time_over_the_rate_of_a_copy():
    assert rows.share(_row("softmax", us=10.0, moved=38_000_000), 4e12) == pytest.approx(0.95)


def test_goals_are_met_only_when_each_module_is_fast_enough():
    assert rows.meets_goals(_record())
    assert not rows.meets_goals(_record(softmax={"us": 12.0}))
    assert not rows.meets_goals(_record(softmax={"over": 0.99}))


def test_a_module_that_was_not_timed_is_named_and_misses_the_goal():
    record = _record()
    record["rows"] = [each for each in record["rows"] if each["id"] != "swiglu"]

    assert rows.table(record)[-1] == "not timed: swiglu"
    assert not rows.meets_goals(record)
