from functools import partial

import pytest

from bench_workers.sandbox import bare
from tests.conformance.sandbox import SandboxSuite
from tests.conformance.sandbox import lines
from tests.conformance.sandbox_limits import LimitSuite
from tests.conformance.sandbox_siblings import PoisonSuite


class TestBare(SandboxSuite, LimitSuite):
    @pytest.fixture
    def starter(self, start_in):
        return partial(start_in, bare, own_user=False)

    def test_it_works_in_a_folder_of_its_own(self, starter):
        child = starter()
        found = lines(child, "import os\nanswer['folder'] = os.getcwd()")
        assert found == {"folder": str(child.directory)}


class TestFromZygote(SandboxSuite, LimitSuite, PoisonSuite):
    @pytest.fixture
    def starter(self, fork_in):
        return partial(fork_in, bare, own_user=False)

    def test_it_works_in_a_folder_of_its_own(self, starter):
        child = starter()
        found = lines(child, "import os\nanswer['folder'] = os.getcwd()")
        assert found == {"folder": str(child.directory)}


def test_its_summary_hides_nothing():
    assert "open to the child" in bare.SUMMARY
