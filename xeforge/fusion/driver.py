"""From a captured graph to kernels: algebra, lowering, plans, sources.

Several sources come out, the fastest by the model first; one kernel for each statement is always
the last. Which of them is fastest is for a measurement to say.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from typing import Literal
from typing import TypeAlias

from xeforge.domain.device import Device
from xeforge.errors import BadRequest
from xeforge.fusion.algebra.engine import Rewritten
from xeforge.fusion.algebra.engine import rewrite
from xeforge.fusion.algebra.explain import explain as explain_algebra
from xeforge.fusion.algebra.work import APART
from xeforge.fusion.algebra.work import JOINED
from xeforge.fusion.emit.c.module import write_module
from xeforge.fusion.emit.c.target import CpuTarget
from xeforge.fusion.emit.c.target import find_target as find_cpu
from xeforge.fusion.emit.triton.contraction import problem_of
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.model import ANY_ARGUMENTS
from xeforge.fusion.emit.triton.ranking import ways
from xeforge.fusion.emit.triton.target import TARGETS
from xeforge.fusion.emit.triton.target import Precision
from xeforge.fusion.emit.triton.target import TritonTarget
from xeforge.fusion.emit.triton.tile import Tile
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.fuse import layouts
from xeforge.fusion.fuse import roundings
from xeforge.fusion.fuse.explain import explain as explain_plan
from xeforge.fusion.fuse.machine import CPU
from xeforge.fusion.fuse.machine import Machine
from xeforge.fusion.fuse.machine import machine_of
from xeforge.fusion.fuse.search import Candidate
from xeforge.fusion.fuse.search import search
from xeforge.fusion.ir import Program
from xeforge.fusion.lower.program import lower
from xeforge.fusion.plan import Plan
from xeforge.fusion.text import program_text

_COPY_REACHED = 0.9
"""Part of the published bandwidth that a copy reaches: 4.3 of 4.8 TB/s on an H200."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the compiler may do; all of it unless something is to be shown without.

    Attributes:
        algebra: Rewrite the graph before it is lowered.
        fusion: Put statements together; without, there is the unfused plan alone.
        matrix_units: Make contractions; without, sums of products are rows of arithmetic.
        precision: Of products of float32 factors; None: what loses nothing on the target.
        proofs: Measure each rewrite in float64 at small sizes, which takes seconds.
    """

    algebra: bool = True
    fusion: bool = True
    matrix_units: bool = True
    precision: Precision | None = None
    proofs: bool = True


Language: TypeAlias = Literal["triton", "c"]


@dataclass(frozen=True, slots=True)
class CFrame:
    """What a C file with its loader needs beside a plan.

    Attributes:
        tensors: Of the graph.
        target: Level of vector instructions.
        parameters: Of the constructor.
        tail: Text behind the class.
    """

    tensors: tuple[Tensor, ...]
    target: CpuTarget
    parameters: str
    tail: str

    def source(self, plan: Plan) -> str:
        """Return a plan's file."""
        return write_module(
            plan, self.target, self.tensors, parameters=self.parameters, tail=self.tail
        )

    def sources(self, plan: Plan) -> Iterator[str]:
        """Yield the one file there is."""
        yield self.source(plan)


@dataclass(frozen=True, slots=True)
class Frame:
    """What a file of Triton kernels needs beside a plan.

    Attributes:
        tensors: Of the graph.
        target: What Triton can do there.
        parameters: Of the constructor.
        tail: Text behind the class.
    """

    tensors: tuple[Tensor, ...]
    target: TritonTarget
    parameters: str
    tail: str

    def source(self, plan: Plan, tiles: Mapping[str, Sequence[Tile]] | None = None) -> str:
        """Return a plan's file with these tiles for its contractions."""
        return emit(
            plan, self.tensors, self.target, tiles, parameters=self.parameters, tail=self.tail
        )

    def sources(self, plan: Plan) -> Iterator[str]:
        """Yield the file, then files with other tiles and forms, those with fewer stages last."""
        choices = {
            group.name: ways(problem_of(group, plan.program), self.target)
            for group in plan.groups
            if group.family == "contraction"
        }
        yield self.source(plan)
        for rank in range(1, max(map(len, choices.values()), default=0)):
            tiles = {name: [each[min(rank, len(each) - 1)]] for name, each in choices.items()}
            yield self.source(plan, tiles)


@dataclass(frozen=True, slots=True)
class Built:
    """One plan with its kernels.

    Attributes:
        candidate: Plan and estimate.
        source: A file in the kernel contract, with the tiles that are likely the fastest.
        frame: What makes other files of the same plan.
    """

    candidate: Candidate
    source: str
    frame: Frame | CFrame

    @property
    def name(self) -> str:
        """Return the name of the plan: ``"fused"``, ..., ``"unfused"``."""
        return self.candidate.name

    def sources(self) -> Iterator[str]:
        """Return the file, then others of the same plan.

        For when the compiler says that the first one needs more of a device than there is.
        """
        return self.frame.sources(self.candidate.plan)

    def explain(self) -> str:
        """Return the plan as text."""
        return explain_plan(self.candidate.plan, self.candidate.estimate)


@dataclass(frozen=True, slots=True)
class Compilation:
    """A graph on its way to kernels.

    Attributes:
        rewritten: What algebra made of it; None where it was switched off.
        program: The lowered graph.
        built: The fastest by the model first, the unfused one last.
        language: Of the sources.
    """

    rewritten: Rewritten | None
    program: Program
    built: tuple[Built, ...]
    language: Language = "triton"

    def explain(self) -> str:
        """Return everything that was decided, step by step."""
        parts = [] if self.rewritten is None else [f"algebra\n{explain_algebra(self.rewritten)}"]
        parts.append(f"statements\n{program_text(self.program)}")
        parts += [f"plan {each.name}\n{each.explain()}" for each in self.built]
        return "\n".join(parts)


def compile_graph(
    graph: Graph,
    device: Device,
    options: Options | None = None,
    *,
    parameters: str = ANY_ARGUMENTS,
    tail: str = "",
) -> Compilation:
    """Return kernels for a graph at its shapes.

    Args:
        graph: As captured.
        device: Model of accelerator that they are for.
        options: None: everything on.
        parameters: Of the constructors, as source text without ``self``.
        tail: Text behind the class in each file: ``get_inputs`` and ``get_init_inputs``.

    Raises:
        BadRequest: Nothing is emitted for the device, or not with this precision.
        CannotLower: An operator, or a use of it, has no affine form.
        CannotEmit: Something has no form in Triton.
    """
    options = options or Options()
    tensors = (*graph.inputs, *graph.parameters, *graph.unread)
    frame = _frame(device, options, tensors, parameters, tail)
    rewritten = _rewritten(graph, options) if options.algebra else None
    program = lower(graph if rewritten is None else rewritten.after)
    language: Language = "c" if isinstance(frame, CFrame) else "triton"
    machine = CPU if language == "c" else machine_of(device)
    machine = replace(machine, has_matrix_units=options.matrix_units)
    built = tuple(
        Built(each, frame.source(each.plan), frame)
        for each in _plans(program, machine, is_fused=options.fusion)
    )
    return Compilation(rewritten, program, built, language)


def _frame(
    device: Device, options: Options, tensors: tuple[Tensor, ...], parameters: str, tail: str
) -> Frame | CFrame:
    if device.backend != "cpu":
        return Frame(tensors, triton_target(device, options.precision), parameters, tail)
    if options.precision not in (None, "ieee"):
        raise BadRequest(
            f"{device.name} has no float32 products as {options.precision}",
            field="precision",
            remedy="ieee is what C computes",
        )
    return CFrame(tensors, find_cpu("cpu"), "" if parameters == ANY_ARGUMENTS else parameters, tail)


def _rewritten(graph: Graph, options: Options) -> Rewritten:
    # Where statements are fused, what follows a product costs no traffic of its own.
    model = JOINED if options.fusion else APART
    return rewrite(graph, model=model, is_measured=options.proofs)


def _plans(program: Program, machine: Machine, *, is_fused: bool) -> Iterator[Candidate]:
    found = search(program, machine)
    for each in found if is_fused else found[-1:]:
        plan = layouts.run(each.plan, units=machine.units) if machine.walks_down else each.plan
        yield replace(each, plan=roundings.run(plan))


def triton_target(device: Device, precision: Precision | None = None) -> TritonTarget:
    """Return what Triton can do on a model of accelerator.

    Raises:
        BadRequest: No kernels are emitted for it, or it does not know the precision.
    """
    found = device.compile_target
    target = None if found is None else TARGETS.get(f"{found.backend}:{found.arch}")
    if target is None:
        raise BadRequest(
            f"no kernels are emitted for {device.name}",
            field="target",
            remedy="nvidia-h200 and generic-cpu are targets",
        )
    target = target.with_units(device.compute_units)
    target = target.with_bandwidth(_COPY_REACHED * device.bandwidth_bytes_per_s)
    if precision is None:
        return target
    if precision not in target.precisions:
        raise BadRequest(
            f"{device.name} has no float32 products as {precision}",
            field="precision",
            remedy=f"one of {', '.join(target.precisions)}",
        )
    return replace(target, full_precision=precision)
