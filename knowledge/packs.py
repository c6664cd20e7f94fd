"""Reads packs and example pairs whole, refuses what is wrong in them with its place."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from knowledge.entries import ConstraintEntry
from knowledge.entries import PackEntry
from knowledge.entries import RecipeEntry
from knowledge.freezing import PackFile
from knowledge.freezing import frozen
from knowledge.pairs import PACKS
from knowledge.pairs import PAIRS_FILE
from knowledge.pairs import read_all_pairs
from knowledge.recipes import RECIPE_SCOPE
from knowledge.recipes import KnowledgeBase
from knowledge.recipes import Pair
from knowledge.recipes import Ruling
from knowledge.refusals import read_document
from knowledge.refusals import validated
from xeforge.domain.issue import ISSUE_TYPES
from xeforge.errors import BadSpec
from xeforge.intake.marks import nearest
from xeforge.intake.stages import STAGE_NAMES
from xeforge.verify.gates.facts import DEVICE
from xeforge.verify.gates.facts import kinds_of
from xeforge.verify.gates.predicate import BadPredicate
from xeforge.verify.gates.predicate import Kind
from xeforge.verify.gates.predicate import read_predicate

_DEVICE_KINDS: Mapping[str, Kind] = {name: fact.kind for name, fact in DEVICE.items()}


@cache
def load_base(*folders: Path) -> KnowledgeBase:
    """Return all packs of the folders, ours first, merged; read once per process.

    A folder of a user holds pack files, and beside them ``examples/`` with its own list of pairs
    where its recipes need other examples than ours.

    Raises:
        BadSpec: A file is wrong; nothing is returned then. The error names file, line and field.
    """
    folders = (PACKS, *folders)
    files = [read_pack(path) for folder in folders for path in pack_paths(folder)]
    check_names(files)
    pairs = read_all_pairs(folders)
    packs = {each.entry.pack: frozen(each) for each in files}
    for each in files:
        check_examples(each, pairs)
    return KnowledgeBase(MappingProxyType(packs), MappingProxyType(pairs))


@cache
def load_rulings() -> tuple[Ruling, ...]:
    """Return the constraints of our packs; packs without any are not read, which saves a second.

    Raises:
        BadSpec: A pack that has some is wrong.
    """
    paths = [
        path for path in pack_paths(PACKS) if "\nconstraints:" in path.read_text(encoding="utf-8")
    ]
    files = [read_pack(path) for path in paths]
    return tuple(ruling for each in files for ruling in frozen(each).rulings)


def pack_paths(folder: Path) -> list[Path]:
    """Return the pack files of a folder, in alphabetical order.

    Raises:
        BadSpec: There is no such folder, or no pack in it.
    """
    found = sorted(folder.glob("*.yaml"))
    if not found:
        message = "no pack is here" if folder.is_dir() else "there is no such folder"
        raise BadSpec(message, file=folder, remedy="name a folder with pack files, NAME.yaml")
    return found


def read_pack(path: Path) -> PackFile:
    """Read one pack file and check everything that it alone decides.

    Raises:
        BadSpec: The file is wrong; the error names file, line and field.
    """
    document = read_document(path)
    pack = PackFile(document, validated(PackEntry, document))
    entry = pack.entry
    if entry.pack != path.stem:
        message = f"the pack is called {entry.pack!r}, the file {path.stem!r}"
        raise document.bad(("pack",), message, remedy="give both the same name")
    _check_predicate(pack, ("when",), entry.when, _DEVICE_KINDS)
    for index, rule in enumerate(entry.constraints):
        _check_constraint(pack, ("constraints", index), rule)
    for index, recipe in enumerate(entry.recipes):
        _check_recipe(pack, ("recipes", index), recipe)
    return pack


def _check_constraint(pack: PackFile, place: tuple[str | int, ...], rule: ConstraintEntry) -> None:
    kinds = kinds_of(rule.scope)
    _check_shared(pack, place, rule.id, rule.evidence)
    _check_predicate(pack, (*place, "when"), rule.when, kinds)
    _check_predicate(pack, (*place, "require"), rule.require, kinds)
    for key, trials in (("holds", rule.holds), ("breaks", rule.breaks)):
        for name in trials:
            if name not in kinds:
                message = f"no fact of a {rule.scope} is called {name!r}{nearest(name, kinds)}"
                raise pack.document.bad(
                    (*place, key, name), message, remedy="see `xeforge kb show`"
                )


def _check_recipe(pack: PackFile, place: tuple[str | int, ...], recipe: RecipeEntry) -> None:
    bad = pack.document.bad
    _check_shared(pack, place, recipe.id, recipe.evidence)
    _check_predicate(pack, (*place, "when"), recipe.when, kinds_of(RECIPE_SCOPE))
    if recipe.stage not in STAGE_NAMES:
        message = f"no stage is called {recipe.stage!r}{nearest(recipe.stage, STAGE_NAMES)}"
        raise bad((*place, "stage"), message, remedy=f"one of {', '.join(STAGE_NAMES)}")
    for index, issue in enumerate(recipe.cures):
        if issue not in ISSUE_TYPES:
            message = f"no issue is called {issue!r}{nearest(issue, ISSUE_TYPES)}"
            remedy = "see ISSUE_TYPES in xeforge/domain/issue.py"
            raise bad((*place, "cures", index), message, remedy=remedy)
    effect = recipe.effect
    if effect.source is not None and effect.source not in pack.entry.sources:
        raise _no_source(pack, (*place, "effect", "source"), effect.source)
    if effect.strength != "expected" and effect.source is None:
        message = f"an effect that was {effect.strength} has a source"
        raise bad((*place, "effect"), message, remedy="name it, or write strength: expected")
    if effect.strength == "measured" and (effect.ratio is None or effect.device is None):
        message = "a measured effect has a ratio and a device"
        raise bad((*place, "effect"), message, remedy="write both, or strength: expected")
    if effect.strength == "expected" and effect.ratio is not None:
        message = "a ratio that nobody measured is given"
        raise bad(
            (*place, "effect", "ratio"), message, remedy="leave it out, or say where it stands"
        )


def _check_shared(
    pack: PackFile, place: tuple[str | int, ...], name: str, evidence: tuple[str, ...]
) -> None:
    if name.partition(".")[0] != pack.entry.pack:
        message = f"{name!r} does not begin with the pack's name, {pack.entry.pack!r}"
        raise pack.document.bad((*place, "id"), message, remedy=f"call it {pack.entry.pack}.NAME")
    for index, source in enumerate(evidence):
        if source not in pack.entry.sources:
            raise _no_source(pack, (*place, "evidence", index), source)


def _no_source(pack: PackFile, place: tuple[str | int, ...], name: str) -> BadSpec:
    message = f"no source of this pack is called {name!r}{nearest(name, pack.entry.sources)}"
    return pack.document.bad(place, message, remedy="declare it under sources, with its title")


def _check_predicate(
    pack: PackFile, place: tuple[str | int, ...], text: str, kinds: Mapping[str, Kind]
) -> None:
    try:
        read_predicate(text, kinds)
    except BadPredicate as error:
        message = f"no predicate: {error}"
        remedy = "the facts that may be named stand in xeforge/verify/gates/facts.py"
        raise pack.document.bad(place, message, remedy=remedy) from None


def check_names(files: Iterable[PackFile]) -> None:
    """Check what packs say of each other: names, needs, references.

    Raises:
        BadSpec: A name is taken twice, is not known, or refers to itself in a circle.
    """
    files = list(files)
    packs: dict[str, PackFile] = {}
    owners: dict[str, tuple[PackFile, tuple[str | int, ...]]] = {}
    for each in files:
        if each.entry.pack in packs:
            other = packs[each.entry.pack].document.file
            message = f"a pack of this name stands in {other}"
            raise each.document.bad(("pack",), message, remedy="give it another name")
        packs[each.entry.pack] = each
        for name, place in _entries(each.entry):
            if name in owners:
                file, first = owners[name]
                line = file.document.line(first)
                message = f"{name} is there already ({file.document.file}:{line})"
                raise each.document.bad(place, message, remedy="keep one of them")
            owners[name] = (each, place)
    for each in files:
        for index, name in enumerate(each.entry.needs):
            if name not in packs:
                message = f"no pack is called {name!r}{nearest(name, packs)}"
                remedy = "add it, or take the name out"
                raise each.document.bad(("needs", index), message, remedy=remedy)
        _check_references(each, owners)
    _check_circles(
        {name: file.entry.needs for name, file in packs.items()},
        {name: (file, ("needs",)) for name, file in packs.items()},
    )
    after = {recipe.id: recipe.after for file in files for recipe in file.entry.recipes}
    _check_circles(after, owners)


def _entries(entry: PackEntry) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    for index, rule in enumerate(entry.constraints):
        yield rule.id, ("constraints", index, "id")
    for index, recipe in enumerate(entry.recipes):
        yield recipe.id, ("recipes", index, "id")


def _check_references(
    file: PackFile, owners: Mapping[str, tuple[PackFile, tuple[str | int, ...]]]
) -> None:
    for index, recipe in enumerate(file.entry.recipes):
        for key, names in (("undoes", recipe.undoes), ("after", recipe.after)):
            for number, name in enumerate(names):
                if name not in owners:
                    message = f"no recipe is called {name!r}{nearest(name, owners)}"
                    place = ("recipes", index, key, number)
                    raise file.document.bad(place, message, remedy="name one that is there")


def _check_circles(
    arrows: Mapping[str, tuple[str, ...]],
    owners: Mapping[str, tuple[PackFile, tuple[str | int, ...]]],
) -> None:
    """Refuse references that lead back to where they began."""
    done: set[str] = set()
    for start in arrows:
        path: list[str] = []
        waiting = [(start, iter(arrows[start]))]
        while waiting and start not in done:
            name, rest = waiting[-1]
            if name not in path:
                path.append(name)
            following = next((each for each in rest if each not in done), None)
            if following is None:
                done.add(name)
                path.remove(name)
                waiting.pop()
            elif following in path:
                file, place = owners[name]
                circle = " -> ".join([*path[path.index(following) :], following])
                message = f"references go round in a circle: {circle}"
                raise file.document.bad(place, message, remedy="take one of them out")
            else:
                waiting.append((following, iter(arrows.get(following, ()))))


def check_examples(file: PackFile, pairs: Mapping[str, Pair]) -> None:
    """Check that every recipe's example is there.

    Raises:
        BadSpec: One is not.
    """
    for index, recipe in enumerate(file.entry.recipes):
        if recipe.example not in pairs:
            message = f"no example is called {recipe.example!r}{nearest(recipe.example, pairs)}"
            remedy = f"declare it in examples/{PAIRS_FILE}"
            raise file.document.bad(("recipes", index, "example"), message, remedy=remedy)
