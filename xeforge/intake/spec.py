"""Reads a YAML spec: shapes, dtypes, constructor arguments, tolerances, formulas, variants."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.errors import BadRequest
from xeforge.intake.entries import Resolved
from xeforge.intake.entries import resolve_variant
from xeforge.intake.marks import Document
from xeforge.intake.marks import Path
from xeforge.intake.marks import nearest
from xeforge.intake.marks import read_yaml
from xeforge.intake.schema import Layout
from xeforge.intake.schema import read_layout


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec, fully resolved.

    Attributes:
        document: Source of lines for later complaints.
        workloads: All entries of all variants, those of the chosen variants first.
        paths: Entry of each workload in the document, by workload name.
        notes: What reading decided.
    """

    document: Document
    workloads: tuple[Workload, ...]
    paths: Mapping[str, Path]
    notes: tuple[str, ...]


def read_spec(source: SourceFile, *, variants: Sequence[str], prefers_xpu: bool) -> Spec:
    """Read a spec and choose what is optimized.

    Args:
        source: The YAML text.
        variants: Variants asked for; empty: the spec's default.
        prefers_xpu: The target is an Intel device, so that ``bench-xpu`` may be the default.

    Raises:
        BadSpec: The spec breaks its format; with file, line, field and remedy.
        BadRequest: A variant asked for is not there.
    """
    layout = read_layout(read_yaml(source.text, source.path))
    chosen, why = _choose(layout, variants, prefers_xpu=prefers_xpu)
    notes = [*layout.notes, why]
    found: list[Resolved] = []
    for name in (*chosen, *(each for each in layout.variants if each not in chosen)):
        resolved = list(resolve_variant(layout, name))
        if name in chosen and len(resolved) > 1:
            notes.append(f"all {len(resolved)} entries of {name} are used, not the first alone")
        for each in resolved:
            if each.too_large is None:
                timed = replace(each.workload, is_timed=name in chosen)
                found.append(replace(each, workload=timed))
                notes += each.notes
            elif name in chosen:
                raise each.too_large
            else:
                notes.append(f"left out of the verification: {each.too_large.message}")
    notes += _about_weights(found)
    return Spec(
        document=layout.document,
        workloads=tuple(each.workload for each in found),
        paths={each.workload.name: each.path for each in found},
        notes=tuple(dict.fromkeys(notes)),
    )


def _choose(
    layout: Layout, asked: Sequence[str], *, prefers_xpu: bool
) -> tuple[tuple[str, ...], str]:
    """Return the variants to optimize for, and why these."""
    known = layout.variants
    if asked:
        for each in asked:
            if each not in known:
                raise BadRequest(
                    f"the spec has no variant {each!r}{nearest(each, known)}",
                    file=layout.document.file,
                    field="variant",
                    remedy=f"one of {', '.join(known)}",
                )
        return tuple(dict.fromkeys(asked)), f"shapes of {', '.join(asked)}, as asked"
    if layout.default_variant is not None:
        name = layout.default_variant
        if name not in known:
            raise layout.document.bad(
                ("default_variant",),
                f"the spec has no variant {name!r}{nearest(name, known)}",
                remedy=f"one of {', '.join(known)}",
            )
        return (name,), f"shapes of {name}, the spec's default_variant"
    for name in ("bench-gpu", "bench-xpu") if prefers_xpu else ("bench-gpu",):
        if name in known:
            return (name,), f"shapes of {name}, the default where nothing is asked for"
    if len(known) == 1:
        name = next(iter(known))
        return (name,), f"shapes of {name}, the only variant"
    raise BadRequest(
        "the spec has several variants and no default",
        file=layout.document.file,
        field="variant",
        remedy=f"choose one with --variant: {', '.join(known)}",
    )


def _about_weights(found: Sequence[Resolved]) -> list[str]:
    weights = {each.workload.weight for each in found if each.workload.is_timed}
    if len(weights) <= 1:
        return []
    return ["speed-ups are averaged by the weights of the entries; an entry without one counts 1"]
