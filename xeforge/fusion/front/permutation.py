"""The order of dimensions behind each way to write a transposition."""

from xeforge.errors import BadRequest
from xeforge.fusion.front.graph import Arg


def permutation(op: str, args: tuple[Arg, ...], rank: int) -> tuple[int, ...]:
    """Return for each dimension of the result the dimension it was.

    Args:
        op: One of `xeforge.fusion.front.covered.TRANSPOSITIONS`.
        args: Of the call; the first is the tensor.
        rank: Of the tensor.

    Raises:
        BadRequest: The arguments do not fit the operator.
    """
    order = list(range(rank))
    match op, args[1:]:
        case "permute", (tuple() as dims,):
            order = [_positive(each, rank) for each in dims]
        case (("transpose" | "swapaxes" | "swapdims"), (first, second)):
            a, b = _positive(first, rank), _positive(second, rank)
            order[a], order[b] = order[b], order[a]
        case (("t" | "numpy_T"), ()):
            order.reverse()
        case "mT", ():
            order[-2:] = order[:-3:-1]
        case _:
            raise BadRequest(f"these are no arguments of {op}")
    if sorted(order) != list(range(rank)):
        raise BadRequest(f"{op} does not name each dimension once")
    return tuple(order)


def _positive(dimension: Arg, rank: int) -> int:
    if type(dimension) is not int or not -max(1, rank) <= dimension < max(1, rank):
        raise BadRequest(f"{dimension!r} is no dimension of a tensor of rank {rank}")
    return dimension % max(1, rank)
