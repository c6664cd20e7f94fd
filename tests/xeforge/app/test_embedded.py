"""What the driver starts beside what is under way."""

from xeforge.app.embedded import _startable
from xeforge.domain.steps import Build
from xeforge.domain.steps import Confirm
from xeforge.domain.steps import Finish
from xeforge.domain.steps import Gate
from xeforge.domain.steps import Run


def test_builds_go_on_beside_a_run_but_no_second_run():
    ready = (Run("t2", "t0"), Build("t3"), Gate("t4"))
    assert _startable(ready, [Run("t1", "t0")]) == [Build("t3"), Gate("t4")]


def test_nothing_is_started_twice():
    assert _startable((Build("t1"), Build("t2")), [Build("t1")]) == [Build("t2")]


def test_a_job_ends_only_when_nothing_is_under_way():
    assert _startable((Finish("unchanged", None, ""),), [Build("t1")]) == []
    assert _startable((Confirm("t1"),), [Build("t2")]) == []
    assert _startable((Confirm("t1"),), []) == [Confirm("t1")]
