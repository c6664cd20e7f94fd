"""What the fusion compiler proposes, for which inputs, and why it sometimes proposes nothing."""

import ast
import re
from dataclasses import replace

import pytest

from knowledge.load import find_device
from tests.xeforge.propose.fused_graphs import KERNEL
from tests.xeforge.propose.fused_graphs import Exporter
from tests.xeforge.propose.fused_graphs import problem
from tests.xeforge.propose.fused_graphs import workload
from xeforge.domain.candidate import Candidate
from xeforge.domain.declined import Declined
from xeforge.domain.declined import DeclineReason
from xeforge.domain.trial import Trial
from xeforge.domain.verdict import Reason
from xeforge.domain.verdict import rejected
from xeforge.errors import PlatformError
from xeforge.ports import Assignment
from xeforge.propose.fusion_compiler import FusionCompiler
from xeforge.source.knobs import find_knobs
from xeforge.verify.gate import gate

DEVICE = find_device("nvidia-h200")
SMALL = workload(64, 128)


def assignment(question=None, *, parent=None, stage="fusion", standing=None, limit=4, **more):
    question = question or problem()
    source = question.kernel.text if parent is None else parent
    base = Candidate("t0", "t0", "", "user", source, "as submitted", {})
    given = Assignment(stage, question, DEVICE, base, None, (), (), 0, limit, 0)
    given = replace(given, standing=standing or {}, capture=Exporter())
    return replace(given, **more)


def proposed(*arguments, **options):
    found = FusionCompiler().propose(assignment(*arguments, **options))
    assert not isinstance(found, Declined), found
    return found


def declined(*arguments, **options):
    found = FusionCompiler().propose(assignment(*arguments, **options))
    assert isinstance(found, Declined), found
    return found


def launches(source, host):
    """Return kernel and keywords of the first launch of a host function."""
    tree = ast.parse(source)
    node = next(each for each in tree.body if getattr(each, "name", "") == host)
    call = next(
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Subscript)
    )
    return call.func.value.id, {each.arg: ast.unparse(each.value) for each in call.keywords}


def test_files_differ_in_tiles_and_say_what_was_fused_and_for_which_inputs():
    found = proposed()
    assert len(found) == len({each.source for each in found}) == 4
    first = found[0]
    assert "plan fused: 1 kernel for" in first.because
    assert re.search(r"traffic on bench\[0\] by the model .* -> .*, tile 128x256x64", first.because)
    assert "exactly the inputs of bench[0] (float16 8192x4096)" in first.scope
    assert first.settings == {}


def test_the_same_question_has_the_same_answer():
    assert proposed(limit=2) == proposed(limit=2)


def test_no_more_than_asked_for():
    assert len(proposed(limit=1)) == 1


def test_every_file_passes_the_gate():
    for each in proposed():
        complaints = [f for f in gate(problem(), each.source, DEVICE) if not f.passed]
        assert not complaints


def test_the_kernel_s_own_path_stays_as_it_was():
    source = proposed(limit=1)[0].source
    assert KERNEL.partition("class Model")[0].strip() in source
    tail = KERNEL.partition('"""Return the answer."""\n')[2]
    assert source.endswith(tail)
    assert "fused = self._fused_answer(rows)" in source


def test_the_choice_asks_for_shape_format_layout_device_and_constructor():
    source = proposed(limit=1)[0].source
    assert "((8192, 4096), torch.float16)" in source
    assert "((4096, 4096), torch.float16)" in source, "weights are looked at, too"
    assert "given = (rows, self.lin.weight)" in source
    assert "if self._fused_made_with == [4096, 2.0] and _fused_fits(given, wanted):" in source
    assert "self._fused_made_with = [width, factor]" in source
    for word in ("is_contiguous()", "storage_offset()", ".device !=", ".dtype !="):
        assert word in source


def test_each_timed_workload_gets_a_path_of_its_own():
    question = problem(workload(), workload(4096, 2048, name="bench[1]", factor=0.25))
    source = proposed(question, limit=1)[0].source
    assert "[4096, 2.0]" in source
    assert "[2048, 0.25]" in source
    one, first = launches(source, "_fused_bench_0")
    other, second = launches(source, "_fused_bench_1")
    assert one == other, "the same kernel up to numbers is one function"
    assert "8192" in first.values()
    assert "4096" in second.values()


def test_what_stands_for_a_workload_in_the_checks_runs_the_very_same_kernels():
    for each in proposed(standing={"bench[0]": SMALL}):
        timed, _ = launches(each.source, "_fused_bench_0")
        checked, words = launches(each.source, "_fused_checks_of_bench_0")
        assert timed == checked
        assert "64" in words.values()


def test_several_tiles_are_checked_where_one_would_hold_all():
    source = proposed(standing={"bench[0]": SMALL}, limit=1)[0].source
    body = source.partition("def _fused_checks_of_bench_0")[2]
    blocks = tuple(map(int, re.search(r"blocks = \((\d+), (\d+)", body).groups()))
    assert (64 // blocks[0]) * (128 // blocks[1]) > 1


def test_nothing_is_proposed_that_could_not_be_checked():
    """At 60 columns a row mask is needed that 4096 columns do not have."""
    found = declined(standing={"bench[0]": workload(50, 60)})
    assert found.reason is DeclineReason.UNCHECKABLE
    assert "bench[0]" in found.message


def test_other_checked_shapes_take_the_fused_path_where_they_run_the_same_kernels():
    even, ragged = workload(32, 64, name="ci[0]"), workload(33, 63, name="ci[1]")
    source = proposed(checked=(even, ragged), limit=1)[0].source
    assert "_fused_checks_of_ci_0" in source
    assert "_fused_checks_of_ci_1" not in source


def test_block_sizes_are_no_knobs_since_masks_were_decided_with_them():
    knobs = find_knobs(proposed(limit=1)[0].source)
    fused = {each.name for each in knobs if each.kernel.startswith("fused_")}
    assert {"num_warps", "num_stages"} <= fused
    assert not any(each.startswith("BLOCK") for each in fused)


def test_all_is_said_in_the_first_round_and_in_the_first_stage():
    assert proposed(round=1) == ()
    old = Candidate("t1", "t0", "algorithmic", "fusion_compiler", "x = 1", "", {})
    trial = Trial("t1", "t0", rejected(Reason.NO_SPEEDUP, "slower"))
    assert declined(tried=((old, trial),)).reason is DeclineReason.NOTHING_NEW


def test_the_stage_algorithmic_wants_a_rewrite():
    found = declined(stage="algorithmic")
    assert found.reason is DeclineReason.NOTHING_NEW
    assert "no rewrite" in found.message


def test_a_file_that_chooses_already_is_left_alone():
    source = proposed(limit=1)[0].source
    found = declined(parent=source)
    assert found.reason is DeclineReason.ENTRY


def moody(graph):
    """A graph that depends on the mode."""
    (first, *others) = graph.nodes
    renamed = "train_linear" if graph.mode == "train" else "eval_linear"
    moved = replace(others[0], args=(replace(others[0].args[0], name=renamed),))
    return replace(graph, nodes=(replace(first, name=renamed), moved, *others[1:]))


def test_a_graph_that_depends_on_the_mode_holds_for_that_mode_alone():
    assert "self.training" not in proposed(limit=1)[0].source
    source = proposed(capture=Exporter(moody), limit=1)[0].source
    assert "and self.training and _fused_fits" in source


def test_a_reference_that_switches_to_eval_is_captured_so():
    question = problem(reference="class Model:\n    def __init__(self): self.eval()")
    exporter = Exporter(moody)
    source = proposed(question, capture=exporter, limit=1)[0].source
    assert exporter.asked[0] == ("ref.py", "bench[0]", "eval")
    assert "and not self.training and _fused_fits" in source


def broken(_file, _workload, _mode):
    raise PlatformError("no child starts")


def faulty(_file, _workload, _mode):
    raise ZeroDivisionError("in the compiler")


class Calls:
    """An exporter that does what a function does."""

    def __init__(self, capture):
        self.capture = capture


def two_inputs(graph):
    (first,) = graph.inputs
    return replace(graph, inputs=(first, replace(first, name="unused")))


def updating(graph):
    buffer = replace(graph.parameters[0], name="mean", role="buffer", path="mean")
    updated = ("mean",) if graph.mode == "train" else ()
    return replace(graph, parameters=(*graph.parameters, buffer), updated=updated)


FUNCTION = KERNEL.partition("class Model")[0] + "def run(x):\n    return x\n"
STARRED = KERNEL.replace("self, rows)", "self, *rows)")
RENAMED = KERNEL.replace("import triton.language as tl", "from triton import jit as tl")
DECLINED = {
    "no reference": ({"question": problem(reference=None)}, DeclineReason.NO_REFERENCE),
    "nothing exports": ({"capture": None}, DeclineReason.TARGET),
    "no child": ({"capture": Calls(broken)}, DeclineReason.TARGET),
    "other weights": ({"state_mismatch": "w is missing"}, DeclineReason.STATE),
    "refused": ({"capture": Exporter(refused=("no op",))}, DeclineReason.REFUSED),
    "updates": ({"capture": Exporter(updating)}, DeclineReason.REFUSED),
    "layout": (
        {"question": problem(workload(memory_format="channels_last"))},
        DeclineReason.REFUSED,
    ),
    "no class": ({"parent": FUNCTION}, DeclineReason.ENTRY),
    "starred": ({"parent": STARRED}, DeclineReason.ENTRY),
    "other names": ({"parent": RENAMED}, DeclineReason.ENTRY),
    "other inputs": ({"capture": Exporter(two_inputs)}, DeclineReason.ENTRY),
    "arguments": (
        {"question": problem(workload(init_args=(4096, 2.0, 3, 4)))},
        DeclineReason.ENTRY,
    ),
    "no target": ({"device": find_device("intel-b580")}, DeclineReason.TARGET),
    "own fault": ({"capture": Calls(faulty)}, DeclineReason.OWN_FAULT),
}


@pytest.mark.parametrize(("change", "reason"), DECLINED.values(), ids=DECLINED)
def test_what_stands_in_the_way_is_said_in_one_line(change, reason):
    found = declined(**change)
    assert found.reason is reason, found
    assert found.message
    assert "\n" not in found.message
