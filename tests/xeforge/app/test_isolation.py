"""Without walls no user code runs, unless the operator says so."""

import pytest

from bench_workers.sandbox import layers
from xeforge.app.isolation import VARIABLE
from xeforge.app.isolation import is_allowed
from xeforge.app.isolation import required_layer
from xeforge.app.isolation import usable
from xeforge.domain.isolation import caution
from xeforge.domain.isolation import is_walled
from xeforge.errors import ToolchainMissing


@pytest.fixture
def only_bare(monkeypatch):
    """A machine on which no layer with walls works."""
    bare = next(module for module in layers.LAYERS if module.NAME == "bare")
    monkeypatch.setattr(layers, "LAYERS", (bare,))
    monkeypatch.delenv(VARIABLE, raising=False)


def test_every_layer_of_the_sandbox_is_classified():
    names = {module.NAME for module in layers.LAYERS}
    assert {name for name in names if not is_walled(name)} == {"bare"}


def test_a_layer_with_walls_needs_no_permission():
    assert usable("bubblewrap", allow_unsandboxed=False) == "bubblewrap"


def test_a_layer_nobody_knows_counts_as_none():
    with pytest.raises(ToolchainMissing, match="no sandbox works here"):
        usable("igloo", allow_unsandboxed=False)


def test_the_refusal_names_remedy_and_override():
    with pytest.raises(ToolchainMissing) as refusal:
        usable("bare", allow_unsandboxed=False)
    for word in ("apt-get install", "xeforge doctor", "--allow-unsandboxed", f"{VARIABLE}=1"):
        assert word in str(refusal.value)
    assert usable("bare", allow_unsandboxed=True) == "bare"


def test_the_refusal_says_why_each_stronger_layer_fails(monkeypatch):
    rows = (
        layers.Layer("bubblewrap", False, "namespaces are forbidden", "sysctl kernel.x=1"),
        layers.Layer("unshare", False, "unshare is not installed", "apt-get install util-linux"),
        layers.Layer("bare", True, "limits only", ""),
    )
    monkeypatch.setattr(layers, "available_layers", lambda: rows)
    monkeypatch.setattr(layers, "best_layer", lambda: "bare")
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(ToolchainMissing) as refusal:
        required_layer()
    assert "bubblewrap: namespaces are forbidden; unshare: unshare is not" in str(refusal.value)
    assert "remedy: sysctl kernel.x=1" in str(refusal.value)


def test_permission_comes_by_option_or_by_variable():
    assert is_allowed(True, {})
    assert is_allowed(False, {VARIABLE: "1"})
    assert not is_allowed(False, {VARIABLE: "0"})
    assert not is_allowed(False, {})


def test_the_variable_counts_at_the_very_moment_of_asking(only_bare, monkeypatch):
    with pytest.raises(ToolchainMissing):
        required_layer()
    monkeypatch.setenv(VARIABLE, "1")
    assert required_layer() == "bare"


def test_claims_without_walls_say_so():
    assert caution("bubblewrap") == caution("unshare") == ""
    assert "UNSANDBOXED" in caution("bare")


@pytest.mark.parametrize(
    "words",
    [
        ("optimize", "KERNEL", "--device", "cpu"),
        ("verify", "KERNEL", "--device", "cpu"),
        ("bench", "KERNEL", "KERNEL", "--device", "cpu"),
        ("bench", "--selftest", "--device", "cpu"),
        ("demo",),
    ],
)
def test_every_command_that_runs_code_refuses(xeforge, kernel, only_bare, words):
    outcome = xeforge(*(kernel if word == "KERNEL" else word for word in words))
    assert outcome.code == 5
    assert "no sandbox works here" in outcome.said
    assert "--allow-unsandboxed" in outcome.said


def test_with_permission_the_work_is_done_and_the_answer_says_so(xeforge, kernel, only_bare):
    outcome = xeforge("verify", kernel, "--device", "cpu", "--allow-unsandboxed")
    assert outcome.code == 0, outcome.err
    assert "UNSANDBOXED (layer 'bare')" in outcome.out
