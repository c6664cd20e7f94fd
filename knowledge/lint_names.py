"""Checks of names and texts: devices that nobody knows, thin evidence, the same thing twice."""

import ast
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import TypeAlias

from knowledge.entries import ConstraintEntry
from knowledge.entries import RecipeEntry
from knowledge.freezing import PackFile
from knowledge.recipes import KnowledgeBase
from xeforge.domain.device import Device
from xeforge.intake.marks import nearest

Complaint: TypeAlias = tuple[str, str, int, str, str]
"""Check, file, line, message, remedy."""

_NAMED = ("name", "vendor", "architecture", "backend")


def unknown_devices(base: KnowledgeBase, devices: Sequence[Device]) -> Iterator[Complaint]:
    """Yield every device, vendor or architecture that no device file has."""
    known = {key: {str(getattr(each, key)) for each in devices} for key in _NAMED}
    entries = [(each.file, each.line, each.when) for each in base.recipes]
    entries += [(e.file, e.line, t) for e in base.rulings for t in (e.rule.when, e.rule.require)]
    for file, line, text in dict.fromkeys(entries):
        for key, value in _compared(text):
            if value not in known[key]:
                near = nearest(value, known[key])
                message = f"no device has the {key} {value!r}{near}"
                remedy = "see `xeforge kb list devices`, or add a device file"
                yield "devices", file, line, message, remedy
    for each in base.recipes:
        name = each.effect.device
        if name and name not in known["name"]:
            message = f"measured on the unknown device {name!r}{nearest(name, known['name'])}"
            yield "devices", each.file, each.line, message, "name a device model"


def _compared(text: str) -> Iterator[tuple[str, str]]:
    """Yield the texts that facts such as ``device.vendor`` are compared with."""
    for node in ast.walk(ast.parse(" ".join(text.split()) or "True", mode="eval")):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        keys = [
            each.attr
            for each in sides
            if isinstance(each, ast.Attribute)
            and isinstance(each.value, ast.Name)
            and each.value.id == "device"
            and each.attr in _NAMED
        ]
        for key in keys:
            for side in sides:
                for each in ast.walk(side):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield key, each.value


def thin_evidence(files: Iterable[PackFile]) -> Iterator[Complaint]:
    """Yield what is called documented without a place to look, and sources nobody cites."""
    for file in files:
        entry, document = file.entry, file.document
        cited: set[str] = set()
        entries: list[tuple[str, int, ConstraintEntry | RecipeEntry]] = [
            *(("constraints", index, each) for index, each in enumerate(entry.constraints)),
            *(("recipes", index, each) for index, each in enumerate(entry.recipes)),
        ]
        for kind, index, each in entries:
            cited |= set(each.evidence)
            has_place = any(entry.sources[name].url for name in each.evidence)
            if each.strength == "documented" and not has_place:
                line = document.line((kind, index, "evidence")) or 1
                message = f"{each.id} is called documented, but none of its sources has a url"
                remedy = "give one, or call it claimed"
                yield "evidence", document.file, line, message, remedy
        cited |= {each.effect.source for each in entry.recipes if each.effect.source}
        for name in entry.sources.keys() - cited:
            line = document.line(("sources", name)) or 1
            message = f"the source {name!r} is cited nowhere"
            yield "evidence", document.file, line, message, "cite it, or take it out"


def same_text(base: KnowledgeBase) -> Iterator[Complaint]:
    """Yield advice and rules that are there under two names."""
    seen: dict[tuple[str, ...], str] = {}
    for recipe in base.recipes:
        key: tuple[str, ...] = ("says", recipe.says.casefold())
        if key in seen:
            message = f"{recipe.id} says what {seen[key]} says"
            yield "duplicates", recipe.file, recipe.line, message, "keep one of them"
        seen.setdefault(key, recipe.id)
    for ruling in base.rulings:
        rule = ruling.rule
        key = ("rule", rule.scope, *(" ".join(t.split()) for t in (rule.when, rule.require)))
        if key in seen:
            message = f"{rule.id} requires what {seen[key]} requires"
            yield "duplicates", ruling.file, ruling.line, message, "keep one of them"
        seen.setdefault(key, rule.id)
