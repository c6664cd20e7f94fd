"""Plans of the fusion compiler at the shapes of a job: what there is to choose from."""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from math import ceil
from typing import Literal

from xeforge.domain.declined import DeclineReason
from xeforge.domain.problem import Workload
from xeforge.errors import PlatformError
from xeforge.errors import XeForgeError
from xeforge.fusion.driver import Built
from xeforge.fusion.driver import Compilation
from xeforge.fusion.driver import Frame
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.driver import triton_target
from xeforge.fusion.emit.triton.contraction import problem_of
from xeforge.fusion.emit.triton.ranking import candidates
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph_json import loads_graph
from xeforge.ports import Assignment
from xeforge.propose.emitted_file import EmittedFile
from xeforge.propose.emitted_file import cut_up

Mode = Literal["train", "eval"]
_SMALL_TILES = ((32, 64, 64), (32, 32, 64), (32, 32, 32), (16, 32, 32), (16, 16, 32), (16, 16, 16))
_EVAL_WORDS = ("self.eval()", "self.train(False)")


class Obstacle(Exception):
    """Nothing can be made, in one typed line."""

    def __init__(self, reason: DeclineReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Compiled:
    """The reference at the shapes of one workload.

    Attributes:
        workload: The shapes.
        graph: As captured.
        compilation: Its plans.
        training: Mode of the module that the graph holds for; None: either.
        target: What Triton can do where the kernels run.
    """

    workload: Workload
    graph: Graph
    compilation: Compilation
    training: bool | None
    target: TritonTarget

    def built(self, plan: int) -> Built:
        """Return a plan, the fastest by the model first; the last one where there are fewer."""
        return self.compilation.built[min(plan, len(self.compilation.built) - 1)]

    def tilings(self, plan: int) -> Iterator[Mapping[str, Tile]]:
        """Yield tiles of a plan's contractions by group, in the order of trying; one at least."""
        found = self.built(plan).candidate.plan
        tiles = {
            group.name: _in_order(candidates(problem_of(group, found.program), self.target))
            for group in found.groups
            if group.family == "contraction"
        }
        for rank in range(max(map(len, tiles.values()), default=1)):
            yield {name: each[min(rank, len(each) - 1)] for name, each in tiles.items() if each}

    def tile_count(self, plan: int, tiling: Mapping[str, Tile]) -> int:
        """Return the fewest tiles that any contraction is cut into; 2 where there is none."""
        found = self.built(plan).candidate.plan
        sizes = {
            group.name: problem_of(group, found.program)
            for group in found.groups
            if group.family == "contraction"
        }
        return min(
            (
                ceil(sizes[name].m / tile.m) * ceil(sizes[name].n / tile.n)
                for name, tile in tiling.items()
                if name in sizes
            ),
            default=2,
        )

    def file(self, plan: int, tiling: Mapping[str, Tile]) -> EmittedFile:
        """Return the file of a plan.

        Raises:
            CannotEmit: It has no form in Triton with these tiles.
        """
        built = self.built(plan)
        frame = built.frame
        if not isinstance(frame, Frame):
            raise Obstacle(DeclineReason.TARGET, "the kernels would be C")
        tiles = {name: [tile] for name, tile in tiling.items()}
        return cut_up(frame.source(built.candidate.plan, tiles))


def smaller(tiling: Mapping[str, Tile]) -> Iterator[Mapping[str, Tile]]:
    """Yield tiles of the same form for small shapes: the same kernels, in more programs."""
    for m, n, k in _SMALL_TILES:
        yield {
            name: replace(tile, m=min(m, tile.m), n=min(n, tile.n), k=min(k, tile.k))
            for name, tile in tiling.items()
        }


def _in_order(tiles: Sequence[Tile]) -> list[Tile]:
    """Return the best tile, the same with fewer stages, which need less memory, then the others."""
    first = [
        replace(each, stages=stages)
        for each in tiles[:1]
        for stages in range(each.stages, max(each.stages - 2, 0), -1)
    ]
    others = [replace(each, stages=max(each.stages - 1, 1)) for each in tiles[1:]]
    return [*first, *tiles[1:], *others]


class Compiler:
    """Captures and compiles the reference of a job.

    Args:
        assignment: Names reference, target and what captures.

    Attributes:
        reference: What is compiled.

    Raises:
        Obstacle: There is no reference, or nothing to capture it with.
    """

    def __init__(self, assignment: Assignment) -> None:
        reference = assignment.problem.reference
        if reference is None:
            raise Obstacle(DeclineReason.NO_REFERENCE, "there is no PyTorch reference to compile")
        if assignment.capture is None:
            raise Obstacle(DeclineReason.TARGET, "nothing here can export the reference")
        self._device = assignment.device
        self._capture = assignment.capture
        self.reference = reference
        self._mode: Mode = (
            "eval" if any(each in reference.text for each in _EVAL_WORDS) else "train"
        )
        self._is_mode_free: bool | None = None

    def at(self, workload: Workload, *, proofs: bool) -> Compiled:
        """Compile at the shapes of a workload.

        Args:
            workload: Shapes and constructor arguments.
            proofs: Measure each rewrite in float64.

        Raises:
            Obstacle: It cannot be captured, rewritten or emitted.
        """
        if workload.memory_format is not None:
            words = f"{workload.name}: kernels take row-by-row inputs, not {workload.memory_format}"
            raise Obstacle(DeclineReason.REFUSED, words)
        graph = self._graph(workload, self._mode)
        if graph.updated:
            words = f"the reference updates {', '.join(graph.updated)}, which kernels here do not"
            raise Obstacle(DeclineReason.REFUSED, words)
        if self._is_mode_free is None:
            self._is_mode_free = self._is_free(workload, graph)
        training = None if self._is_mode_free else self._mode == "train"
        return self._compiled(workload, graph, training=training, proofs=proofs)

    def _is_free(self, workload: Workload, graph: Graph) -> bool:
        """Say whether the module answers the same in both modes."""
        other: Mode = "train" if self._mode == "eval" else "eval"
        try:
            return replace(self._graph(workload, other), mode=self._mode) == graph
        except Obstacle:
            return False

    def _graph(self, workload: Workload, mode: Mode) -> Graph:
        try:
            found = self._capture.capture(self.reference, workload, mode)
        except PlatformError as error:
            raise Obstacle(DeclineReason.TARGET, f"nothing can be captured: {error}") from error
        if not found.graph:
            more = f" (and {len(found.refused) - 1} more)" if len(found.refused) > 1 else ""
            words = f"the reference is refused: {found.refused[0]}{more}"
            raise Obstacle(DeclineReason.REFUSED, words)
        return loads_graph(found.graph)

    def _compiled(
        self, workload: Workload, graph: Graph, *, training: bool | None, proofs: bool
    ) -> Compiled:
        try:
            target = triton_target(self._device)
        except XeForgeError as error:
            raise Obstacle(DeclineReason.TARGET, str(error)) from error
        try:
            made = compile_graph(graph, self._device, Options(proofs=proofs))
        except XeForgeError as error:
            raise Obstacle(DeclineReason.REFUSED, f"{workload.name}: {error}") from error
        return Compiled(workload, graph, made, training, target)
