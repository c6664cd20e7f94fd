"""The reference compiled at all shapes that matter to a job, and what may be taken together."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from xeforge.domain.declined import DeclineReason
from xeforge.domain.problem import Workload
from xeforge.errors import XeForgeError
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.ports import Assignment
from xeforge.propose.emitted_file import EmittedFile
from xeforge.propose.entry_edit import Entry
from xeforge.propose.fused_paths import FusedPath
from xeforge.propose.fused_paths import kernel_forms
from xeforge.propose.fused_sources import Compiled
from xeforge.propose.fused_sources import Compiler
from xeforge.propose.fused_sources import Obstacle
from xeforge.propose.fused_sources import smaller

_MOST_CHECKED = 4
"""Shapes of other checks that fused kernels are made for, too; each is a compilation."""
_MOST_TILINGS = 4
_CHECKS = "checks of "
"""In front of the names of workloads in whose place other shapes are checked."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Kernels of one plan with one choice of tiles, for a timed workload.

    Attributes:
        tiling: Tiles by group.
        own: At its own shapes.
        stand: At those that are checked in its place; the same kernels up to numbers.
    """

    tiling: Mapping[str, Tile]
    own: EmittedFile
    stand: EmittedFile


@dataclass(frozen=True, slots=True)
class Fused:
    """What goes into one file.

    Attributes:
        timed: Workloads with a fused path, and which; at least one.
        paths: Of these, and of the shapes at which the same kernels are checked.
    """

    timed: Sequence[tuple[Compiled, Variant]]
    paths: Sequence[FusedPath]


class Sizes:
    """Compiles the reference at every timed shape, at what stands for it, and at other checks.

    Args:
        assignment: Names the shapes.
        entry: Of the kernel that the paths are put into.
        compiler: Of the reference.

    Raises:
        Obstacle: At none of the timed shapes can it be compiled.
    """

    def __init__(self, assignment: Assignment, entry: Entry, compiler: Compiler) -> None:
        self._entry = entry
        self._compiler = compiler
        self._stands: dict[str, Compiled] = {}
        self._known: dict[tuple[str, int], list[Variant]] = {}
        self.complaint = ""
        self.timed: list[Compiled] = []
        obstacles: list[Obstacle] = []
        for workload in assignment.problem.timed:
            try:
                self._add(workload, assignment.standing.get(workload.name, workload))
            except Obstacle as obstacle:
                obstacles.append(obstacle)
        if not self.timed:
            raise obstacles[0]
        self._checked = self._others(assignment)

    def _add(self, workload: Workload, standing: Workload) -> None:
        compiled = self._compiler.at(workload, proofs=True)
        if len(compiled.graph.inputs) != len(self._entry.inputs):
            words = f"forward() takes {len(self._entry.inputs)} inputs, the reference's takes "
            raise Obstacle(DeclineReason.ENTRY, f"{words}{len(compiled.graph.inputs)}")
        is_own = _shapes(standing) == _shapes(workload)
        stand = compiled if is_own else self._compiler.at(standing, proofs=False)
        self.timed.append(compiled)
        self._stands[workload.name] = stand

    def _others(self, assignment: Assignment) -> list[Compiled]:
        """Compile at other shapes of the checks; where that fails, those take the kernel's path."""
        compiled = [*self.timed, *self._stands.values()]
        known = [_shapes(each.workload) for each in compiled]
        found: list[Compiled] = []
        for workload in assignment.checked:
            if _shapes(workload) in known or len(found) == _MOST_CHECKED:
                continue
            known.append(_shapes(workload))
            try:
                found.append(self._compiler.at(workload, proofs=False))
            except Obstacle:
                continue
        return found

    def fused(self, plan: int, rank: int) -> Fused | None:
        """Return a plan with tiles of a rank; None where nothing of it can be checked.

        Where a workload has fewer tiles than that, or fewer plans, it takes the last one.
        """
        timed = [
            (each, variants[min(rank, len(variants) - 1)])
            for each in self.timed
            if (variants := self._variants(each, plan))
        ]
        if not timed:
            return None
        paths: dict[object, FusedPath] = {}
        for compiled, variant in timed:
            self._put(paths, compiled, variant.own)
        for compiled, variant in timed:
            self._put(paths, self._stands[compiled.workload.name], variant.stand, _CHECKS)
        for compiled in self._checked:
            for _, variant in timed:
                # Small tiles first, so that there are several of them.
                tilings = (*smaller(variant.tiling), variant.tiling)
                file = _matching(compiled, plan, tilings, kernel_forms(variant.own))
                if file is not None:
                    self._put(paths, compiled, file, _CHECKS)
        return Fused(timed, tuple(paths.values()))

    def _variants(self, compiled: Compiled, plan: int) -> list[Variant]:
        key = (compiled.workload.name, plan)
        if key not in self._known:
            self._known[key] = list(islice(self._checkable(compiled, plan), _MOST_TILINGS))
        return self._known[key]

    def _checkable(self, compiled: Compiled, plan: int) -> Iterator[Variant]:
        """Yield choices of tiles in whose place the checks run the very same kernels."""
        stand = self._stands[compiled.workload.name]
        for tiling in compiled.tilings(plan):
            try:
                own = compiled.file(plan, tiling)
            except XeForgeError as error:
                self.complaint = f"{compiled.workload.name}: {error}"
                continue
            forms = kernel_forms(own)
            small = own if stand is compiled else _standing(stand, plan, tiling, forms)
            if small is not None:
                yield Variant(tiling, own, small)
            else:
                self.complaint = (
                    f"{compiled.workload.name}: the interpreter checks smaller shapes, for which "
                    "kernels are made differently"
                )

    def _put(
        self,
        paths: dict[object, FusedPath],
        compiled: Compiled,
        file: EmittedFile,
        words: str = "",
    ) -> None:
        given: Sequence[object] | None = compiled.workload.init_args
        if given is None:
            given = self._entry.own_arguments(self._compiler.reference.text)
        arguments = self._entry.arguments(given)
        path = FusedPath(f"{words}{compiled.workload.name}", file, arguments, compiled.training)
        key = (tuple((each.place, each.shape, each.dtype) for each in file.given), repr(arguments))
        paths.setdefault(key, path)


def _standing(
    stand: Compiled, plan: int, tiling: Mapping[str, Tile], forms: frozenset[str]
) -> EmittedFile | None:
    """Return the same kernels at small shapes: in the same tiles, if there are several of them."""
    others = tuple(smaller(tiling))
    is_many = stand.tile_count(plan, tiling) > 1
    tilings = (tiling, *others) if is_many else (*others, tiling)
    # What is the fastest at large shapes may be another one of the plans at small ones.
    plans = dict.fromkeys((plan, *range(len(stand.compilation.built))))
    found = (_matching(stand, each, tilings, forms) for each in plans)
    return next((each for each in found if each is not None), None)


def _matching(
    compiled: Compiled, plan: int, tilings: Iterable[Mapping[str, Tile]], forms: frozenset[str]
) -> EmittedFile | None:
    """Return the first file of a plan whose kernels differ from others in numbers alone."""
    for tiling in tilings:
        try:
            file = compiled.file(plan, tiling)
        except XeForgeError:
            continue  # this tile does not fit these shapes
        if kernel_forms(file) == forms:
            return file
    return None


def _shapes(workload: Workload) -> object:
    inputs = tuple((each.shape, each.dtype) for each in workload.inputs)
    return inputs, workload.init_args, workload.dtype, workload.memory_format
