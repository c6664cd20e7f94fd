"""`xeforge fuse`: a PyTorch module to fused kernels; so far only its first step, the capture."""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from typing import Any

import typer

from xeforge.app.console import tell
from xeforge.app.exit_codes import ExitCode
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.isolation import required_layer
from xeforge.app.request import JsonOption
from xeforge.app.request import SpecOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_compile
from xeforge.domain.problem import Problem
from xeforge.errors import BadRequest
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph_json import dump_graph
from xeforge.fusion.front.refusal import Refused

NOT_YET = "no kernel is written: this version captures and explains, it does not emit code yet"
_MODES: Mapping[str, Mode] = {"train": "train", "eval": "eval"}

ModuleArgument = Annotated[
    Path, typer.Argument(metavar="REF.py", help="PyTorch file with a class Model.")
]
ModeOption = Annotated[
    str, typer.Option("--mode", help="train (batch statistics, live dropout) or eval.")
]
ExplainOption = Annotated[
    bool, typer.Option("--explain", help="Print every operator with result, line and arguments.")
]


def command(
    module: ModuleArgument,
    *,
    spec: SpecOption = None,
    variant: VariantOption = None,
    mode: ModeOption = "eval",
    explain: ExplainOption = False,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show how the fusion compiler sees a PyTorch module, or why it refuses it.

    Writes no kernel yet. Exit codes: 3 nothing better found, which is all it can say so far,
    2 bad input, 5 platform fault.
    """
    if mode not in _MODES:
        raise BadRequest(f"unknown mode {mode!r}", field="mode", remedy="train or eval")
    problem = to_compile(module, spec=spec, variants=variant)
    layer = required_layer(allow_unsandboxed=allow_unsandboxed)
    found = _captured(problem, _MODES[mode], layer)
    if as_json:
        data = {name: _as_data(each) for name, each in found.items()}
        sys.stdout.write(json.dumps(data, allow_nan=False) + "\n")
    else:
        for name, outcome in found.items():
            _print(f"{problem.kernel.path} {name}, {mode} mode", outcome, explain=explain)
        for note in problem.notes:
            tell(f"note: {note}")
        tell(NOT_YET)
    raise typer.Exit(ExitCode.NOTHING_BETTER)


def _captured(problem: Problem, mode: Mode, layer: str) -> dict[str, Graph | Refused]:
    """Capture the module at the shapes of each timed workload, in one child."""
    from bench_workers.host.capture import Capturing
    from bench_workers.host.sessions import Deadlines
    from bench_workers.host.sessions import Sessions

    workloads = problem.timed or problem.workloads
    with tempfile.TemporaryDirectory(prefix="xeforge-", ignore_cleanup_errors=True) as scratch:
        sessions = Sessions("cpu", layer=layer, work_directory=Path(scratch), spares=0)
        try:
            capturing = Capturing(sessions, Deadlines())
            try:
                return {
                    each.name: capturing.capture(problem.kernel, each, mode).outcome
                    for each in workloads
                }
            finally:
                capturing.close()
        finally:
            sessions.close()


def _as_data(outcome: Graph | Refused) -> dict[str, Any]:
    if isinstance(outcome, Graph):
        return {"graph": dump_graph(outcome)}
    refusals = [
        {
            "reason": str(each.reason),
            "message": each.message,
            "operator": each.operator,
            "line": each.line,
            "remedy": each.remedy,
        }
        for each in outcome.refusals
    ]
    return {"refused": refusals}


def _print(title: str, outcome: Graph | Refused, *, explain: bool) -> None:
    if isinstance(outcome, Refused):
        tell(f"{title}: refused")
        for each in outcome.refusals:
            place = f" line {each.line}" if each.line else ""
            tell(f"  {each.reason}{place}: {each.message}")
            tell(f"    remedy: {each.remedy}")
        return
    tell(f"{title}: {len(outcome.nodes)} operators captured")
    if explain:
        for tensor in (*outcome.inputs, *outcome.parameters):
            tell(f"  {tensor.role:9} {tensor.name}: {_type(tensor)}{_value(tensor)}")
        for node in outcome.nodes:
            tell(f"  line {node.line or '?':>4} {node.name} = {_call(node)}: {_type(node)}")
        tell(f"  returns {', '.join(outcome.outputs)}")
    if outcome.updated:
        tell(f"  updates {', '.join(outcome.updated)}")


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
