import pytest

from xeforge.errors import BadRequest
from xeforge.intake.stages import STAGE_ALIASES
from xeforge.intake.stages import STAGE_NAMES
from xeforge.intake.stages import read_stages
from xeforge.pipeline.stages import ALIASES
from xeforge.pipeline.stages import STAGES


def test_the_closed_list_is_that_of_the_pipeline():
    assert tuple(each.name for each in STAGES) == STAGE_NAMES
    assert STAGE_ALIASES == ALIASES


def test_names_and_aliases_each_once():
    stages, notes = read_stages(("XPU_SPECIFIC", "fusion", "stream-k", "device_specific"))
    assert stages == ("device_specific", "fusion", "persistent_kernel")
    assert notes == (
        "stage 'XPU_SPECIFIC' is called 'device_specific' here",
        "stage 'stream-k' is called 'persistent_kernel' here",
    )
    assert read_stages(()) == ((), ())


def test_analysis_is_always_done():
    stages, notes = read_stages(("analysis", "fusion"))
    assert stages == ("fusion",)
    assert notes == ("stage 'analysis' is part of every job",)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("fussion",), "unknown stage 'fussion'; did you mean 'fusion'"),
        (("",), "unknown stage ''"),
        (("analysis",), "no optimization stage is left"),
    ],
)
def test_unknown_stages(names, message):
    with pytest.raises(BadRequest) as caught:
        read_stages(names)
    assert message in caught.value.message
    assert caught.value.field == "stages"
    assert "autotuning" in caught.value.remedy
