"""How well detectors meet the labels; a drop is seen here before a user sees it."""

import pytest

from benchmarks.knowledge.detectors import findings
from benchmarks.knowledge.detectors import labelled
from benchmarks.knowledge.detectors import read_labels
from benchmarks.knowledge.detectors import score
from benchmarks.knowledge.detectors import seconds_for
from xeforge.domain.issue import ISSUE_TYPES
from xeforge.intake.issues import MODEL_ONLY

NEEDS_A_BUILD = {"fusion_register_pressure"}
DETECTED = sorted(ISSUE_TYPES.keys() - MODEL_ONLY.keys() - NEEDS_A_BUILD)


@pytest.fixture(scope="module")
def compared():
    """Every labelled kernel with what the detectors say of it."""
    return [(each, findings(each.path)) for each in labelled()]


def pairs(compared, group=None):
    return [(each.labels, found) for each, found in compared if group in {None, each.group}]


@pytest.mark.parametrize("group", [None, "own", "held_out", "examples"])
def test_precision_and_recall(compared, group):
    found = score(pairs(compared, group), ISSUE_TYPES)
    assert found.precision >= 0.95
    assert found.recall >= 0.9
    assert found.right_lines >= 0.95 * found.right


@pytest.mark.parametrize("name", DETECTED)
def test_each_type_is_found_and_little_else_is_taken_for_it(compared, name):
    found = score(pairs(compared), [name])
    assert found.right, "no labelled kernel shows this type"
    assert found.precision >= 0.75
    assert found.recall >= 0.75


def test_the_set_is_large_and_holds_kernels_with_nothing_to_say():
    kernels = labelled()
    assert len([each for each in kernels if each.group != "examples"]) >= 60
    assert len([each for each in kernels if each.group == "held_out"]) == 20
    assert len([each for each in kernels if not each.labels]) >= 8


def test_every_kernel_is_read_fast():
    slowest = max(labelled(), key=lambda each: each.path.stat().st_size)
    assert seconds_for(slowest.path) < 0.15


@pytest.mark.parametrize("text", ["no_such_type 3", "dtype_precision", "dtype_precision three"])
def test_labels_that_cannot_be_read_are_refused(text):
    with pytest.raises(ValueError, match=r"expected|invalid literal"):
        read_labels(text)


def test_scores_count_both_kinds_of_mistake():
    labels, found = read_labels("dtype_precision 3; missing_tma 4"), read_labels("missing_tma 9")
    wrong = read_labels("no_swizzling 1")
    both = score([(labels, found), ({}, wrong)], ISSUE_TYPES)
    assert (both.right, both.wrong, both.missed, both.right_lines) == (1, 1, 1, 0)
    assert (both.precision, both.recall) == (0.5, 0.5)
