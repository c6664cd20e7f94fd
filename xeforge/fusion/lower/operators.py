"""The one table of operators that have an affine form, by ATen name, and who writes it."""

from collections.abc import Callable
from collections.abc import Mapping

from xeforge.fusion.front.graph import Node
from xeforge.fusion.lower import attention
from xeforge.fusion.lower import constants
from xeforge.fusion.lower import contractions
from xeforge.fusion.lower import convolutions
from xeforge.fusion.lower import layout
from xeforge.fusion.lower import losses
from xeforge.fusion.lower import norms
from xeforge.fusion.lower import pointwise
from xeforge.fusion.lower import pools
from xeforge.fusion.lower import reductions
from xeforge.fusion.lower.draft import Draft
from xeforge.fusion.lower.value import Value

Lowering = Callable[[Draft, Node], Value]

OPERATORS: Mapping[str, Lowering] = {
    **pointwise.LOWERINGS,
    **layout.LOWERINGS,
    **reductions.LOWERINGS,
    **norms.LOWERINGS,
    **pools.LOWERINGS,
    **contractions.LOWERINGS,
    **convolutions.LOWERINGS,
    **constants.LOWERINGS,
    **losses.LOWERINGS,
    **attention.LOWERINGS,
}
