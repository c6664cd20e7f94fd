"""What a prepare child says about an exported module, read strictly; nothing is interpreted here.

The child runs the user's code, so its answer is data to check: types here, meaning in
`xeforge.fusion.front.normalise`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.errors import BadRequest
from xeforge.fusion.front.arguments import load_argument
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Role
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.record import Record
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal

_ROLES: Mapping[str, Role] = {
    "parameter": "parameter",
    "buffer": "buffer",
    "constant": "constant",
}


@dataclass(frozen=True, slots=True)
class Result:
    """Shape and dtype of one tensor; a size of -1 depends on values."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call as exported: operators may still write into what they are given.

    Attributes:
        name: Of its result.
        op: Name without overload; may end in ``_``.
        overload: E.g. ``"dim"``; empty for none.
        args, kwargs: As called.
        results: Tensors it gives back.
        line: In the user's file.
        is_several: Whether its results are taken apart by ``getitem``.
        is_random: Whether it draws from a generator.
        writes: Values whose memory it changes.
        views: Values whose memory its result may share.
    """

    name: str
    op: str
    overload: str
    args: tuple[Arg, ...]
    kwargs: Mapping[str, Arg]
    results: tuple[Result, ...]
    line: int | None = None
    is_several: bool = False
    is_random: bool = False
    writes: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exported:
    """A module as exported.

    Attributes:
        inputs: Arguments of ``forward``.
        tensors: Parameters, buffers and constants.
        calls: In order.
        outputs: Names; None where it returns something that is no tensor.
        aliased: Pairs of positions of inputs that share memory.
        seconds: What construction and export took.
    """

    inputs: tuple[Tensor, ...]
    tensors: tuple[Tensor, ...]
    calls: tuple[Call, ...]
    outputs: tuple[str | None, ...]
    aliased: tuple[tuple[int, int], ...] = ()
    seconds: float = 0.0


def load_exported(data: object) -> Exported | Refusal:
    """Read a child's answer.

    Raises:
        BadRequest: It is not of the agreed form.
    """
    record = Record(data, "capture")
    if isinstance(data, dict) and "refused" in data:
        return _load_refusal(record.take("refused"))
    outputs: list[object] = record.take_exactly("outputs", list)
    exported = Exported(
        inputs=tuple(map(_load_input, record.take_all("inputs", dict))),
        tensors=tuple(map(_load_tensor, record.take_all("tensors", dict))),
        calls=tuple(map(_load_call, record.take_all("nodes", dict))),
        outputs=tuple(each if isinstance(each, str) else None for each in outputs),
        aliased=tuple(map(_load_pair, record.take_all("aliased", list))),
        seconds=record.take_exactly("seconds", float),
    )
    record.close()
    return exported


def _load_refusal(data: object) -> Refusal:
    record = Record(data, "refused")
    word = record.take_exactly("reason", str)
    if word not in list(Reason):
        raise BadRequest(f"{word!r} is no reason", field="refused")
    message, line = record.take_exactly("message", str), record.take_optional("line", int)
    return Refusal(Reason(word), message, line=line)


def _load_pair(data: list[object]) -> tuple[int, int]:
    match data:
        case [int(first), int(second)]:
            return first, second
        case _:
            raise BadRequest("expected a pair of positions", field="aliased")


def _load_input(data: object) -> Tensor:
    record = Record(data, "input")
    return Tensor(
        name=record.take_exactly("name", str),
        shape=record.take_all("shape", int),
        dtype=record.take_exactly("dtype", str),
        role="input",
    )


def _load_tensor(data: object) -> Tensor:
    record = Record(data, "tensor")
    role, value = record.take_exactly("role", str), load_argument(record.take("value"))
    if role not in _ROLES or not (value is None or isinstance(value, bool | int | float)):
        raise BadRequest("wrong role or value", field="tensor")
    return Tensor(
        name=record.take_exactly("name", str),
        shape=record.take_all("shape", int),
        dtype=record.take_exactly("dtype", str),
        role=_ROLES[role],
        value=value,
        path=record.take_exactly("path", str),
    )


def _load_result(data: object) -> Result:
    record = Record(data, "result")
    return Result(record.take_all("shape", int), record.take_exactly("dtype", str))


def _load_call(data: object) -> Call:
    record = Record(data, "node")
    arguments: list[object] = record.take_exactly("args", list)
    named: dict[str, object] = record.take_exactly("kwargs", dict)
    return Call(
        name=record.take_exactly("name", str),
        op=record.take_exactly("op", str),
        overload=record.take_exactly("overload", str),
        args=tuple(load_argument(each) for each in arguments),
        kwargs={key: load_argument(each) for key, each in named.items()},
        results=tuple(map(_load_result, record.take_all("results", dict))),
        line=record.take_optional("line", int),
        is_several=record.take_exactly("is_several", bool),
        is_random=record.take_exactly("is_random", bool),
        writes=record.take_all("writes", str),
        views=record.take_all("views", str),
    )
