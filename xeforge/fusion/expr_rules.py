"""What an expression must be: known functions, and dtypes that fit them."""

from collections.abc import Iterator
from enum import StrEnum

from xeforge.domain.dtype import DTYPES
from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import Rule
from xeforge.fusion.functions import children
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Select


class Fault(StrEnum):
    """What may be wrong with an expression."""

    DTYPE = "dtype"
    FUNCTION = "function"


def expr_faults(value: Expr) -> Iterator[tuple[Fault, str]]:
    """Yield every fault in an expression and its parts, with a sentence."""
    for part in children(value):
        yield from expr_faults(part)
    if dtype_of(value) not in DTYPES:
        yield Fault.DTYPE, f"unknown dtype {dtype_of(value)}"
    elif isinstance(value, Select) and dtype_of(value.then) != dtype_of(value.otherwise):
        yield Fault.DTYPE, f"select of {dtype_of(value.then)} and {dtype_of(value.otherwise)}"
    elif isinstance(value, Call):
        yield from _call_faults(value)


def _call_faults(value: Call) -> Iterator[tuple[Fault, str]]:
    found = FUNCTIONS.get(value.function)
    if found is None:
        yield Fault.FUNCTION, f"unknown function {value.function}"
    elif found.arity != len(value.args):
        yield Fault.FUNCTION, f"{value.function} takes {found.arity}, not {len(value.args)}"
    else:
        dtypes = tuple(dtype_of(each) for each in value.args)
        if not _fits(found.rule, dtypes, value.dtype):
            yield Fault.DTYPE, f"{value.function} of {', '.join(dtypes)} as {value.dtype}"


def _fits(rule: Rule, args: tuple[str, ...], result: str) -> bool:
    if any(each not in DTYPES for each in args):
        return False
    is_one = len({*args, result}) == 1
    fits = {
        "cast": True,
        "logic": {*args, result} == {"bool"},
        "compare": result == "bool" and len(set(args)) == 1,
        "choose": args[0] == "bool" and len({*args[1:], result}) == 1,
        "float": is_one and DTYPES[result].kind == "float",
        "same": is_one and DTYPES[result].kind != "bool",
    }
    return fits[rule]
