import dataclasses
import os
import types

import pytest

from bench_workers.sandbox import layers
from bench_workers.sandbox import warm as module
from bench_workers.sandbox.layers import available_layers
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.layers import zygote_problem
from bench_workers.sandbox.policy import default_policy
from bench_workers.sandbox.spares import Spares
from bench_workers.sandbox.warm import WarmChildren
from bench_workers.sandbox.warm import method
from bench_workers.sandbox.zygote import Zygote
from tests.conformance.sandbox import lines
from xeforge.errors import PlatformError


@pytest.fixture(scope="module")
def policy():
    return default_policy("cpu", layer=best_layer(), threads=1)


@pytest.fixture
def forbidden(monkeypatch):
    """A machine on which a zygote starts but must not put its children apart."""
    best = layers.standing(best_layer()).module
    crippled = types.SimpleNamespace(**vars(best))
    crippled.zygote = lambda *given, **named: [
        *best.zygote(*given, **named),
        *("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--ambient-caps=-all"),
    ]
    form = layers.Form(crippled, layers.standing(best_layer()).changes_user)
    monkeypatch.setattr(layers, "standing", lambda _: form)
    layers._probe_zygote.cache_clear()
    yield
    layers._probe_zygote.cache_clear()


@pytest.fixture
def make(policy):
    made = []

    def begin(**changes):
        made.append(WarmChildren(policy, options={"preload": []}, **changes))
        return made[-1]

    yield begin
    for warm in made:
        warm.close()


def test_children_are_forked_where_that_works(make, policy):
    assert zygote_problem(policy.layer) == ""
    assert method(policy.layer) == "zygote"
    warm = make()
    assert isinstance(warm._source, Zygote)
    with warm.take("echo") as child:
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}


def test_where_it_does_not_doctor_says_why_and_spares_do_the_work(forbidden, make, policy):
    assert "not permitted" in zygote_problem(policy.layer)
    assert method(policy.layer) == "spares"
    row = available_layers()[-1]
    assert (row.name, row.is_active) == ("zygote", False)
    assert "not permitted" in row.detail
    assert "Linux" in row.remedy
    warm = make()
    assert isinstance(warm._source, Spares)
    with warm.take("echo") as child:
        assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}


@pytest.mark.parametrize("way", ["zygote", "spares"])
def test_a_take_may_name_its_own_descriptors(make, monkeypatch, way):
    monkeypatch.setattr(module, "method", lambda _: way)
    common, special = os.memfd_create("common"), os.memfd_create("special")
    warm = make(inherit=(common,))
    source = (
        "import os\n"
        "names = []\n"
        "for number in os.listdir('/proc/self/fd'):\n"
        "  try: names.append(os.readlink('/proc/self/fd/' + number))\n"
        "  except OSError: pass\n"
        "answer['there'] = [name for name in names if 'memfd' in name]\n"
    )
    with warm.take("echo") as child:
        assert lines(child, source) == {"there": ["/memfd:common (deleted)"]}
    with warm.take("echo", inherit=(special,)) as child:
        assert lines(child, source) == {"there": ["/memfd:special (deleted)"]}
    with warm.take("echo", inherit=()) as child:
        assert lines(child, source) == {"there": []}
    os.close(common)
    os.close(special)


def test_closed_it_gives_no_more(make):
    warm = make()
    warm.close()
    warm.close()
    with pytest.raises(PlatformError, match="is closed"):
        warm.take("echo")


def test_a_library_that_starts_threads_costs_time_and_nothing_else(policy, tmp_path, caplog):
    """Some builds of torch start one while they are imported."""
    (tmp_path / "threaded.py").write_text(
        "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    )
    tmp_path.chmod(0o755)
    reaching = dataclasses.replace(policy, readable=(*policy.readable, tmp_path))
    options = {"preload": ["threaded"], "paths": [str(tmp_path)]}
    warm = WarmChildren(reaching, ahead=1, options=options)
    try:
        for _ in range(2):
            with warm.take("echo") as child:
                assert child.request("echo", {"a": 1}, deadline_seconds=10) == {"a": 1}
        assert isinstance(warm._source, Spares)
        assert method(policy.layer) == "spares"
    finally:
        warm.close()
        module._UNFIT.clear()
    (said,) = [each.getMessage() for each in caplog.records]
    assert said.startswith("children are started one by one: the zygote has 2 threads (")
