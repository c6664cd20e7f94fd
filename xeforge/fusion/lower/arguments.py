"""Arguments of a node by the names that the operator's schema gives them."""

from xeforge.errors import UserError
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal


class CannotLower(UserError):
    """An operator, or a use of it, has no affine form here.

    Attributes:
        refusal: Reason, operator and line, as the front of the compiler reports them.
    """

    code = "cannot_lower"

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(
            f"{refusal.operator}: {refusal.message}", line=refusal.line, remedy=refusal.remedy
        )
        self.refusal = refusal


def refuse(node: Node, message: str, reason: Reason = Reason.NOT_COVERED) -> CannotLower:
    """Return the error to raise for a node."""
    return CannotLower(Refusal(reason, message, node.op, node.line))


class Arguments:
    """The arguments of one node, bound to names.

    Args:
        node: Whose.
        names: In the order of the schema, up to the last positional one.

    Raises:
        CannotLower: There are more arguments than names, or one has no name here.
    """

    def __init__(self, node: Node, *names: str) -> None:
        self.node = node
        if len(node.args) > len(names) or not set(node.kwargs) <= set(names):
            raise refuse(node, "has arguments that are not covered")
        self._found: dict[str, Arg] = dict(zip(names, node.args, strict=False))
        self._found.update(node.kwargs)

    def get(self, name: str, default: Arg = None) -> Arg:
        """Return an argument as it is."""
        return self._found.get(name, default)

    def ref(self, name: str) -> Ref:
        """Return an argument that is a tensor."""
        found = self._found.get(name)
        if not isinstance(found, Ref):
            raise refuse(self.node, f"{name} is no tensor")
        return found

    def optional_ref(self, name: str) -> Ref | None:
        """Return an argument that is a tensor or nothing."""
        return None if self._found.get(name) is None else self.ref(name)

    def number(self, name: str, default: float) -> float:
        """Return an argument that is a number."""
        found = self._found.get(name, default)
        if not isinstance(found, bool | int | float):
            raise refuse(self.node, f"{name} is no number")
        return found

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an argument that is an integer."""
        found = self._found.get(name, default)
        if not isinstance(found, int):
            raise refuse(self.node, f"{name} is no integer")
        return found

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return an argument that is true or false."""
        return bool(self._found.get(name, default))

    def integers(self, name: str, default: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Return an argument that is integers; a single one is taken as one of them."""
        found = self._found.get(name, default)
        if isinstance(found, int):
            return (found,)
        if not isinstance(found, tuple):
            raise refuse(self.node, f"{name} is no list of integers")
        kept = tuple(each for each in found if isinstance(each, int))
        if len(kept) != len(found):
            raise refuse(self.node, f"{name} is no list of integers")
        return kept

    def spread(self, name: str, rank: int, default: int) -> tuple[int, ...]:
        """Return one integer per spatial dimension; a single one counts for all."""
        found = self.integers(name, (default,)) or (default,)
        return found * rank if len(found) == 1 else found
