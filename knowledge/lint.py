"""Finds everything that is wrong with packs, each fault with its place."""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from knowledge import lint_examples
from knowledge import lint_names
from knowledge import lint_rules
from knowledge.freezing import PackFile
from knowledge.freezing import frozen
from knowledge.load import read_devices
from knowledge.packs import check_examples
from knowledge.packs import check_names
from knowledge.packs import pack_paths
from knowledge.packs import read_pack
from knowledge.pairs import EXAMPLES
from knowledge.pairs import PACKS
from knowledge.pairs import read_all_pairs
from knowledge.recipes import KnowledgeBase
from knowledge.recipes import Pair
from xeforge.errors import BadRequest
from xeforge.errors import BadSpec

Runner = Callable[[Pair], str]
"""Runs both kernels of a pair somewhere safe; returns what went wrong, or nothing."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        check: Which check found it.
        file, line: Where.
        message: What is wrong.
        remedy: What to do.
    """

    check: str
    file: str
    line: int
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.check}: {self.message}\n  remedy: {self.remedy}"


def lint(*folders: Path, run: Runner | None = None) -> tuple[Fault, ...]:
    """Return everything that is wrong with our packs and those of the folders, file by file.

    What rests on files that cannot be read is not looked at, so that one slip is one fault.

    Args:
        folders: Folders of a user's own packs.
        run: Runs example pairs, a user's own where folders are given; without it they are only
            read.
    """
    found = list(_faulty_devices())
    files: list[PackFile] = []
    for folder in (PACKS, *folders):
        found += _read_folder(folder, files)
    if found:
        return tuple(found)
    found += _attempt(lambda: check_names(files))
    pairs: dict[str, Pair] = {}
    found += _attempt(lambda: pairs.update(read_all_pairs((PACKS, *folders))))
    if found:
        return tuple(found)
    for each in files:
        found += _attempt(partial(check_examples, each, pairs))
    base = KnowledgeBase({each.entry.pack: frozen(each) for each in files}, pairs)
    found += _complaints(base, files)
    if run is not None and not found:
        own = [each for each in pairs.values() if Path(each.file).parent != EXAMPLES]
        found += list(_failing(own if folders else pairs.values(), run))
    return tuple(found)


def _read_folder(folder: Path, files: list[PackFile]) -> list[Fault]:
    """Add the packs of a folder that can be read; return what is wrong with the others."""
    try:
        paths = pack_paths(folder)
    except BadSpec as error:
        return [_fault_of(error)]
    found = []
    for path in paths:
        try:
            files.append(read_pack(path))
        except BadSpec as error:
            found.append(_fault_of(error))
    return found


def _faulty_devices() -> Iterator[Fault]:
    try:
        read_devices()
    except BadSpec as error:
        yield _fault_of(error)


def _attempt(action: Callable[[], object]) -> list[Fault]:
    try:
        action()
    except BadSpec as error:
        return [_fault_of(error)]
    return []


def _fault_of(error: BadSpec) -> Fault:
    field = f"{error.field}: " if error.field else ""
    return Fault(
        "file", error.file or "", error.line or 1, f"{field}{error.message}", error.remedy or ""
    )


def _complaints(base: KnowledgeBase, files: Iterable[PackFile]) -> Iterator[Fault]:
    devices = tuple(read_devices().values())
    for check in (
        lint_names.unknown_devices(base, devices),
        lint_names.thin_evidence(files),
        lint_names.same_text(base),
        lint_rules.trials(base, devices),
        lint_rules.dead(base, devices),
        lint_rules.contradictions(base, devices),
        lint_rules.silent_reversals(base, devices),
        lint_examples.unsound(base),
    ):
        for name, file, line, message, remedy in check:
            yield Fault(name, file, line, message, remedy)


def _failing(pairs: Iterable[Pair], run: Runner) -> Iterator[Fault]:
    for pair in pairs:
        try:
            trouble = run(pair)
        except BadRequest as error:
            trouble = error.message
        if trouble:
            remedy = "run both files at the sizes under small and mend what differs"
            yield Fault("examples", pair.file, pair.line, f"{pair.name}: {trouble}", remedy)
