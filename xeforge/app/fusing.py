"""Captures, compiles and verifies a module for `xeforge fuse`, at all shapes that are asked for."""

import tempfile
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from bench_workers.host.capture import Capturing
from bench_workers.host.sessions import Deadlines
from bench_workers.host.sessions import Sessions
from knowledge.load import find_device
from xeforge.app.embedded import open_evaluator
from xeforge.app.isolation import required_layer
from xeforge.app.plan_choice import Chosen
from xeforge.app.plan_choice import PlanChoice
from xeforge.domain.case import Case
from xeforge.domain.case import CaseKind
from xeforge.domain.device import Device
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.evidence import Evidence
from xeforge.domain.evidence import Finding
from xeforge.domain.problem import Problem
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.fusion.driver import Compilation
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.emit.triton.words import CannotEmit
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused
from xeforge.fusion.lower.arguments import CannotLower
from xeforge.ports import Evaluator
from xeforge.source.carried import carried
from xeforge.source.contents import read_contents
from xeforge.source.declarations import Parameter
from xeforge.verify import gate
from xeforge.verify.checks import contract
from xeforge.verify.checks import own_kernels
from xeforge.verify.inputs import case_key
from xeforge.verify.inputs import plan_cases
from xeforge.verify.inputs import shapes_of
from xeforge.verify.judge import correctness


@dataclass(frozen=True, slots=True)
class Fused:
    """A module at the shapes of one workload.

    Attributes:
        graph: As captured.
        compilation: What became of it.
    """

    graph: Graph
    compilation: Compilation


@dataclass(frozen=True, slots=True)
class Verification:
    """What was shown of the kernels of a module.

    Attributes:
        cases: That ran and were compared with float64.
        shapes: Different sets of shapes among them; each is a compilation of its own.
        wrong: Complaints about them; empty when all is right.
        unchecked: What could not be checked and why, one sentence each.
        interpreted: Whether Triton's interpreter stood in for a device.
    """

    cases: int
    shapes: int
    wrong: tuple[Finding, ...] = ()
    unchecked: tuple[str, ...] = field(default=())
    interpreted: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one workload.

    Attributes:
        found: Kernels, or why there are none.
        chosen: Which of them are handed out; None where none can be built for the target.
        verification: Of those; None where there are none.
    """

    found: Fused | Refused
    chosen: Chosen | None = None
    verification: Verification | None = None


@dataclass(frozen=True, slots=True)
class Compiler:
    """Makes kernels of one module at any shapes.

    Attributes:
        problem: Whose kernel is the module.
        device: Model of accelerator that is compiled for.
        mode: Of the module.
        options: Of the compiler.
    """

    problem: Problem
    device: Device
    mode: Mode
    options: Options
    _capturing: Capturing

    def _parameters(self) -> str:
        """Return the parameters of the module's constructor: kernels are constructed alike."""
        file = self.problem.kernel
        model = read_contents(file.text, file.path, require_kernel=False).model
        return ", ".join(_parameter_texts(model.init_parameters if model else ()))

    def at(self, workload: Workload, options: Options | None = None) -> Fused | Refused:
        """Compile at the shapes of a workload, or say why that cannot be.

        Raises:
            UserError: The module cannot be imported or constructed.
        """
        graph = self._capturing.capture(self.problem.kernel, workload, self.mode).outcome
        if isinstance(graph, Refused):
            return graph
        try:
            options = options or self.options
            made = compile_graph(
                graph,
                self.device,
                options,
                parameters=self._parameters(),
                tail=carried(self.problem.kernel.text, _HELPERS),
            )
            return Fused(graph, made)
        except CannotLower as error:
            return Refused((error.refusal,))
        except CannotEmit as error:
            return Refused((Refusal(Reason.NOT_COVERED, error.message),))


@contextmanager
def open_compiler(
    problem: Problem, device: Device, mode: Mode, options: Options, layer: str
) -> Iterator[Compiler]:
    """Open a compiler; its child ends with the context."""
    with tempfile.TemporaryDirectory(prefix="xeforge-", ignore_cleanup_errors=True) as scratch:
        sessions = Sessions("cpu", layer=layer, work_directory=Path(scratch), spares=0)
        try:
            capturing = Capturing(sessions, Deadlines())
            try:
                yield Compiler(problem, device, mode, options, capturing)
            finally:
                capturing.close()
        finally:
            sessions.close()


def fuse(
    problem: Problem, mode: Mode, options: Options, *, allow_unsandboxed: bool = False
) -> dict[str, Outcome]:
    """Compile a module at the shapes of each timed workload, and verify what comes out.

    Args:
        problem: The module is its kernel; its reference is the module in the same mode.
        mode: Of the module.
        options: Of the compiler.
        allow_unsandboxed: Run the module even where no sandbox works.

    Returns:
        An outcome for each workload by name; each carries the verification of its own cases.

    Raises:
        UserError: The module cannot be imported or constructed.
        PlatformError: Our own fault.
    """
    device = find_device(problem.target)
    layer = required_layer(allow_unsandboxed=allow_unsandboxed)
    with ExitStack() as stack:
        compiler = stack.enter_context(open_compiler(problem, device, mode, options, layer))
        workloads = problem.timed or problem.workloads
        found = {each.name: compiler.at(each) for each in workloads}
        fused = {name: each for name, each in found.items() if isinstance(each, Fused)}
        outcomes = {name: Outcome(each) for name, each in found.items()}
        if not fused:
            return outcomes
        opened = open_evaluator(problem, allow_unsandboxed=allow_unsandboxed)
        evaluator = stack.enter_context(opened)
        for name, each in fused.items():
            (workload,) = (one for one in workloads if one.name == name)
            choice = PlanChoice(problem, device, evaluator, workload)
            chosen = choice.choose(each.compilation)
            shown = None if chosen is None else verify(compiler, evaluator, chosen, name)
            dense = _only_dense(shown)
            outcomes[name] = Outcome(dense) if dense else Outcome(each, chosen, shown)
        return outcomes


def _only_dense(shown: Verification | None) -> Refused | None:
    """Return the refusal of a module whose outputs do not lie in memory row by row."""
    wrong = shown.wrong if shown else ()
    about = [each.message for each in wrong if each.check == contract.NAME]
    if not about or len(about) < len(wrong) or not all("has strides" in each for each in about):
        return None
    words = f"kernels return dense outputs only: {about[0]}"
    return Refused((Refusal(Reason.NOT_COVERED, words),))


_HELPERS = ("get_inputs", "get_init_inputs")
_STARS = {"var_positional": "*", "var_keyword": "**"}


def _parameter_texts(parameters: Sequence[Parameter]) -> Iterator[str]:
    is_starred = False
    for each in parameters:
        if each.kind == "keyword_only" and not is_starred:
            yield "*"
        is_starred |= each.kind in ("var_positional", "keyword_only")
        default = "" if each.default is None else f"={each.default}"
        yield f"{_STARS.get(each.kind, '')}{each.name}{default}"


def verify(compiler: Compiler, evaluator: Evaluator, chosen: Chosen, workload: str) -> Verification:
    """Run every case that any kernel must pass on a workload, each at its own shapes.

    Kernels are made for fixed shapes, so a case of other shapes is compiled anew with the same
    options. Where a device is there, declared cases run the very kernels that are handed out.

    Args:
        compiler: Of the module.
        evaluator: Runs kernels in sandboxed children.
        chosen: Which plan; at shapes that have none of its name, the fastest by the model.
        workload: Name of the workload.
    """
    whole = compiler.problem
    alone = tuple(each for each in whole.workloads if each.name == workload)
    problem = replace(whole, workloads=alone)
    # C runs at any size; only Triton's interpreter wants small ones.
    is_small = evaluator.is_interpreted and compiler.device.backend != "cpu"
    cases = plan_cases(problem, purpose="candidate", interpreted=is_small, seed=problem.seed)
    found = Verification(0, 0, interpreted=is_small)
    quick = replace(compiler.options, proofs=False)
    for shapes in shapes_of(problem, cases):
        same = [each for each in cases if _is_at(each, shapes)]
        fused = compiler.at(shapes, quick)
        if isinstance(fused, Refused):
            words = f"{same[0].id}: {fused.refusals[0].message}"
            found = replace(found, unchecked=(*found.unchecked, words))
            continue
        source = chosen.source if _is_declared(same) else _source(fused, chosen.plan)
        found = _with(found, _examined(compiler, evaluator, source, same))
    return found


def _source(fused: Fused, plan: str) -> str:
    built = fused.compilation.built
    return next((each for each in built if each.name == plan), built[0]).source


def _is_declared(cases: Sequence[Case]) -> bool:
    return any(each.kind is CaseKind.DECLARED for each in cases)


def _is_at(case: Case, workload: Workload) -> bool:
    return (case.workload, case.inputs, case.init_args, case.dtype) == (
        workload.name,
        workload.inputs,
        workload.init_args,
        workload.dtype,
    )


def _examined(
    compiler: Compiler, evaluator: Evaluator, source: str, cases: Sequence[Case]
) -> Verification:
    problem = compiler.problem
    is_c = compiler.device.backend == "cpu"
    # The module is no kernel that these must stay like; what they return is compared below. Of C
    # there are no rules to read by, and no launches to count.
    alone = replace(problem, kernel=SourceFile(problem.kernel.path, source))
    gated = () if is_c else gate.gate(alone, source, compiler.device)
    evidence = evaluator.examine(problem, source, cases)
    compared = [each for each in evidence.cases if each.status is CaseStatus.RAN]
    unchecked = tuple(
        f"{each.case}: {each.message}"
        for each in evidence.cases
        if each.status in (CaseStatus.UNCHECKED, CaseStatus.REFERENCE_RAISED)
    )
    found = correctness(
        problem=problem,
        device=compiler.device,
        build=None,
        evidence=evidence,
        audit=Evidence(()),
        trusted=[case_key(each.id) for each in cases],
    )
    skipped = own_kernels.NAME if is_c else ""
    wrong = tuple(each for each in (*gated, *found) if not each.passed and each.check != skipped)
    return Verification(len(compared), 1 if compared else 0, wrong, unchecked)


def _with(one: Verification, other: Verification) -> Verification:
    return replace(
        one,
        cases=one.cases + other.cases,
        shapes=one.shapes + other.shapes,
        wrong=(*one.wrong, *other.wrong),
        unchecked=(*one.unchecked, *other.unchecked),
    )
