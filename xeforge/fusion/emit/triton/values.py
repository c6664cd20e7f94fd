"""Expressions of statements as Triton source: loads, arithmetic, and what is held in registers."""

import math
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import TypeAlias

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import number
from xeforge.fusion.emit.triton.frame import Claim
from xeforge.fusion.emit.triton.frame import Frame
from xeforge.fusion.emit.triton.frame import Span
from xeforge.fusion.emit.triton.frame import mentioned
from xeforge.fusion.emit.triton.frame import opposite
from xeforge.fusion.emit.triton.scalar import INFIX
from xeforge.fusion.emit.triton.scalar import MEMBERS
from xeforge.fusion.emit.triton.scalar import helper_name
from xeforge.fusion.emit.triton.text import Lines
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.emit.triton.words import HALVES
from xeforge.fusion.emit.triton.words import language_dtype
from xeforge.fusion.emit.triton.words import literal
from xeforge.fusion.functions import children
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Position
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select

_ATOM, _UNARY = 9, 6
_LONGEST = 60
"""Characters up to which an expression stays within another one."""
_LEFT_ASSOCIATIVE = frozenset({"add", "sub", "mul", "div"})

Conditions: TypeAlias = tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Source of one value.

    Attributes:
        code: An expression.
        binding: How tight its outermost operator binds.
        is_number: Whether it is a plain number, which has no dtype of its own.
    """

    code: str
    binding: int = _ATOM
    is_number: bool = False

    def within(self, binding: int) -> str:
        """Return the code, in brackets where what stands around it binds at least as tight."""
        return f"({self.code})" if self.binding <= binding else self.code


@dataclass(slots=True)
class Values:
    """Writes the source of values into a kernel.

    Attributes:
        frame: Positions.
        names: Of the kernel.
        arrays: Of the program.
        lines: Where lines go; changed when a loop is entered.
        held: Text of the value of each array that is in registers.
        loaded: Variable of each load that is in scope.
        helpers: Names of functions of ours that were used.
        pointers: Parameter of each array that is in memory, in order of first use.
        padding: Whether masked loads give zero, as products need it.
        forces_blocks: Whether loops count in plain Python numbers under the interpreter, so that
            whatever depends on them alone must be made a block.
        is_short: Whether functions need no more digits than 16-bit formats have.
    """

    frame: Frame
    names: Names
    arrays: Mapping[str, Array]
    lines: Lines
    held: dict[str, Text] = field(default_factory=dict)
    loaded: dict[str, str] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)
    pointers: dict[str, str] = field(default_factory=dict)
    padding: bool = False
    forces_blocks: bool = False
    is_short: bool = False

    def on(self, frame: Frame) -> "Values":
        """Return the same kernel seen from other positions, with nothing in registers."""
        return replace(self, frame=frame, held={}, loaded={})

    def value(self, expr: Expr, conditions: Conditions = ()) -> Text:
        """Return the source of an expression, which is used only where the conditions hold."""
        return _Writer(self, _uses(expr)).write(expr, conditions)

    def named(self, text: Text, wanted: str, dtype: str) -> str:
        """Give a value a variable, and return it."""
        name = self.names.fresh(wanted)
        self.lines.add(f"{name} = {self.typed(text, dtype)}")
        return name

    def typed(self, text: Text, dtype: str) -> str:
        """Return the source of a value that has a dtype also where it is a plain number."""
        if not text.is_number:
            return text.code
        return f"tl.full((), {text.code}, {language_dtype(dtype)})"

    def pointer(self, array: str) -> str:
        """Return the parameter that points to an array."""
        if array not in self.pointers:
            self.pointers[array] = self.names.fresh(f"{array}_ptr")
        return self.pointers[array]

    def load(self, access: Access, conditions: Conditions) -> str:
        """Load an element, or take the variable that has it; padding where a guard fails."""
        needed = self.frame.needed((*conditions, *access.guard))
        offset, mask = self.place(access, needed)
        text = f"tl.load({offset}"
        if mask is not None:
            text += f", mask={mask}"
            if self.frame.needed(access.guard):
                text += f", other={literal(access.otherwise, self.arrays[access.array].dtype)}"
            elif self.padding:
                text += f", other={literal(0.0, self.arrays[access.array].dtype)}"
        text += ")"
        if text not in self.loaded:
            name = self.names.fresh(access.array)
            self.lines.add(f"{name} = {text}")
            self.loaded[text] = name
        return self.loaded[text]

    def place(
        self, access: Access, conditions: Conditions, over: Sequence[Span] = ()
    ) -> tuple[str, str | None]:
        """Return pointers and mask of an access under conditions.

        The pointers are a block along the spans that occur, and along all of `over`.
        """
        offset = flat_offset(access, self.arrays[access.array].shape)
        along = self.frame.blocks((offset,))
        wanted = self.frame.blocks((offset, *mentioned(conditions)))
        if conditions and not wanted and self.forces_blocks:
            wanted = self._some_block()
        wanted = (*wanted, *(each for each in over if each not in wanted))
        text = self.frame.affine(offset)
        text = "" if text == "0" else f" + {text}"
        text += "".join(f" + {each.index} * 0" for each in wanted if each not in along)
        mask = self.mask(conditions, wanted)
        if mask is not None and len(mask) > _LONGEST:
            name = self.loaded.get(mask)
            if name is None:
                name = self.loaded[mask] = self.names.fresh("mask")
                self.lines.add(f"{name} = {mask}")
            mask = name
        return f"{self.pointer(access.array)}{text}", mask

    def mask(self, conditions: Conditions, along: Sequence[Span] = ()) -> str | None:
        """Return what says where conditions hold and positions exist; None where everywhere."""
        parts = [each.inside for each in along if each.inside is not None]
        needed = self.frame.needed(conditions)
        if needed and not parts and self.forces_blocks and not self._have_block(needed):
            parts = [f"({each.index} >= 0)" for each in self._some_block()]
        parts += [f"({self.frame.condition(each)})" for each in needed]
        if not parts:
            return None
        if len(parts) == 1 and parts[0].startswith("("):
            return parts[0][1:-1]
        return " & ".join(parts)

    def _have_block(self, claims: Conditions) -> bool:
        return bool(self.frame.blocks(mentioned(claims)))

    def _some_block(self) -> tuple[Span, ...]:
        return tuple(each for each in self.frame.spans if each.is_block)[:1]

    def holds(self, conditions: Conditions) -> str | None:
        """Return a mask of conditions alone."""
        return self.mask(conditions)

    def position(self, of: Affine, dtype: str) -> Text:
        """Return an expression in the axes as a value."""
        simple = of.simplified(self.frame.extents)
        if not simple.terms:
            return Text(literal(simple.constant, dtype), is_number=True)
        text = self.frame.affine(of)
        if self.forces_blocks and not self.frame.blocks((of,)):
            text += "".join(f" + {each.index} * 0" for each in self._some_block())
        return Text(f"({text}).to({language_dtype(dtype)})")


class _Writer:
    """Writes one expression; parts that are used twice, or are long, get a variable."""

    def __init__(self, values: Values, uses: Mapping[int, int]) -> None:
        self._values = values
        self._uses = uses
        self._done: dict[tuple[int, Conditions], Text] = {}

    def write(self, expr: Expr, conditions: Conditions) -> Text:
        key = (id(expr), conditions)
        if key in self._done:
            return self._done[key]
        text = self._text(expr, conditions)
        is_shared = self._uses[id(expr)] > 1 or len(text.code) > _LONGEST
        if isinstance(expr, Call | Select) and is_shared and not text.is_number:
            text = Text(self._values.named(text, _wanted(expr), dtype_of(expr)))
        self._done[key] = text
        return text

    def _text(self, expr: Expr, conditions: Conditions) -> Text:
        if isinstance(expr, Const):
            negative = expr.value < 0 or math.copysign(1, expr.value) < 0
            binding = _UNARY if negative else _ATOM
            return Text(literal(expr.value, expr.dtype), binding, is_number=True)
        if isinstance(expr, Read):
            return self._read(expr, conditions)
        if isinstance(expr, Position):
            return self._values.position(expr.of, expr.dtype)
        if isinstance(expr, Call):
            return self._call(expr, [self.write(each, conditions) for each in expr.args])
        return self._select(expr, conditions)

    def _read(self, expr: Read, conditions: Conditions) -> Text:
        values, access = self._values, expr.access
        held = values.held.get(access.array)
        if held is None:
            return Text(values.load(access, conditions))
        mask = values.holds(access.guard)
        if mask is None:
            return held
        padding = literal(access.otherwise, expr.dtype)
        return Text(f"tl.where({mask}, {values.typed(held, expr.dtype)}, {padding})")

    def _select(self, expr: Select, conditions: Conditions) -> Text:
        mask = self._values.holds(expr.guard)
        then = self.write(expr.then, (*conditions, *expr.guard))
        otherwise = self.write(expr.otherwise, (*conditions, opposite(expr.guard)))
        if mask is None:
            return then
        texts = [self._values.typed(each, dtype_of(expr)) for each in (then, otherwise)]
        return Text(f"tl.where({mask}, {texts[0]}, {texts[1]})")

    def _call(self, expr: Call, args: list[Text]) -> Text:
        function, dtype = expr.function, dtype_of(expr.args[-1])
        if function == "cast":
            return self._cast(args[0], dtype, expr.dtype)
        if all(each.is_number for each in args):
            args = [Text(self._values.typed(args[0], dtype_of(expr.args[0]))), *args[1:]]
        if function in INFIX:
            sign, own = INFIX[function]
            left = own - 1 if function in _LEFT_ASSOCIATIVE else own
            return Text(f"{args[0].within(left)} {sign} {args[1].within(own)}", own)
        if function == "neg":
            return Text(f"-{args[0].within(_UNARY)}", _UNARY)
        if function == "not":
            return Text(f"{args[0].within(1)} == 0", 1)
        is_half = dtype in HALVES and function not in {"abs", "where"}
        if is_half:
            args = [self._cast(each, dtype, "float32") for each in args]
        text = self._applied(expr, args, "float32" if is_half else dtype)
        return self._cast(text, "float32", dtype) if is_half else text

    def _applied(self, expr: Call, args: list[Text], dtype: str) -> Text:
        helper = helper_name(expr.function, dtype, is_short=self._values.is_short)
        if helper is not None:
            self._values.helpers.add(helper)
        words = MEMBERS[expr.function] if helper is None else f"_{helper}"
        codes = [
            self._values.typed(each, dtype) if each.is_number and dtype == "float64" else each.code
            for each in args
        ]
        if expr.function == "where" and args[1].is_number and args[2].is_number:
            codes[1] = self._values.typed(args[1], dtype)
        return Text(f"{words}({', '.join(codes)})")

    def _cast(self, text: Text, before: str, dtype: str) -> Text:
        if before == dtype or text.is_number:
            return text
        if dtype == "bool":
            return Text(f"{text.within(1)} != 0", 1)
        return Text(f"{text.within(_ATOM - 1)}.to({language_dtype(dtype)})")


def flat_offset(access: Access, shape: Sequence[int]) -> Affine:
    """Return the number of the element that an access names, in a dense array."""
    offset = number(0)
    for index, size in zip(access.index, shape, strict=True):
        offset = offset * size + index
    return offset


def _uses(expr: Expr) -> dict[int, int]:
    """Count how often each part occurs, by identity; a part's own parts count once."""
    counts: dict[int, int] = {}
    waiting = [expr]
    while waiting:
        each = waiting.pop()
        counts[id(each)] = counts.get(id(each), 0) + 1
        if counts[id(each)] == 1:
            waiting.extend(children(each))
    return counts


def _wanted(expr: Expr) -> str:
    if isinstance(expr, Call):
        if expr.function == "cast" and isinstance(expr.args[0], Read):
            return f"{expr.args[0].access.array}_wide"
        return f"{expr.function}_of" if expr.function not in INFIX else "t"
    return "chosen"
