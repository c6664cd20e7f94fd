"""Graphs and proofs as text that a person can read."""

from collections.abc import Iterator
from collections.abc import Mapping

from xeforge.fusion.algebra.engine import Rewritten
from xeforge.fusion.algebra.proof import Proof
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref


def explain(result: Rewritten) -> str:
    """Return the rewritten graph and why it equals the captured one, with a final newline."""
    before, after = result.work_before, result.work_after
    lines = [*_graph_lines(result.after), ""]
    if not result.proofs:
        lines.append("no rule lowers the modelled work")
    for place, proof in enumerate(result.proofs, start=1):
        lines += [f"{place}. {line}" if at == 0 else line for at, line in enumerate(_proof(proof))]
    for proof in result.refused:
        lines += [f"refused: {proof.rule} at {proof.root}: {_residual(proof)}"]
    lines += [
        "",
        f"bytes {before.moved_bytes:,} -> {after.moved_bytes:,}",
        f"products {before.matrix_flops:,} -> {after.matrix_flops:,} flops",
        f"other {before.other_flops:,} -> {after.other_flops:,} flops",
        f"modelled {before.seconds * 1e6:,.1f} -> {after.seconds * 1e6:,.1f} us",
    ]
    return "\n".join(lines) + "\n"


def node_text(node: Node) -> str:
    """Return one node as ``name = operator(arguments)  # shape``."""
    given = [_argument(each) for each in node.args]
    given += [f"{name}={_argument(each)}" for name, each in node.kwargs.items()]
    result = "" if node.index is None else f"[{node.index}]"
    return f"{node.name} = {node.op}({', '.join(given)}){result}  # {node.dtype} {_shape(node)}"


def _graph_lines(graph: Graph) -> Iterator[str]:
    names = ", ".join(f"{each.name} {_shape(each)}" for each in graph.inputs)
    yield f"inputs: {names}"
    names = ", ".join(f"{each.name} {_shape(each)}" for each in graph.parameters)
    yield f"parameters: {names or 'none'}"
    for node in graph.nodes:
        yield f"  {node_text(node)}"
    yield f"return {', '.join(graph.outputs)}"


def _proof(proof: Proof) -> Iterator[str]:
    yield f"{proof.rule} ({proof.group}) at {proof.root}: {proof.identity}"
    for node in proof.before:
        yield f"     - {node_text(node)}"
    for node in proof.after:
        yield f"     + {node_text(node)}"
    if not proof.after:
        yield "     + nothing: a value that is there already takes its place"
    for each in proof.conditions:
        yield f"     because {each.words}: {each.facts}"
    yield f"     {_residual(proof)}"


def _residual(proof: Proof) -> str:
    if proof.residual is None:
        return f"residual not measured: {proof.unmeasured}"
    return f"residual {proof.residual:.1e} in float64 at {_sizes(proof.sizes)}"


def _sizes(sizes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {list(shape)}" for name, shape in sizes.items())


def _shape(value: Node | object) -> str:
    return str(list(getattr(value, "shape", ())))


def _argument(value: Arg) -> str:
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, tuple):
        return f"[{', '.join(map(_argument, value))}]"
    return repr(value)
