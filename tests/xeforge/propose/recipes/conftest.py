import pytest

from tests.xeforge.propose.conftest import DEVICE
from tests.xeforge.propose.conftest import make_problem
from tests.xeforge.propose.conftest import make_workload
from tests.xeforge.propose.samples import Sample


@pytest.fixture
def rewrites():
    """Apply a recipe to a sample (or to a source with given timed shapes)."""

    def apply(recipe, sample, *, shapes=None, dtype=None, more=()):
        source = sample.source if isinstance(sample, Sample) else sample
        timed = shapes or sample.timed
        init = getattr(sample, "init", ()) or None
        first = make_workload(*timed, dtype=dtype or "float16", init_args=init)
        return recipe.apply(source, make_problem(source, [first, *more]), DEVICE)

    return apply
