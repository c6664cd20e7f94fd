"""Name and signatures stay; everything inside may change."""

from xeforge.domain.verdict import Reason

FUNCTION = """
import triton

@triton.jit
def k(x):
    pass

def run(x, y=1):
    k[(1,)](x)
"""


def test_missing_model_is_refused(ask):
    (found,) = ask(("class Model(nn.Module)", "class Other(nn.Module)"))[:1]
    assert found.reason == Reason.OUTPUT_CONTRACT
    assert found.message == "there is no class Model"


def test_changed_signatures_are_refused_with_both_texts(ask):
    (found,) = ask(("forward(self, x, *, out=None)", "forward(self, x)"))
    assert found.message == "forward(x) must stay forward(x, out=None)"
    (found,) = ask(("scale=1.0", "scale=2.0"))
    assert found.message == "__init__(width, scale=2.0) must stay __init__(width, scale=1.0)"
    assert found.line is not None


def test_renamed_parameter_is_refused(ask):
    assert (
        len(ask(("forward(self, x,", "forward(self, z,"), ("empty_like(x)", "empty_like(z)"))) == 1
    )


def test_annotations_comments_and_layout_are_free(ask):
    assert (
        ask(
            (
                "forward(self, x, *, out=None)",
                "forward(\n        self, x: torch.Tensor, *, out = None\n    )",
            )
        )
        == []
    )
    assert ask(("scale=1.0", "scale: float=1.0")) == []


def test_removed_constructor_is_placed_at_the_class(ask):
    source = FUNCTION + "\nclass Model:\n    def forward(self, x):\n        return k[(1,)](x)\n"
    kernel = source.replace(
        "def forward", "def __init__(self, n):\n        pass\n\n    def forward"
    )
    found = ask(source=source, kernel=kernel)
    assert found[0].line == source[: source.index("class Model")].count("\n") + 1


def test_file_without_model_keeps_its_functions(ask):
    assert ask(source=FUNCTION, kernel=FUNCTION) == []
    (found,) = ask(("def run(x, y=1)", "def go(x, y=1)"), source=FUNCTION, kernel=FUNCTION)
    assert found.message == "the function run is gone"
    (found,) = ask(("def run(x, y=1)", "def run(x, y=2)"), source=FUNCTION, kernel=FUNCTION)
    assert found.message == "run(x, y=2) must stay (x, y=1)"
