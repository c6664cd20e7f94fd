"""What `xeforge doctor` says of isolation is what a child saw from inside."""

from types import MappingProxyType

import pytest

from bench_workers.sandbox.policy import default_policy
from xeforge.app.diagnosis import chosen_row
from xeforge.app.diagnosis import isolation_rows
from xeforge.app.diagnosis import limit_rows

GIB = 1 << 30
SEEN = MappingProxyType(
    {
        "interfaces": ["lo"],
        "processes": 2,
        "uid": 2_000_000_001,
        "seen": [],
        "variables": ["HOME", "PATH"],
        "limits": {"NPROC": 512, "NOFILE": 1024, "FSIZE": 2 * GIB, "CPU": 3600, "CORE": 0},
    }
)


def rows(memory_bytes=64 * GIB, outside=("HOME", "PATH", "API_KEY"), **changes):
    policy = default_policy("cpu", layer="bubblewrap")
    given = limit_rows(policy, {**SEEN, **changes}, outside=outside, memory_bytes=memory_bytes)
    return {each.part.removeprefix("limit: "): each for each in given}


def test_a_child_behind_walls_is_held_in_on_every_count():
    found = rows()
    assert set(found) == {"network", "files", "processes", "memory", "time", "user", "environment"}
    assert [each for each in found.values() if not each.works or each.remedy] == []


@pytest.mark.parametrize(
    ("part", "change", "word"),
    [
        ("network", {"interfaces": ["lo", "eth0"]}, "open: eth0"),
        ("files", {"seen": ["/home/me/jobs"]}, "/home/me/jobs can be seen"),
        ("processes", {"processes": 214}, "it sees 214 processes"),
        ("memory", {"memory_bytes": 8 * GIB}, "this machine has 8 GiB"),
        ("environment", {"variables": ["API_KEY", "HOME"]}, "ours leak: API_KEY"),
    ],
)
def test_what_is_open_is_said_with_a_remedy(part, change, word):
    row = rows(**change)[part]
    assert not row.works
    assert word in row.detail
    assert row.remedy


def test_root_is_no_user_for_foreign_code():
    assert not rows(uid=0)["user"].works


def test_without_walls_code_is_refused_or_the_permission_is_told():
    refused = chosen_row("bare", is_permitted=False)
    assert not refused.works
    assert refused.is_required
    assert "user code is refused" in refused.detail
    allowed = chosen_row("bare", is_permitted=True)
    assert allowed.works
    assert "UNSANDBOXED" in allowed.detail
    assert chosen_row("unshare", is_permitted=False).works


def test_the_layer_in_force_is_marked_and_asked_from_inside(tmp_path):
    found = isolation_rows((tmp_path,))
    marked = [each.part for each in found if each.detail.startswith("IN FORCE")]
    assert marked == ["isolation: bubblewrap"]
    limits = [each for each in found if each.part.startswith("limit: ")]
    assert [each for each in limits if not each.works and each.part != "limit: memory"] == []
