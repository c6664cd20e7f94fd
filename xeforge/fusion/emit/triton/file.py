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
from xeforge.fusion.emit.triton.rows import emit_rows
from xeforge.fusion.emit.triton.scalar import helper_source
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.emit.triton.tile import candidates
from xeforge.fusion.emit.triton.words import CannotEmit
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

_HEAD = ("import torch", "import torch.nn as nn", "import triton", "import triton.language as tl")


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
            by measuring; the first candidate for those not named.
        parameters: Of the constructor, as source text without ``self``.
        tail: Text behind the class: ``get_inputs`` and ``get_init_inputs``; empty: none.

    Raises:
        CannotEmit: A dtype or a constant has no form here.
    """
    kernels = [_kernel(group, plan, target, (tiles or {}).get(group.name)) for group in plan.groups]
    lines = [f'"""Made by the fusion compiler: {len(kernels)} kernels."""', "", *_HEAD]
    lines += helper_source(used_helpers(kernels))
    for kernel in kernels:
        lines += kernel_source(kernel)
    lines += GIVEN.splitlines()
    lines += model_source(plan.program, tensors, kernels, parameters)
    text = "\n".join(lines) + "\n"
    return f"{text}\n\n{tail.strip()}\n" if tail.strip() else text


def _kernel(group: Group, plan: Plan, target: TritonTarget, tiles: Sequence[Tile] | None) -> Kernel:
    if group.family == "rows":
        return emit_rows(group, plan.program, target)
    if group.family == "contraction":
        chosen = tiles or candidates(problem_of(group, plan.program), target)[:1]
        if not chosen:
            raise CannotEmit(f"no tile of {group.name} fits into the target's memory")
        return emit_contraction(group, plan.program, target, chosen)
    return emit_flat(group, plan.program)
