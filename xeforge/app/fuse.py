"""`xeforge fuse`: a PyTorch module to fused kernels, with no language model."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any
from typing import cast

import typer

from xeforge.app.console import tell
from xeforge.app.exit_codes import ExitCode
from xeforge.app.files import check_writable
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.request import DeviceOption
from xeforge.app.request import JsonOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_compile
from xeforge.errors import BadRequest
from xeforge.errors import PlatformError
from xeforge.fusion.driver import Options
from xeforge.fusion.emit.triton.target import Precision
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph_json import dump_graph
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused
from xeforge.fusion.fuse.explain import size_text

if TYPE_CHECKING:  # the bench is imported when a command needs it
    from xeforge.app.fusing import Fused
    from xeforge.app.fusing import Outcome
    from xeforge.app.fusing import Verification
    from xeforge.app.plan_choice import Chosen

_MODES: Mapping[str, Mode] = {"train": "train", "eval": "eval"}

ModuleArgument = Annotated[
    Path, typer.Argument(metavar="REF.py", help="PyTorch file with a class Model.")
]
ModeOption = Annotated[
    str, typer.Option("--mode", help="train (batch statistics, live dropout) or eval.")
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        help="Of float32 products: ieee, tf32, tf32x3, bf16x3, bf16x6 (default: the target's "
        "fastest one that loses nothing)."
    ),
]
AlgebraOption = Annotated[bool, typer.Option("--algebra/--no-algebra", help="Rewrite the graph.")]
FusionOption = Annotated[
    bool, typer.Option("--fusion/--no-fusion", help="Put statements into common kernels.")
]
MatrixOption = Annotated[
    bool, typer.Option("--matrix-units/--no-matrix-units", help="Use matrix units for products.")
]
OutOption = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="OUT.py", help="Write the kernels here.")
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain", help="Print operators, rewrites with proofs, statements and every plan."
    ),
]


def command(
    module: ModuleArgument,
    *,
    spec: SpecOption = None,
    variant: VariantOption = None,
    device: DeviceOption = None,
    target: TargetOption = None,
    mode: ModeOption = "eval",
    precision: PrecisionOption = None,
    algebra: AlgebraOption = True,
    fusion: FusionOption = True,
    matrix_units: MatrixOption = True,
    out: OutOption = None,
    explain: ExplainOption = False,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compile a PyTorch module to Triton kernels and verify them, with no language model.

    Exit codes: 6 kernels verified, their speed is an estimate; 3 refused, or nothing could be
    verified; 2 bad input; 5 platform fault. On a device plans are timed against each other, to
    choose among them, and against nothing else.
    """
    if mode not in _MODES:
        raise BadRequest(f"unknown mode {mode!r}", field="mode", remedy="train or eval")
    options = Options(
        algebra=algebra,
        fusion=fusion,
        matrix_units=matrix_units,
        precision=cast("Precision | None", precision),
    )
    if out is not None:
        check_writable(out)
    problem = to_compile(
        module, spec=spec, variants=variant, mode=mode, device=device, target=target
    )

    from xeforge.app.fusing import fuse

    outcomes = fuse(problem, _MODES[mode], options, allow_unsandboxed=allow_unsandboxed)
    if as_json:
        data = {name: _as_data(each) for name, each in outcomes.items()}
        sys.stdout.write(json.dumps(data, allow_nan=False) + "\n")
    else:
        for note in problem.notes:
            tell(f"note: {note}")
        for name, each in outcomes.items():
            _print(f"{problem.kernel.path} {name}, {mode} mode", each, explain=explain)
    _refuse_wrong(outcomes)
    raise typer.Exit(_written(outcomes, out))


def _refuse_wrong(outcomes: "Mapping[str, Outcome]") -> None:
    """See that no kernel was found wrong.

    Raises:
        PlatformError: One was, which is a fault of this compiler and not of the module.
    """
    for name, each in outcomes.items():
        wrong = each.verification.wrong if each.verification else ()
        if wrong:
            raise PlatformError(
                f"the kernels made for {name} are wrong: {wrong[0].check}: {wrong[0].message}",
                remedy="please report the module; nothing was written",
            )


def _written(outcomes: "Mapping[str, Outcome]", out: Path | None) -> ExitCode:
    """Write the kernels that were verified; one file for each workload."""
    shown = {
        name: each.chosen.source
        for name, each in outcomes.items()
        if each.chosen and each.verification and each.verification.cases
    }
    if not shown:
        return ExitCode.NOTHING_BETTER
    if out is not None:
        for place, (name, source) in enumerate(shown.items()):
            path = out if place == 0 else out.with_stem(f"{out.stem}_{place + 1}")
            path.write_text(source, encoding="utf-8")
            tell(f"{name} written to {path}")
    return ExitCode.FASTER_BY_ESTIMATE


def _as_data(outcome: "Outcome") -> dict[str, Any]:
    found, shown = outcome.found, outcome.verification
    if isinstance(found, Refused):
        return {"refused": [_refusal_data(each) for each in found.refusals]}
    compilation = found.compilation
    data: dict[str, Any] = {
        "graph": dump_graph(found.graph),
        "proofs": []
        if compilation.rewritten is None
        else [
            {"rule": each.rule, "at": each.root, "residual": each.residual}
            for each in compilation.rewritten.proofs
        ],
        "plans": [
            {
                "name": each.name,
                "kernels": each.candidate.estimate.kernels,
                "bytes_before": each.candidate.estimate.bytes_before,
                "bytes_after": each.candidate.estimate.moved_bytes,
                "recompute_ratio": each.candidate.estimate.recompute_ratio,
                "seconds_by_model": each.candidate.estimate.seconds,
                "source": each.source,
            }
            for each in compilation.built
        ],
    }
    if outcome.chosen is not None:
        data["chosen"] = asdict(outcome.chosen)
    if shown is not None:
        data["verified"] = {
            "cases": shown.cases,
            "shapes": shown.shapes,
            "interpreted": shown.interpreted,
            "wrong": [f"{each.check}: {each.message}" for each in shown.wrong],
            "unchecked": list(shown.unchecked),
        }
    return data


def _refusal_data(refusal: Refusal) -> dict[str, Any]:
    return {
        "reason": str(refusal.reason),
        "message": refusal.message,
        "operator": refusal.operator,
        "line": refusal.line,
        "remedy": refusal.remedy,
    }


def _print(title: str, outcome: "Outcome", *, explain: bool) -> None:
    found = outcome.found
    if isinstance(found, Refused):
        tell(f"{title}: refused")
        for each in found.refusals:
            place = f" line {each.line}" if each.line else ""
            operator = "" if each.operator in each.message else f"{each.operator}: "
            tell(f"  {each.reason}{place}: {operator}{each.message}")
            tell(f"    remedy: {each.remedy}")
        return
    tell(f"{title}: {len(found.graph.nodes)} operators captured")
    if explain:
        _print_graph(found.graph)
        tell(found.compilation.explain())
    if found.graph.updated:
        tell(f"  not done by the kernels: the module's updates of {', '.join(found.graph.updated)}")
    _print_plans(found)
    _print_chosen(outcome)
    if outcome.verification is not None:
        _print_verification(outcome.verification)


def _print_graph(graph: Graph) -> None:
    for tensor in (*graph.inputs, *graph.parameters):
        tell(f"  {tensor.role:9} {tensor.name}: {_type(tensor)}{_value(tensor)}")
    for node in graph.nodes:
        tell(f"  line {node.line or '?':>4} {node.name} = {_call(node)}: {_type(node)}")
    tell(f"  returns {', '.join(graph.outputs)}")


def _print_plans(found: "Fused") -> None:
    rewritten = found.compilation.rewritten
    for proof in rewritten.proofs if rewritten else ():
        tell(f"  algebra: {proof.rule} at {proof.root}")
    for each in found.compilation.built:
        cost = each.candidate.estimate
        before, after = size_text(cost.bytes_before), size_text(cost.moved_bytes)
        tell(
            f"  plan {each.name}: {cost.kernels} kernels, traffic {before} -> {after}, "
            f"recompute ratio {cost.recompute_ratio:.2f}, {cost.seconds * 1e6:.1f} us ESTIMATE"
        )


def _print_chosen(outcome: "Outcome") -> None:
    chosen = outcome.chosen
    if chosen is None:
        built = outcome.found.compilation.built if not isinstance(outcome.found, Refused) else ()
        tell(f"  none of {len(built)} plans can be built for the target")
        return
    for each in chosen.passed_over:
        tell(f"  passed over, {each}")
    tell(f"  plan {chosen.plan} builds for the target{_timed_words(chosen)}")


def _timed_words(chosen: "Chosen") -> str:
    if chosen.seconds is None:
        return ""
    return f" and was the fastest of {chosen.timed} timed here, {chosen.seconds * 1e6:.1f} us"


def _print_verification(shown: "Verification") -> None:
    where = "in Triton's interpreter" if shown.interpreted else "by running them here"
    if not shown.wrong:
        tell(f"  right on {shown.cases} cases at {shown.shapes} shapes, {where}")
    for each in shown.unchecked:
        tell(f"  not checked: {each}")


def _type(value: Tensor | Node) -> str:
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]"


def _value(tensor: Tensor) -> str:
    return "" if tensor.value is None else f" = {tensor.value}"


def _call(node: Node) -> str:
    words = [*map(_word, node.args)]
    words += [f"{name}={_word(each)}" for name, each in node.kwargs.items()]
    which = "" if node.index is None else f"[{node.index}]"
    return f"{node.op}({', '.join(words)}){which}"


def _word(argument: Arg) -> str:
    if isinstance(argument, Ref):
        return argument.name
    if isinstance(argument, tuple):
        return f"[{', '.join(map(_word, argument))}]"
    return repr(argument)
