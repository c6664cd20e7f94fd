import os
from functools import partial

import pytest

from bench_workers.sandbox import bwrap
from bench_workers.sandbox.identity import make_place
from bench_workers.sandbox.policy import default_policy
from tests.conformance.sandbox import SandboxSuite
from tests.conformance.sandbox import lines
from tests.conformance.sandbox_limits import LimitSuite
from tests.conformance.sandbox_siblings import SiblingSuite
from tests.conformance.sandbox_walls import WallSuite

IS_ROOT = os.geteuid() == 0
USER = "import os\nanswer['uid'] = os.getuid()"


def see_users(children):
    users = {lines(child, USER)["uid"] for child in children}
    owners = {child.directory.stat().st_uid for child in children}
    if IS_ROOT:
        assert users == owners
        assert len(users) == 2
        assert not users & {0, 65534}
    else:
        assert users == {65534}
        assert owners == {os.geteuid()}


class TestSandbox(SandboxSuite, LimitSuite, WallSuite):
    """In the form that is used here: under root each child is a user of its own."""

    @pytest.fixture
    def starter(self, start_in):
        return partial(start_in, bwrap, own_user=IS_ROOT)

    def test_each_child_is_nobody_or_somebody_else(self, starter):
        see_users((starter(), starter()))


def test_it_is_found_where_this_process_finds_programs(tmp_path, monkeypatch):
    (tmp_path / "bwrap").write_text("")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    place = make_place(tmp_path / "work", uid=None)
    words = bwrap.command(default_policy("cpu", layer="bubblewrap"), place, {})
    assert words[0] == str(tmp_path / "bwrap")


class TestAsThisUser(WallSuite):
    """In the form for ordinary users, and for a root that may not change the user."""

    @pytest.fixture
    def starter(self, start_in):
        return partial(start_in, bwrap, own_user=False)

    def test_it_is_nobody_inside(self, starter):
        assert lines(starter(), USER) == {"uid": 65534}


class TestFromZygote(SandboxSuite, LimitSuite, WallSuite, SiblingSuite):
    """Forked instead of started, in the form that is used here."""

    @pytest.fixture
    def starter(self, fork_in):
        return partial(fork_in, bwrap, own_user=IS_ROOT)

    def test_each_child_is_nobody_or_somebody_else(self, starter):
        see_users((starter(), starter()))


class TestFromZygoteAsThisUser(WallSuite, SiblingSuite):
    """Forked, in the form for ordinary users."""

    @pytest.fixture
    def starter(self, fork_in):
        return partial(fork_in, bwrap, own_user=False)

    def test_it_is_nobody_inside_and_makes_no_user_namespace(self, starter):
        child = starter()
        assert lines(child, USER) == {"uid": 65534}
        source = (
            "import ctypes\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "answer['made'] = libc.unshare(0x10000000)\n"
        )
        assert lines(child, source) == {"made": -1}
