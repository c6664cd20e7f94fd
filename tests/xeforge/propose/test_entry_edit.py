"""A choice is put in front of ``forward``; nothing else of a file changes."""

import pytest

from xeforge.propose.entry_edit import CannotEnter
from xeforge.propose.entry_edit import read_entry
from xeforge.propose.entry_edit import with_choice

SOURCE = '''"""A file."""

import torch
import triton


class Base:
    def __init__(self):
        self.made = True


class Model(Base):
    """Doubles."""

    def __init__(self, width, names=("a", "b"), scale=1.5):
        """Take three."""
        super().__init__()
        self.width = width

    def forward(self, x):  # doubles
        """Return twice."""
        return x * 2


def get_init_inputs():
    return [WIDTH, [1, 2]]


WIDTH = 7
'''
HELPER = "def get_init_inputs():\n    return [7, [1, 2]]\n"
FUNCTION = "def _answer(x):\n    return -x"
METHOD = (
    "if self._fused_made_with == [7, (1, 2), 1.5] and x == 5:\n    return _answer(x)\nreturn None"
)


def made(source):
    """Run a file without its imports; return its names."""
    names = {}
    lines = [each for each in source.splitlines() if not each.startswith("import ")]
    exec("\n".join(lines), names)
    return names


@pytest.fixture(scope="module")
def changed():
    return with_choice(read_entry(SOURCE), FUNCTION, METHOD)


def test_inputs_that_are_chosen_take_the_new_path_and_all_others_the_old_one(changed):
    model = made(changed)["Model"](7, (1, 2))
    assert model.forward(5) == -5
    assert model.forward(4) == 8
    assert made(changed)["Model"](8, (1, 2)).forward(5) == 10, "made with other arguments"
    assert made(changed)["Model"](7, (1, 2), 2.5).forward(5) == 10


def test_what_was_there_stays_in_its_order(changed):
    rest = iter(changed.splitlines())
    assert all(line in rest for line in SOURCE.splitlines())


def test_docstrings_and_the_constructor_of_the_base_stay_first(changed):
    assert "super().__init__()\n        self._fused_made_with = [width, names, scale]" in changed
    assert '"""Return twice."""\n        fused = self._fused_answer(x)' in changed


def test_imports_that_emitted_code_needs_are_added(changed):
    assert "import triton.language as tl\n" in changed
    assert changed.count("import torch\n") == 1


def test_constructor_arguments_are_completed_by_defaults():
    entry = read_entry(SOURCE)
    assert entry.arguments((7,)) == (7, ("a", "b"), 1.5)
    assert entry.arguments((7, (1, (2, 3)))) == (7, [1, [2, 3]], 1.5), "lists, as the bench gives"
    assert entry.own_arguments("x = 1") == (7, [1, 2])
    assert entry.own_arguments(HELPER) == (7, [1, 2])


@pytest.mark.parametrize("given", [(), (1, 2, 3, 4), (float("inf"),), (object(),)])
def test_arguments_that_do_not_fit_are_refused(given):
    with pytest.raises(CannotEnter, match="constructor arguments"):
        read_entry(SOURCE).arguments(given)


def test_a_helper_that_computes_cannot_be_read():
    entry = read_entry(SOURCE.replace("[WIDTH, [1, 2]]", "make()"))
    with pytest.raises(CannotEnter, match="get_init_inputs"):
        entry.own_arguments("x = 1")


def test_files_that_disagree_about_constructor_arguments_are_refused():
    with pytest.raises(CannotEnter, match="differs"):
        read_entry(SOURCE).own_arguments(HELPER.replace("7", "8"))


def test_new_names_are_free():
    fresh = read_entry(SOURCE).fresh()
    assert fresh("Base") == "Base_2"
    assert fresh("other") == "other"
    assert fresh("other") == "other_2"


REFUSED = {
    "no class": ("class Model(Base):", "class Other(Base):"),
    "no forward": ("def forward(", "def apply("),
    "starred": ("def forward(self, x)", "def forward(self, *x)"),
    "by name only": ("def forward(self, x)", "def forward(self, *, x)"),
    "another torch": ("import torch\n", "import numpy as torch\n"),
    "chosen already": ("def forward(", "def _fused_answer(self): ...\n\n    def forward("),
}


@pytest.mark.parametrize(("old", "new"), REFUSED.values(), ids=REFUSED)
def test_files_that_are_entered_otherwise_are_refused(old, new):
    with pytest.raises(CannotEnter):
        read_entry(SOURCE.replace(old, new))


def test_a_method_on_one_line_is_refused():
    source = SOURCE.partition("    def forward")[0] + "    def forward(self, x): return x\n"
    with pytest.raises(CannotEnter, match="one line"):
        with_choice(read_entry(source), FUNCTION, METHOD)
