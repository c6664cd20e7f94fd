"""Folds over blocks. NaN wins in ``max`` and ``min``, so these do not use Triton's own."""

from xeforge.fusion.emit.triton.scalar import ADDITION
from xeforge.fusion.emit.triton.scalar import MULTIPLICATION
from xeforge.fusion.emit.triton.values import Text
from xeforge.fusion.emit.triton.values import Values
from xeforge.fusion.ir import Monoid
from xeforge.fusion.ir import Stmt

_COMBINE = {"max": "maximum", "min": "minimum", "prod": "multiply"}


def folded(stmt: Stmt, block: Text, values: Values, *, axis: int, keep_dims: bool) -> Text:
    """Return the fold of a block of terms along one of its dimensions."""
    monoid = stmt.reduce.monoid if stmt.reduce is not None else "sum"
    kept = ", keep_dims=True" if keep_dims else ""
    if monoid == "sum":
        return Text(f"tl.sum({block.code}, axis={axis}{kept})")
    name = _COMBINE[monoid]
    values.helpers.add(name)
    return Text(f"tl.reduce({block.code}, {axis}, _{name}{kept})")


def accumulated(monoid: Monoid, total: str, term: Text, values: Values) -> str:
    """Return a total with one more term folded in, lane by lane."""
    if monoid in {"sum", "prod"}:
        sign, binding = ("+", ADDITION) if monoid == "sum" else ("*", MULTIPLICATION)
        return f"{total} {sign} {term.within(binding)}"
    name = _COMBINE[monoid]
    values.helpers.add(name)
    return f"_{name}({total}, {term.code})"
