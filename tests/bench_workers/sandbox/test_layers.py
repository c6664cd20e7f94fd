import os
import types

import pytest

from bench_workers.sandbox import layers
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import LAYERS
from bench_workers.sandbox.layers import available_layers
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.layers import standing
from bench_workers.sandbox.policy import default_policy
from xeforge.errors import PlatformError
from xeforge.errors import ToolchainMissing


@pytest.fixture
def broken(monkeypatch):
    """Replace the strongest layer by one whose program is not installed."""
    missing = types.SimpleNamespace(
        **{
            name: getattr(LAYERS[0], name)
            for name in ("harness", "home", "COUNTS_USERS", "SUMMARY")
        },
        NAME="armour",
        PROGRAM="no-such-program",
        REMEDY="apt-get install armour",
        command=lambda *_: ["no-such-program"],
    )
    monkeypatch.setattr(layers, "LAYERS", (missing, *LAYERS[1:]))
    return missing


def test_all_layers_work_where_our_system_packages_are_installed():
    rows = available_layers()
    assert [row.name for row in rows] == ["bubblewrap", "unshare", "bare", "zygote"]
    assert [row for row in rows if not row.is_active] == []
    assert all(row.detail and not row.remedy for row in rows)
    assert best_layer() == "bubblewrap"


def test_under_root_children_become_users_of_their_own():
    assert standing("bubblewrap").changes_user == (os.geteuid() == 0)


def test_a_layer_is_tried_once():
    standing("bubblewrap")
    hits = layers._probe.cache_info().hits
    standing("bubblewrap")
    assert layers._probe.cache_info().hits == hits + 1


def test_a_missing_program_is_reported_with_its_remedy(broken):
    row = available_layers()[0]
    assert (row.name, row.is_active, row.remedy) == ("armour", False, "apt-get install armour")
    assert "no-such-program is not installed" in row.detail
    assert best_layer() == "unshare"
    with pytest.raises(ToolchainMissing, match="remedy: apt-get install armour"):
        launch("echo", default_policy("cpu", layer="armour"))


def test_a_layer_whose_child_fails_is_reported_with_the_reason(broken, monkeypatch):
    layers._probe.cache_clear()
    monkeypatch.setattr(broken, "command", lambda *_: ["sh", "-c", "echo refused >&2; exit 1"])
    row = available_layers()[0]
    layers._probe.cache_clear()
    assert not row.is_active
    assert "refused" in row.detail


def test_no_layer_at_all_is_an_error_that_names_what_to_install(broken, monkeypatch):
    monkeypatch.setattr(layers, "LAYERS", (broken,))
    with pytest.raises(ToolchainMissing, match="apt-get install bubblewrap"):
        best_layer()


def test_an_unknown_layer_is_named_with_the_known():
    with pytest.raises(PlatformError, match="there are bubblewrap, unshare, bare"):
        standing("igloo")
