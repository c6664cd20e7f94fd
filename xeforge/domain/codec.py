"""Domain values as JSON and back, so that stores, certificates and processes agree.

A dataclass is an object with one key per field in the order of its class; mappings keep their
order, sets are sorted, so the same value always gives the same text. Members of the closed unions
`Event` and `Step` carry their class name under ``"type"``. JSON has no word for non-finite
numbers: they are the strings ``"nan"``, ``"inf"`` and ``"-inf"`` where a field is a float, and
``{"float": "inf"}`` inside an `Argument`, which may be a string as well. Nothing is converted
silently on the way back: unknown keys, missing keys and wrong types are refused.
"""

import json
import math
import types
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from typing import TypeVar
from typing import Union
from typing import get_args
from typing import get_origin
from typing import overload

import cattrs
from cattrs.cols import list_structure_factory
from cattrs.gen import make_dict_structure_fn
from cattrs.gen import make_dict_unstructure_fn
from cattrs.gen import make_mapping_structure_fn

from xeforge.domain.events import Event
from xeforge.domain.problem import Argument
from xeforge.domain.steps import Step
from xeforge.errors import BadRequest

T = TypeVar("T")
Hook = Callable[[Any, Any], Any]
TAG = "type"
_UNIONS = (Event, Step)
_TAGGED = frozenset(get_args(Event) + get_args(Step))
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NAMED_IN_ERRORS = 3
_FLOATS = tuple[float, ...]
_PLAIN = (bool, int, float, str)


def dump(value: object) -> Any:
    """Turn a domain value into dicts, lists, strings, numbers, booleans and None."""
    return _CONVERTER.unstructure(value)


@overload
def load(type_: type[T], data: object, *, file: str | Path | None = None) -> T: ...
@overload
def load(type_: object, data: object, *, file: str | Path | None = None) -> Any: ...
def load(type_: Any, data: object, *, file: str | Path | None = None) -> Any:
    """Turn what `dump` made back into a value of `type_`, a class or a union such as `Event`.

    Args:
        type_: What `data` is supposed to be.
        data: Made by `dump`, or parsed JSON.
        file: Named in the error, where the data came from a file.

    Raises:
        BadRequest: `data` is not a `type_`; the error names the path inside it.
    """
    try:
        return _CONVERTER.structure(data, type_)
    except (cattrs.BaseValidationError, cattrs.errors.StructureHandlerNotFoundError) as error:
        raise _refusal(type_, error, file) from None
    except RecursionError:
        raise BadRequest("the data is nested too deeply to be read", file=file) from None
    except (TypeError, ValueError) as error:
        raise BadRequest(f"this is no {_name(type_)}: {error}", file=file, field="$") from None


def dumps(value: object, *, indent: int | None = None) -> str:
    """Write a domain value as ASCII JSON; without `indent` on one line."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(dump(value), allow_nan=False, indent=indent, separators=separators)


@overload
def loads(type_: type[T], text: str, *, file: str | Path | None = None) -> T: ...
@overload
def loads(type_: object, text: str, *, file: str | Path | None = None) -> Any: ...
def loads(type_: Any, text: str, *, file: str | Path | None = None) -> Any:
    """Read a value from the text that `dumps` made; arguments and errors as in `load`."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadRequest(f"this is no JSON: {error.msg}", file=file, line=error.lineno) from None
    except ValueError as error:
        raise BadRequest(f"this is no JSON: {error}", file=file) from None
    except RecursionError:
        raise BadRequest("the data is nested too deeply to be read", file=file) from None
    return load(type_, data, file=file)


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a JSON number")


def _refusal(type_: object, error: Exception, file: str | Path | None) -> BadRequest:
    """Make one error of ours out of a tree of cattrs' own, with the path of the first fault."""
    faults = cattrs.transform_error(error, path="$", format_exception=_describe)
    message, _, path = faults[0].rpartition(" @ ")
    more = "".join(f"; {each}" for each in faults[1:_NAMED_IN_ERRORS])
    return BadRequest(f"this is no {_name(type_)}: {message}{more}", file=file, field=path)


def _describe(error: BaseException, _type: object) -> str:
    match error:
        case KeyError():
            return f"key {error.args[0]!r} is missing"
        case cattrs.errors.ForbiddenExtraKeysError():
            return f"unknown key {', '.join(repr(each) for each in sorted(error.extra_fields))}"
        case _:
            return str(error)


def _name(type_: object) -> str:
    for union, name in ((Event, "Event"), (Step, "Step")):
        if type_ == union:
            return name
    return type_.__name__ if type(type_) is type else str(type_).replace("xeforge.domain.", "")


def _dump_float(value: float) -> float | str:
    plain = float(value)
    return plain if math.isfinite(plain) else repr(plain)


def _dump_floats(values: tuple[float, ...]) -> list[float | str]:
    # Hundreds of raw times a step: nearly always plain and finite, so look at all of them at once.
    if set(map(type, values)) == {float} and all(map(math.isfinite, values)):
        return list(values)
    return [_dump_float(each) for each in values]


def _load_float(data: object, _: object) -> float:
    if isinstance(data, str) and data in _NON_FINITE:
        return _NON_FINITE[data]
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise TypeError(f"expected a number, got {_quote(data)}")
    try:
        return float(data)
    except OverflowError:
        raise ValueError("the number is too large for a float") from None


def _exactly(kind: type, word: str) -> Callable[[object, object], object]:
    """Make a reader that takes values of one plain type as they are and refuses all others."""

    def read(data: object, _: object) -> object:
        if type(data) is not kind:
            raise TypeError(f"expected {word}, got {_quote(data)}")
        return data

    return read


def _quote(data: object) -> str:
    shown = repr(data)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."  # noqa: PLR2004, one short line


def _dump_argument(value: Argument) -> Any:
    if isinstance(value, tuple):
        return [_dump_argument(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    return value


def _load_argument(data: object, _: object) -> Argument:
    match data:
        case bool() | int() | float() | str():
            return data
        case [*items]:
            return tuple(_load_argument(each, None) for each in items)
        case {"float": str(word), **rest} if word in _NON_FINITE and not rest:
            return _NON_FINITE[word]
        case _:
            raise TypeError(f"expected a scalar or a list, got {_quote(data)}")


def _is_union(type_: object) -> bool:
    return get_origin(type_) in {Union, types.UnionType}


def _is_argument(type_: object) -> bool:
    # Not compared with `Argument` itself: resolving its forward reference makes another object.
    return _is_union(type_) and {bool, int, float, str} <= set(get_args(type_))


def _load_enum(data: object, type_: type[StrEnum]) -> StrEnum:
    values = [each.value for each in type_]
    if type(data) is not str or data not in values:
        raise ValueError(f"{_quote(data)} is none of {', '.join(values)}")
    return type_(data)


def _is_word_or_number(type_: object) -> bool:
    return _is_union(type_) and set(get_args(type_)) == {int, str}


def _load_word_or_number(data: object, _: object) -> int | str:
    if isinstance(data, bool) or not isinstance(data, int | str):
        raise TypeError(f"expected an integer or a string, got {_quote(data)}")
    return data


def _class_hook(type_: type, converter: cattrs.Converter) -> Hook:
    read: Hook = make_dict_structure_fn(type_, converter, _cattrs_forbid_extra_keys=True)
    if type_ not in _TAGGED:
        return _only(Mapping, "an object", read)

    def read_tagged(data: Mapping[str, object], _: object) -> object:
        if data.get(TAG) != type_.__name__:
            raise ValueError(f"{TAG!r} is {_quote(data.get(TAG))}, not {type_.__name__!r}")
        return read({key: data[key] for key in data if key != TAG}, type_)

    return _only(Mapping, "an object", read_tagged)


def _class_dumper(type_: type, converter: cattrs.Converter) -> Callable[[Any], Any]:
    write: Callable[[Any], dict[str, Any]] = make_dict_unstructure_fn(type_, converter)
    if type_ not in _TAGGED:
        return write
    return lambda value: {TAG: type_.__name__, **write(value)}


def _union_hook(union: object, converter: cattrs.Converter) -> Hook:
    by_name = {each.__name__: each for each in get_args(union)}

    def read(data: Mapping[str, object], _: object) -> object:
        tag = data.get(TAG)
        member = by_name.get(tag) if isinstance(tag, str) else None
        if member is None:
            raise ValueError(f"{TAG!r} is {_quote(tag)}; it must be one of {', '.join(by_name)}")
        return converter.structure(data, member)

    return _only(Mapping, "an object", read)


def _tuple_hook(type_: Any, converter: cattrs.Converter) -> Hook:
    parts = get_args(type_)
    if parts[-1] is ...:
        return _collection_hook(type_, converter)

    def read(data: list[object], _: object) -> object:
        if len(data) != len(parts):
            raise ValueError(f"expected {len(parts)} items, got {len(data)}")
        pairs = zip(data, parts, strict=True)
        return tuple(converter.structure(item, part) for item, part in pairs)

    return _only(list, "a list", read)


def _collection_hook(type_: Any, converter: cattrs.Converter) -> Hook:
    kind = get_origin(type_)
    as_list: Any = types.GenericAlias(list, get_args(type_)[:1])
    read_items = list_structure_factory(as_list, converter)
    (item,) = get_args(as_list)

    def read(data: list[object], _: object) -> object:
        # The same shortcut as in `_dump_floats`.
        if item in _PLAIN and set(map(type, data)) == {item}:
            return kind(data)
        return kind(read_items(data, as_list))

    return _only(list, "a list", read)


def _mapping_hook(type_: Any, converter: cattrs.Converter) -> Hook:
    return _only(Mapping, "an object", make_mapping_structure_fn(type_, converter))


def _only(kind: type, word: str, read: Hook) -> Hook:
    """Let `read` see nothing but a `kind`: cattrs would iterate whatever it is given."""

    def read_checked(data: object, type_: object) -> object:
        if not isinstance(data, kind):
            raise TypeError(f"expected {word}, got {_quote(data)}")
        return read(data, type_)

    return read_checked


def _has_origin(origin: type) -> Callable[[object], bool]:
    return lambda type_: get_origin(type_) is origin


def _make_converter() -> cattrs.Converter:
    converter = cattrs.Converter(unstruct_collection_overrides={tuple: list, frozenset: sorted})
    # A StrEnum is a string too; without hooks of its own it would be taken for a plain one.
    converter.register_unstructure_hook(StrEnum, lambda member: member.value)
    converter.register_structure_hook(StrEnum, _load_enum)
    converter.register_unstructure_hook(float, _dump_float)
    converter.register_structure_hook(float, _load_float)
    converter.register_unstructure_hook_func(lambda type_: type_ == _FLOATS, _dump_floats)
    for kind, word in ((bool, "true or false"), (int, "an integer"), (str, "a string")):
        converter.register_structure_hook(kind, _exactly(kind, word))
    converter.register_structure_hook_factory(_has_origin(tuple), _tuple_hook)
    converter.register_structure_hook_factory(_has_origin(frozenset), _collection_hook)
    converter.register_structure_hook_factory(_has_origin(Mapping), _mapping_hook)
    converter.register_structure_hook_factory(is_dataclass, _class_hook)
    converter.register_unstructure_hook_factory(is_dataclass, _class_dumper)
    converter.register_structure_hook_factory(lambda type_: type_ in _UNIONS, _union_hook)
    converter.register_unstructure_hook_func(lambda type_: type_ in _UNIONS, converter.unstructure)
    converter.register_unstructure_hook_func(_is_argument, _dump_argument)
    converter.register_structure_hook_func(_is_argument, _load_argument)
    converter.register_structure_hook_func(_is_word_or_number, _load_word_or_number)
    return converter


_CONVERTER = _make_converter()
