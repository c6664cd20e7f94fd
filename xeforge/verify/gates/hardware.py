"""Refuse launch settings that the device, or Triton itself, cannot have."""

import ast
import re
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass

from xeforge.domain.dtype import find_dtype
from xeforge.domain.evidence import Finding
from xeforge.domain.verdict import Reason
from xeforge.source.declarations import JitFunction
from xeforge.source.declarations import KernelContents
from xeforge.source.scopes import functions_in
from xeforge.verify.context import failed
from xeforge.verify.context import passed
from xeforge.verify.reading import GateContext
from xeforge.verify.reading import Reading

NAME = "hardware"
_EDGE = re.compile(r"^(?:B|BLOCK_?|BLOCK_?SIZE_?|TILE_?|.*_)(?P<edge>[MNK])$", re.IGNORECASE)
_EDGES = frozenset("MNK")


@dataclass(frozen=True, slots=True)
class _Setting:
    """Literal settings of one launch or autotune configuration."""

    kernel: JitFunction
    values: Mapping[str, int]
    num_warps: int | None
    num_stages: int | None
    line: int


def inspect(context: GateContext) -> tuple[Finding, ...]:
    """Check every launch and configuration whose settings stand in the source as numbers.

    Autotuners pass over what cannot be launched, so a kernel with one legal configuration is
    fine. What depends on more than the source says is left to the compiler.
    """
    complaints = list(_arange_literals(context))
    for kernel in context.candidate.contents.jit_functions:
        settings = list(_settings(kernel, context.candidate.contents))
        found = [each for each in (_complaint(one, context) for one in settings) if each]
        if found and len(found) == len(settings):
            complaints += found
    return tuple(complaints) or (passed(NAME),)


def _settings(kernel: JitFunction, contents: KernelContents) -> Iterator[_Setting]:
    """Yield launches combined with configurations; defaults of parameters fill the gaps."""
    defaults = _integers({p.name: p.default for p in kernel.params if p.default}, contents)
    configs = kernel.autotune.configs if kernel.autotune else ()
    for launch in contents.launches:
        if launch.kernel != kernel.name:
            continue
        given = dict(zip((p.name for p in kernel.params), launch.positional, strict=False))
        literal = _integers({**given, **launch.keywords}, contents)
        warps, stages = literal.pop("num_warps", None), literal.pop("num_stages", None)
        if not configs:
            yield _Setting(kernel, {**defaults, **literal}, warps, stages, launch.line)
        for each in configs:
            values = {**defaults, **literal, **each.values}
            yield _Setting(kernel, values, each.num_warps, each.num_stages, each.line)


def _integers(texts: Mapping[str, str | None], contents: KernelContents) -> dict[str, int]:
    """Return the values that are whole numbers in the source, named constants included."""
    found: dict[str, int] = {}
    for name, text in texts.items():
        value = contents.constants.get(text or "")
        if text is not None and text.isdecimal():
            value = int(text)
        if isinstance(value, int) and not isinstance(value, bool):
            found[name] = value
    return found


def _complaint(setting: _Setting, context: GateContext) -> Finding | None:
    device = context.device
    warps = setting.num_warps
    text = ""
    if warps is not None and device.num_warps and warps not in device.num_warps:
        legal = ", ".join(str(each) for each in device.num_warps)
        text = f"num_warps={warps} is not legal on {device.name} ({legal})"
    elif warps is not None and device.threads_per_group is not None:
        lanes = _lanes(context)
        if warps * lanes > device.threads_per_group:
            text = (
                f"num_warps={warps} with {lanes} lanes each makes {warps * lanes} threads, "
                f"{device.name} allows {device.threads_per_group}"
            )
    text = text or _odd_block(setting, context.candidate) or _too_much_memory(setting, context)
    if not text:
        return None
    text = f"{setting.kernel.name}: {text}"
    return failed(NAME, Reason.RESOURCE_LIMIT, text, line=setting.line)


def _lanes(context: GateContext) -> int:
    """Return the lanes of a warp as compiled; the narrowest legal width where unknown."""
    if context.device.compile_target is not None:
        return context.device.compile_target.warp_size
    return context.device.lane_counts[0] if context.device.lane_counts else 1


def _odd_block(setting: _Setting, reading: Reading) -> str:
    """Return a complaint about a ``tl.arange`` length that is no power of two."""
    for name in sorted(_arange_names(setting.kernel, reading)):
        value = setting.values.get(name)
        if value is not None and not _is_power_of_two(value):
            return f"{name}={value} is the length of tl.arange and must be a power of two"
    return ""


def _arange_names(kernel: JitFunction, reading: Reading) -> set[str]:
    """Return the compile-time constants that are the length of an arange starting at zero."""
    constants = {each.name for each in kernel.params if each.is_constexpr}
    return {
        end.id
        for end, _ in _arange_ends(kernel, reading)
        if isinstance(end, ast.Name) and end.id in constants
    }


def _arange_ends(kernel: JitFunction, reading: Reading) -> Iterator[tuple[ast.expr, int]]:
    for _, node in functions_in(reading.tree):
        if node.lineno != kernel.line:
            continue
        for call in ast.walk(node):
            if (
                isinstance(call, ast.Call)
                and reading.imports.is_triton(call.func, "arange")
                and len(call.args) > 1
                and isinstance(call.args[0], ast.Constant)
                and call.args[0].value == 0
            ):
                yield call.args[1], call.lineno


def _arange_literals(context: GateContext) -> Iterator[Finding]:
    for kernel in context.candidate.contents.jit_functions:
        for end, line in _arange_ends(kernel, context.candidate):
            value = end.value if isinstance(end, ast.Constant) else None
            if isinstance(value, int) and not _is_power_of_two(value):
                text = f"{kernel.name}: tl.arange(0, {value}) must be a power of two long"
                yield failed(NAME, Reason.RESOURCE_LIMIT, text, line=line)


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _too_much_memory(setting: _Setting, context: GateContext) -> str:
    """Return a complaint when even the least on-chip memory of a product is too much.

    Two operand tiles for each stage in flight; one stage is given away, since some back-ends
    keep the last one in registers. Only where M, N and K edges can be told by name.
    """
    limit = context.device.shared_bytes_per_group
    edges = {
        match["edge"].upper(): value
        for name, value in setting.values.items()
        if (match := _EDGE.match(name)) and name in {p.name for p in setting.kernel.params}
    }
    stages = setting.num_stages
    if limit is None or stages is None or edges.keys() != _EDGES or not setting.kernel.has_dot:
        return ""
    size = _narrowest_bytes(context)
    least = (edges["M"] + edges["N"]) * edges["K"] * size * max(1, stages - 1)
    if least <= limit:
        return ""
    shape = "x".join(str(edges[edge]) for edge in "MNK")
    return (
        f"tiles of {shape} in {stages} stages need at least {least:,} bytes on chip, "
        f"{context.device.name} has {limit:,}"
    )


def _narrowest_bytes(context: GateContext) -> int:
    """Return the smallest operand the timed workloads can bring, in bytes; 1 when unknown."""
    names = {spec.dtype for each in context.problem.timed for spec in each.inputs}
    sizes = [
        found.size_bytes
        for name in names
        if (found := find_dtype(name)) is not None and found.kind == "float"
    ]
    return min(sizes, default=1)
