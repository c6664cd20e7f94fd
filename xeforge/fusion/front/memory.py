"""Turns code that writes into tensors into code that makes new ones, or says why it cannot.

Each name of the exported graph is a *place*: a value, and the memory it lies in. Names of the same
place (``x`` and ``x.relu_()``) see each other's writes. A view is a place of its own in the same
memory: after a write through one place, every other place of that memory is stale, and reading it
is refused rather than worked out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor


class Stale(Exception):
    """A value is read whose memory was changed under another name."""


class Foreign(Exception):
    """A write goes into memory that belongs to the caller or to the module."""


@dataclass(slots=True)
class _Memory:
    owner: Tensor | None
    writes: int = 0


@dataclass(slots=True)
class _Place:
    value: str
    memory: _Memory
    writes_seen: int = 0


@dataclass(slots=True)
class Places:
    """Which value each name stands for at this point of the code."""

    _by_name: dict[str, _Place] = field(default_factory=dict)

    def give(self, tensor: Tensor) -> None:
        """Enter a tensor that exists before the first call."""
        self._by_name[tensor.name] = _Place(tensor.name, _Memory(tensor))

    def make(self, name: str, value: str) -> None:
        """Enter a name with memory of its own."""
        self._by_name[name] = _Place(value, _Memory(None))

    def view(self, name: str, value: str, source: str) -> None:
        """Enter a name that lies, or may lie, in the memory of another one."""
        memory = self._by_name[source].memory
        self._by_name[name] = _Place(value, memory, memory.writes)

    def same(self, name: str, source: str) -> None:
        """Enter another name of the same place."""
        self._by_name[name] = self._by_name[source]

    def write(self, name: str, target: str, value: str) -> None:
        """Enter the result of a call that changed `target`, which is `value` from now on.

        Raises:
            Foreign: The memory is that of an input, a parameter or a buffer.
        """
        place = self._by_name[target]
        if place.memory.owner is not None:
            raise Foreign(place.memory.owner.name)
        place.memory.writes += 1
        place.writes_seen = place.memory.writes
        place.value = value
        self._by_name[name] = place

    def owner(self, name: str) -> Tensor | None:
        """Return the given tensor in whose memory a name lies."""
        return self._by_name[name].memory.owner

    def value(self, name: str) -> str:
        """Return what a name stands for now.

        Raises:
            Stale: Its memory was changed under another name.
            KeyError: There is no such name.
        """
        place = self._by_name[name]
        if place.writes_seen != place.memory.writes:
            raise Stale(name)
        return place.value

    def resolve(self, argument: Arg) -> Arg:
        """Replace names by what they stand for now; raises as `value` does."""
        if isinstance(argument, Ref):
            return Ref(self.value(argument.name))
        if isinstance(argument, tuple):
            return tuple(self.resolve(each) for each in argument)
        return argument

    def resolve_all(self, arguments: Mapping[str, Arg]) -> dict[str, Arg]:
        """Replace names in arguments given by name; raises as `value` does."""
        return {key: self.resolve(each) for key, each in arguments.items()}
