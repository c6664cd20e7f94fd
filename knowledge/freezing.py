"""Turns checked packs into plain values."""

from collections.abc import Mapping
from dataclasses import dataclass

from knowledge.entries import ConstraintEntry
from knowledge.entries import EffectEntry
from knowledge.entries import PackEntry
from knowledge.entries import RecipeEntry
from knowledge.recipes import Effect
from knowledge.recipes import Pack
from knowledge.recipes import Recipe
from knowledge.recipes import Ruling
from xeforge.domain.device import Constraint
from xeforge.intake.marks import Document
from xeforge.verify.gates.predicate import Value


@dataclass(frozen=True, slots=True)
class PackFile:
    """One pack as it stands in its file.

    Attributes:
        document: With the lines.
        entry: What it says.
    """

    document: Document
    entry: PackEntry


def frozen(file: PackFile) -> Pack:
    """Turn a checked pack into plain values."""
    entry, document = file.entry, file.document
    sources = {
        name: f"{each.title} <{each.url}>" if each.url else each.title
        for name, each in entry.sources.items()
    }
    return Pack(
        name=entry.pack,
        about=entry.about,
        needs=entry.needs,
        rulings=tuple(
            _ruling(rule, entry, sources, (document.file, document.line(("constraints", n)) or 1))
            for n, rule in enumerate(entry.constraints)
        ),
        recipes=tuple(
            _recipe(recipe, entry, sources, (document.file, document.line(("recipes", n)) or 1))
            for n, recipe in enumerate(entry.recipes)
        ),
        file=document.file,
    )


def _both(pack_when: str, own: str) -> str:
    """Join the pack's condition and an entry's own."""
    return " and ".join(f"({each.strip()})" for each in (pack_when, own) if each.strip())


def _ruling(
    rule: ConstraintEntry, pack: PackEntry, sources: Mapping[str, str], place: tuple[str, int]
) -> Ruling:
    return Ruling(
        rule=Constraint(
            id=rule.id,
            scope=rule.scope,
            when=_both(pack.when, rule.when),
            require=rule.require,
            refuses=rule.refuses,
            gate=rule.gate,
            says=rule.says,
            remedy=rule.remedy,
            strength=rule.strength,
            source="; ".join(sources[each] for each in rule.evidence),
        ),
        holds=_values(rule.holds),
        breaks=_values(rule.breaks),
        file=place[0],
        line=place[1],
    )


def _values(trials: Mapping[str, object]) -> dict[str, Value]:
    return dict(trials.items())  # type: ignore[arg-type] # the model has checked them


def _recipe(
    recipe: RecipeEntry, pack: PackEntry, sources: Mapping[str, str], place: tuple[str, int]
) -> Recipe:
    return Recipe(
        id=recipe.id,
        stage=recipe.stage,
        cures=frozenset(recipe.cures),
        when=_both(pack.when, recipe.when),
        says=" ".join(recipe.says.split()),
        hurts=" ".join(recipe.hurts.split()),
        example=recipe.example,
        effect=_effect(recipe.effect, sources),
        strength=recipe.strength,
        evidence=tuple(sources[each] for each in recipe.evidence),
        needs_triton=recipe.needs_triton or "",
        undoes=frozenset(recipe.undoes),
        after=recipe.after,
        turns={str(knob): str(way) for knob, way in recipe.turns.items()},
        file=place[0],
        line=place[1],
    )


def _effect(effect: EffectEntry, sources: Mapping[str, str]) -> Effect:
    return Effect(
        expect=" ".join(effect.expect.split()),
        strength=effect.strength,
        ratio=effect.ratio,
        device=effect.device or "",
        source=sources[effect.source] if effect.source else "",
    )
