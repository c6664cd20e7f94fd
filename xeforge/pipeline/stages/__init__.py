"""The optimization stages in their usual order. Adding one: a new file and a line here."""

from xeforge.domain.stage import Stage
from xeforge.pipeline.stages import algorithmic
from xeforge.pipeline.stages import autotuning
from xeforge.pipeline.stages import block_pointers
from xeforge.pipeline.stages import device_specific
from xeforge.pipeline.stages import discovery
from xeforge.pipeline.stages import dtype_fix
from xeforge.pipeline.stages import fusion
from xeforge.pipeline.stages import memory_access
from xeforge.pipeline.stages import persistent_kernel

STAGES: tuple[Stage, ...] = (
    algorithmic.STAGE,
    discovery.STAGE,
    dtype_fix.STAGE,
    fusion.STAGE,
    memory_access.STAGE,
    block_pointers.STAGE,
    persistent_kernel.STAGE,
    device_specific.STAGE,
    autotuning.STAGE,
)
STAGE_BY_NAME = {stage.name: stage for stage in STAGES}
ALIASES = {"xpu_specific": "device_specific", "stream_k": "persistent_kernel"}
"""Input names of other tools for the same stages."""
