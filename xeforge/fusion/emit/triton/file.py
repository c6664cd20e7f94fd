"""One Python file for a plan."""

from collections.abc import Mapping
from collections.abc import Sequence

from xeforge.fusion.emit.triton.contraction import emit_contraction
from xeforge.fusion.emit.triton.contraction import problem_of
from xeforge.fusion.emit.triton.flat import emit_flat
from xeforge.fusion.emit.triton.kernel import Kernel
from xeforge.fusion.emit.triton.kernel import kernel_source
from xeforge.fusion.emit.triton.model import ANY_ARGUMENTS
from xeforge.fusion.emit.triton.model import GIVEN
from xeforge.fusion.emit.triton.model import model_source
from xeforge.fusion.emit.triton.model import used_helpers
from xeforge.fusion.emit.triton.ranking import ways
from xeforge.fusion.emit.triton.riders import emit_riders
from xeforge.fusion.emit.triton.rows import emit_rows
from xeforge.fusion.emit.triton.scalar import helper_source
from xeforge.fusion.emit.triton.shaping import shaped
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.words import CannotEmit
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

_HEAD = ("import torch", "import torch.nn as nn", "import triton", "import triton.language as tl")
_DESCRIPTOR = "from triton.tools.tensor_descriptor import TensorDescriptor"


def emit(
    plan: Plan,
    tensors: Sequence[Tensor],
    target: TritonTarget,
    tiles: Mapping[str, Sequence[Tile]] | None = None,
    *,
    parameters: str = ANY_ARGUMENTS,
    tail: str = "",
) -> str:
    """Return the source of a plan.

    Args:
        plan: Well-formed.
        tensors: Of the graph: paths of parameters and buffers. Those that no kernel reads are
            declared too, so that saved weights load.
        target: What it is made for.
        tiles: For contractions, by name of the group: one, or several of one form to choose from
            by measuring; the first of `ways` for those not named.
        parameters: Of the constructor, as source text without ``self``.
        tail: Text behind the class: ``get_inputs`` and ``get_init_inputs``; empty: none.

    Raises:
        CannotEmit: A dtype or a constant has no form here.
    """
    plan, chosen = shaped(plan, _chosen(plan, target, tiles or {}))
    kernels = [
        _kernel(group, plan, target, chosen)
        for group in plan.groups
        if group.name not in plan.riders
    ]
    lines = [f'"""Made by the fusion compiler: {len(kernels)} kernels."""', "", *_HEAD]
    if any(kernel.descriptors for kernel in kernels):
        lines.append(_DESCRIPTOR)
    lines += helper_source(used_helpers(kernels))
    for kernel in kernels:
        lines += kernel_source(kernel)
    lines += GIVEN.splitlines()
    lines += model_source(plan.program, tensors, kernels, parameters)
    text = "\n".join(lines) + "\n"
    return f"{text}\n\n{tail.strip()}\n" if tail.strip() else text


def _chosen(
    plan: Plan, target: TritonTarget, tiles: Mapping[str, Sequence[Tile]]
) -> Mapping[str, Sequence[Tile]]:
    """Return tiles of every contraction."""
    found: dict[str, Sequence[Tile]] = {}
    for group in plan.groups:
        if group.family == "contraction":
            given = tiles.get(group.name)
            found[group.name] = given or ways(problem_of(group, plan.program), target)[:1]
            if not found[group.name]:
                raise CannotEmit(f"no tile of {group.name} fits into the target's memory")
    return found


def _kernel(
    group: Group, plan: Plan, target: TritonTarget, tiles: Mapping[str, Sequence[Tile]]
) -> Kernel:
    riders = [each for each in plan.groups if plan.riders.get(each.name) == group.name]
    if riders:
        return emit_riders(riders, group, plan.program, target)
    if group.family == "rows":
        return emit_rows(group, plan.program, target)
    if group.family == "contraction":
        return emit_contraction(group, plan.program, target, tiles[group.name])
    return emit_flat(group, plan.program)
