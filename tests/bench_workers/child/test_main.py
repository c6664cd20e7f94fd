from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bench_workers.child import protocol
from bench_workers.sandbox import bare
from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.policy import CHILD_DIRECTORY
from bench_workers.sandbox.policy import default_policy
from xeforge.errors import CandidateRaised
from xeforge.errors import PlatformError


@pytest.fixture
def launch_bare():
    return partial(launch, policy=default_policy("cpu", layer=bare.NAME))


def run(child, source):
    return child.request("run", {"source": source}, deadline_seconds=20)


def test_modules_are_loaded_ahead_and_their_versions_told(launch_bare):
    with launch_bare("echo", options={"preload": ["numpy", "json"]}) as child:
        assert child.versions == {"numpy": np.__version__, "json": "2.0.9"}
        assert run(child, "import sys\nanswer['there'] = 'numpy' in sys.modules") == {"there": True}


def test_variables_are_set_before_modules_are_loaded(launch_bare, tmp_path: Path):
    (tmp_path / "ahead_of_time.py").write_text("import os\n__version__ = os.environ['MODE']\n")
    options = {
        "paths": [str(tmp_path)],
        "environment": {"MODE": "interpreted"},
        "preload": ["ahead_of_time"],
    }
    with launch_bare("echo", options=options) as child:
        assert child.versions == {"ahead_of_time": "interpreted"}


def test_what_cannot_be_loaded_is_our_fault_and_is_told(launch_bare):
    with pytest.raises(PlatformError, match="No module named 'no_such_module'"):
        launch_bare("echo", options={"preload": ["no_such_module"]})


def test_an_unknown_role_is_our_fault(launch_bare):
    with pytest.raises(PlatformError, match="no role 'dance'; known: prepare, oracle, run, build"):
        launch_bare("dance")


def test_a_spare_takes_its_role_later(launch_bare):
    with launch_bare("spare") as child:
        with pytest.raises(PlatformError, match="cannot do 'echo'"):
            child.request("echo", {}, deadline_seconds=10)
        child.take_role("echo", {}, seconds=10)
        assert child.role == "echo"
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
        with pytest.raises(PlatformError, match="can take the role 'dance'"):
            child.take_role("dance", {}, seconds=10)


def test_the_deepest_line_of_the_candidate_is_named(launch_bare):
    with launch_bare("echo") as child:
        source = "def outer():\n    inner()\ndef inner():\n    raise OSError('deep')\nouter()\n"
        with pytest.raises(CandidateRaised) as caught:
            run(child, source)
        assert caught.value.line == 4
        with pytest.raises(CandidateRaised) as caught:
            run(child, "import json\n\njson.loads('{')\n")
        assert (caught.value.kind, caught.value.line) == ("JSONDecodeError", 3)


def test_a_circle_of_causes_ends(launch_bare):
    source = "a, b = ValueError('a'), ValueError('b')\na.__cause__ = b\nb.__cause__ = a\nraise a"
    with launch_bare("echo") as child, pytest.raises(CandidateRaised) as caught:
        run(child, source)
    assert caught.value.line == 4


def test_the_child_imports_nothing_of_ours(launch_bare):
    source = (
        "import sys\n"
        "answer['ours'] = [n for n in sys.modules if n.startswith(('xeforge', 'bench_workers'))]\n"
        "answer['protocol'] = sys.modules['protocol'].__file__\n"
    )
    with launch_bare("echo") as child:
        found = run(child, source)
    assert found["ours"] == []
    assert Path(found["protocol"]) == CHILD_DIRECTORY / "protocol.py"
    assert Path(protocol.__file__) == CHILD_DIRECTORY / "protocol.py"
