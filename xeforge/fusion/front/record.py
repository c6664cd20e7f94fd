"""Strict reading of one JSON object: every key is asked for once, with its type."""

from typing import TypeVar

from xeforge.errors import BadRequest

T = TypeVar("T")


class Record:
    """A JSON object whose keys are taken one by one.

    Args:
        data: Parsed JSON.
        place: Named in errors.

    Raises:
        BadRequest: It is no object.
    """

    def __init__(self, data: object, place: str) -> None:
        if not isinstance(data, dict):
            raise BadRequest("expected an object", field=place)
        self._rest = dict(data)
        self._place = place

    def take(self, key: str) -> object:
        """Return a value of any type.

        Raises:
            BadRequest: The key is missing.
        """
        if key not in self._rest:
            raise BadRequest(f"key {key!r} is missing", field=self._place)
        return self._rest.pop(key)

    def take_exactly(self, key: str, kind: type[T]) -> T:
        """Return a value of just this type; a boolean is no integer.

        Raises:
            BadRequest: It is of another type.
        """
        value = self.take(key)
        if type(value) is not kind:
            raise BadRequest(f"{key!r} is no {kind.__name__}", field=self._place)
        return value

    def take_optional(self, key: str, kind: type[T]) -> T | None:
        """Return a value of this type or None.

        Raises:
            BadRequest: It is of another type.
        """
        value = self.take(key)
        if value is not None and type(value) is not kind:
            raise BadRequest(f"{key!r} is no {kind.__name__}", field=self._place)
        return value

    def take_all(self, key: str, kind: type[T]) -> tuple[T, ...]:
        """Return a list whose items are all of this type.

        Raises:
            BadRequest: It is no list, or an item is of another type.
        """
        items: list[object] = self.take_exactly(key, list)
        if any(type(each) is not kind for each in items):
            raise BadRequest(
                f"{key!r} holds something else than {kind.__name__}", field=self._place
            )
        return tuple(each for each in items if isinstance(each, kind))

    def close(self) -> None:
        """Refuse what nobody has asked for.

        Raises:
            BadRequest: A key is left.
        """
        if self._rest:
            raise BadRequest(f"unknown key {min(self._rest)!r}", field=self._place)
