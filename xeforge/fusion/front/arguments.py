"""Arguments of operators as JSON and back.

A reference is ``{"ref": name}``, a number that JSON has no word for ``{"float": "inf"}``; lists
are tuples, everything else is itself.
"""

import math
from typing import Any

from xeforge.errors import BadRequest
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Ref

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DEEPEST = 8


def dump_argument(value: Arg) -> Any:
    """Turn an argument into what JSON can hold."""
    match value:
        case Ref(name):
            return {"ref": name}
        case tuple():
            return [dump_argument(each) for each in value]
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case _:
            return value


def load_argument(data: object, depth: int = 0) -> Arg:
    """Turn what `dump_argument` made back into an argument.

    Raises:
        BadRequest: It is none, or is nested more than eight deep.
    """
    if depth > _DEEPEST:
        raise BadRequest("an argument is nested too deeply")
    match data:
        case None | bool() | int() | float() | str():
            return data
        case list():
            return tuple(load_argument(each, depth + 1) for each in data)
        case {"ref": str(name), **rest} if not rest:
            return Ref(name)
        case {"float": str(word), **rest} if word in _NON_FINITE and not rest:
            return _NON_FINITE[word]
        case _:
            raise BadRequest(f"{str(data)[:60]!r} is no argument of an operator")
