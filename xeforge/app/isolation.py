"""The operator's decision to run untrusted code without walls, and the refusal without it."""

import os
from collections.abc import Mapping
from typing import Annotated
from typing import TypeAlias

import typer

from xeforge.domain.isolation import is_walled
from xeforge.errors import ToolchainMissing

VARIABLE = "XEFORGE_ALLOW_UNSANDBOXED"
OPTION = "--allow-unsandboxed"
REMEDY = "apt-get install bubblewrap"

UnsandboxedOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        OPTION, help=f"Run the code even where no sandbox works ({VARIABLE}=1 does the same)."
    ),
]


def is_allowed(option: bool, environment: Mapping[str, str] = os.environ) -> bool:  # noqa: FBT001
    """Say whether the operator allows to run code without walls: by option, or by variable."""
    return option or environment.get(VARIABLE) == "1"


def required_layer(*, allow_unsandboxed: bool = False) -> str:
    """Return the strongest layer that works here, when user code may run in it.

    Args:
        allow_unsandboxed: The operator's option; the variable counts as well.

    Raises:
        ToolchainMissing: No layer with walls works here and the operator did not allow that.
    """
    from bench_workers.sandbox.layers import available_layers
    from bench_workers.sandbox.layers import best_layer

    layer, is_permitted = best_layer(), is_allowed(allow_unsandboxed)
    if is_walled(layer) or is_permitted:
        return layer
    failed = [each for each in available_layers() if is_walled(each.name)]
    why = "; ".join(f"{each.name}: {each.detail}" for each in failed)
    return usable(
        layer,
        allow_unsandboxed=False,
        why=why,
        remedy=next((each.remedy for each in failed if each.remedy), REMEDY),
    )


def usable(layer: str, *, allow_unsandboxed: bool, why: str = "", remedy: str = REMEDY) -> str:
    """Return the layer when user code may run in it.

    Args:
        layer: The strongest that works here.
        allow_unsandboxed: The operator's word.
        why: What is wrong with the stronger ones.
        remedy: The command that mends that.

    Raises:
        ToolchainMissing: No layer with walls works here and the operator did not allow that.
    """
    if is_walled(layer) or allow_unsandboxed:
        return layer
    raise ToolchainMissing(
        f"no sandbox works here, only the layer {layer!r}, which leaves files and network open to "
        f"the code that is run{f' ({why})' if why else ''}",
        remedy=f"{remedy} (`xeforge doctor` says more), or, for code you trust, {OPTION} or "
        f"{VARIABLE}=1",
    )
