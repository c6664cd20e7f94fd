"""Writes a plan as one Python file that needs Torch and a C compiler, and nothing of ours."""

from collections.abc import Mapping
from collections.abc import Sequence

from xeforge.errors import BadRequest
from xeforge.fusion.emit.c.module_text import MODULE
from xeforge.fusion.emit.c.source import CSource
from xeforge.fusion.emit.c.source import emit
from xeforge.fusion.emit.c.target import CpuTarget
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.ir import Array
from xeforge.fusion.plan import Plan


def write_module(
    plan: Plan,
    target: CpuTarget,
    tensors: Sequence[Tensor],
    *,
    parameters: str = "",
    tail: str = "",
) -> str:
    """Return the text of a module with a class ``Model``.

    ``Model`` has parameters and buffers under the paths that the tensors name, those that nothing
    reads as well, uninitialised until ``load_state_dict``. Calling it takes the inputs in the
    program's order and returns one tensor, or a tuple where there are several outputs. Gradients
    do not flow through it.

    Args:
        plan: What is computed.
        target: What the processor must have; the file checks it when it is used.
        tensors: Of the graph: `Tensor.path` says where in the module each parameter is.
        parameters: Of the constructor, as source text without ``self``; they are not used.
        tail: Text behind the class: ``get_inputs`` and ``get_init_inputs``; empty: none.

    Raises:
        BadRequest: A parameter has no path, so nobody could give it its values.
    """
    source = emit(plan, target)
    known = {each.name: each for each in tensors}
    given = [_given(each, known) for each in source.given]
    results = [(each.name, each.shape, each.dtype) for each in source.results]
    parts = {
        "NOTES": "".join(f"    {note}\n" for note in (*plan.program.notes, *plan.notes)),
        "SOURCE": _quoted(source),
        "FLAGS": repr(source.flags),
        "NEEDS": repr(target.flags),
        "ENTRY": repr(source.entry),
        "GIVEN": _listed(given),
        "STATE": _listed([_state(each) for each in tensors if each.path]),
        "PARAMETERS": ", ".join(filter(None, ("self", parameters))),
        "TAIL": f"\n\n{tail.strip()}\n" if tail.strip() else "",
        "RESULTS": _listed(results),
    }
    text = MODULE
    for name, value in parts.items():
        text = text.replace(f"<<{name}>>", value)
    return text


def _state(tensor: Tensor) -> tuple[str, tuple[int, ...], str, bool]:
    """Return path, shape, dtype and whether it is a buffer."""
    return (tensor.path, tensor.shape, tensor.dtype, tensor.role == "buffer")


def _given(array: Array, known: Mapping[str, Tensor]) -> tuple[str, str, tuple[int, ...], str]:
    """Return name, path, shape and dtype."""
    if array.role == "input":
        return (array.name, "", array.shape, array.dtype)
    tensor = known.get(array.name)
    if tensor is None or not tensor.path:
        raise BadRequest(
            "the values of this constant are not known: it is no parameter of the module",
            field=array.name,
            remedy="register it as a buffer of the module",
        )
    return (array.name, tensor.path, array.shape, array.dtype)


def _listed(rows: Sequence[tuple[object, ...]]) -> str:
    return "(\n" + "".join(f"    {row!r},\n" for row in rows) + ")"


def _quoted(source: CSource) -> str:
    text = source.text
    if '"""' in text:
        raise ValueError("C with three quotes")
    return f'r"""{text}"""'
