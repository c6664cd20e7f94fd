"""Affine expressions and conditions as C; array accesses as one offset."""

from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from xeforge.fusion.affine import Affine
from xeforge.fusion.affine import Atom
from xeforge.fusion.affine import Condition
from xeforge.fusion.affine import Quotient
from xeforge.fusion.affine import Remainder
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Call
from xeforge.fusion.ir import Expr
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Select
from xeforge.fusion.ir import Stmt

Extents = Mapping[str, int]
Change = Callable[[Access], Access]


def axis_name(name: str) -> str:
    """Return the C variable of an axis; no keyword and no array has such a name."""
    return f"i_{name}"


def affine_text(of: Affine, extents: Extents) -> str:
    """Write an expression in 64-bit integers; dividends that may be negative round down."""
    parts: list[str] = []
    for atom, times in of.terms:
        text = _atom_text(atom, extents)
        sign = "-" if times < 0 else ("+" if parts else "")
        factor = "" if abs(times) == 1 else f"{abs(times)} * "
        parts.append(f"{sign} {factor}{text}" if parts else f"{sign}{factor}{text}")
    if of.constant or not parts:
        sign = "-" if of.constant < 0 else "+"
        parts.append(f"{sign} {abs(of.constant)}" if parts else str(of.constant))
    return " ".join(parts)


def _atom_text(atom: Atom, extents: Extents) -> str:
    if isinstance(atom, str):
        return axis_name(atom)
    inner = affine_text(atom.of, extents)
    is_quotient = isinstance(atom, Quotient)
    if atom.of.interval(extents)[0] < 0:
        return f"{'xf_floor_div' if is_quotient else 'xf_floor_mod'}({inner}, {atom.by})"
    bracketed = inner if atom.of.single_axis() else f"({inner})"
    return f"({bracketed} {'/' if is_quotient else '%'} {atom.by})"


def conditions_text(conditions: Sequence[Condition], extents: Extents) -> str:
    """Write a conjunction; empty where all of them always hold."""
    kept = [each for each in dict.fromkeys(conditions) if not each.always_holds(extents)]
    texts = []
    for each in kept:
        of = each.of.simplified(extents)
        positive = Affine(tuple((a, t) for a, t in of.terms if t > 0), max(of.constant, 0))
        negative = Affine(tuple((a, -t) for a, t in of.terms if t < 0), max(-of.constant, 0))
        left, right = affine_text(positive, extents), affine_text(negative, extents)
        texts.append(f"{left} {each.relation} {right}")
    return " && ".join(texts)


def flattened(stmt: Stmt, arrays: Mapping[str, Array]) -> Stmt:
    """Return the statement with one index per access: the offset in elements."""
    extents = stmt.extents()

    def flat(access: Access) -> Access:
        offset = Affine()
        for index, size in zip(access.index, arrays[access.array].shape, strict=True):
            offset = offset * size + index.simplified(extents)
        guard = tuple(each for each in access.guard if not each.always_holds(extents))
        return replace(access, index=(recombined(offset).simplified(extents),), guard=guard)

    return replace(stmt, output=flat(stmt.output), body=with_accesses(stmt.body, flat))


def with_accesses(value: Expr, change: Change) -> Expr:
    """Return the expression with every access changed."""
    if isinstance(value, Read):
        return replace(value, access=change(value.access))
    if isinstance(value, Call):
        return replace(value, args=tuple(with_accesses(each, change) for each in value.args))
    if isinstance(value, Select):
        then = with_accesses(value.then, change)
        return replace(value, then=then, otherwise=with_accesses(value.otherwise, change))
    return value


def recombined(of: Affine) -> Affine:
    """Put quotients and remainders of one division together: ``5 * (i // 5) + i % 5`` is i."""
    for atom, times in of.terms:
        if isinstance(atom, Quotient) and times % atom.by == 0:
            rest = Remainder(atom.of, atom.by)
            factor = times // atom.by
            if (rest, factor) in of.terms:
                kept = tuple(each for each in of.terms if each[0] not in (atom, rest))
                return recombined(Affine(kept, of.constant) + atom.of * factor)
    return of
