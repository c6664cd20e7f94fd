"""Reads off a source what predicates ask: one set of facts for each launch, kernel and call."""

import ast
import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from xeforge.domain.device import Device
from xeforge.domain.dtype import find_dtype
from xeforge.domain.problem import Workload
from xeforge.source.declarations import JitFunction
from xeforge.source.facts import REDUCING
from xeforge.source.facts import FileFacts
from xeforge.source.settings import Setting
from xeforge.verify.floors import compulsory_bytes
from xeforge.verify.gates.call_facts import call_sites
from xeforge.verify.gates.facts import device_facts
from xeforge.verify.gates.predicate import Value

_EDGE: Final = re.compile(
    r"^(?:B|BLOCK_?|BLOCK_?SIZE_?|TILE_?|TILE_?SIZE_?)(?P<edge>[MNK])$", re.IGNORECASE
)
_GROUP: Final = re.compile(r"GROUP", re.IGNORECASE)
_MOST_SETTINGS: Final = 64
"""Configurations looked at for each kernel; longer lists differ in numbers only."""


@dataclass(frozen=True, slots=True)
class Site:
    """One thing that a predicate may be asked of.

    Attributes:
        scope: ``"launch"``, ``"kernel"`` or the name of a kind of call.
        kernel: Jit function.
        line: One-based.
        facts: What is known of it, the device's and the workloads' facts included.
    """

    scope: str
    kernel: str
    line: int
    facts: Mapping[str, Value]


def sites_of(
    file: FileFacts, device: Device, workloads: Sequence[Workload] = ()
) -> tuple[Site, ...]:
    """Return everything in a file that predicates can be asked of, kernel by kernel."""
    around = {**device_facts(device), **shape_facts(workloads)}
    found: list[Site] = []
    for kernel in file.contents.entry_kernels:
        common = {**around, **_kernel_facts(file, kernel)}
        found.append(Site("kernel", kernel.name, kernel.line, common))
        settings = file.settings[kernel.name][:_MOST_SETTINGS]
        for setting in settings:
            facts = {**common, **_launch_facts(file, kernel, setting, device)}
            found.append(Site("launch", kernel.name, setting.line, facts))
        for scope, line, facts in call_sites(file, kernel, [each.values for each in settings]):
            found.append(Site(scope, kernel.name, line, {**common, **facts}))
    return tuple(found)


def _kernel_facts(file: FileFacts, kernel: JitFunction) -> dict[str, Value]:
    bodies = [file.bodies[name] for name in _with_helpers(file, kernel)]
    calls = [call for body in bodies for call in body.calls]
    names = [call.name for call in calls]
    axes = {
        call.node.args[0].value
        for call in calls
        if call.name == "program_id"
        and call.node.args
        and isinstance(call.node.args[0], ast.Constant)
    }
    keywords = {each.arg for call in calls for each in call.node.keywords}
    return {
        "kind": file.kind(kernel),
        "has_dot": kernel.has_dot,
        "has_loop": any(body.loops for body in bodies),
        "loads_in_loop": sum(1 for each in calls if each.name == "load" and each.place.loops),
        "products": names.count("dot"),
        "reductions": sum(1 for name in names if name in REDUCING),
        "has_masks": bool(keywords & {"mask", "boundary_check"}),
        "uses_block_pointers": "make_block_ptr" in names,
        "uses_descriptors": "make_tensor_descriptor" in names or _takes_descriptor(calls),
        "uses_atomics": any(name.startswith("atomic_") for name in names),
        "uses_exp": "exp" in names,
        "uses_float64": any("float64" in ast.dump(body.node) for body in bodies),
        "uses_cache_hints": bool(keywords & {"cache_modifier", "eviction_policy"}),
        "program_axes": len(axes) or None,
        "is_tuned": kernel.autotune is not None,
        "kernels": len(file.contents.entry_kernels),
        "launches": len(file.contents.launches),
    }


def _takes_descriptor(calls: Sequence[object]) -> bool:
    return any(
        getattr(each, "is_method", False) and getattr(each, "name", "") in {"load", "store"}
        for each in calls
    )


def _with_helpers(file: FileFacts, kernel: JitFunction) -> tuple[str, ...]:
    """Return a kernel and the jit functions it calls, each once."""
    seen: list[str] = []
    waiting = [kernel.name]
    while waiting:
        name = waiting.pop()
        found = file.contents.jit_function(name)
        if name not in seen and found is not None and name in file.bodies:
            seen.append(name)
            waiting += found.calls
    return tuple(seen)


def _launch_facts(
    file: FileFacts, kernel: JitFunction, setting: Setting, device: Device
) -> dict[str, Value]:
    options = _options(file, kernel, setting)
    edges = {}
    for name, value in setting.values.items():
        match = _EDGE.match(name)
        if match is not None and kernel.has_dot:
            edges[f"block_{match['edge'].lower()}"] = value
    groups = [value for name, value in setting.values.items() if _GROUP.search(name)]
    blocks = [setting.values[n] for n in _arange_names(file, kernel) if n in setting.values]
    stages = device.triton.num_stages if device.triton is not None else None
    tuner = kernel.autotune
    return {
        "num_warps": setting.num_warps,
        "num_stages": options.get("num_stages", stages),
        "num_ctas": options.get("num_ctas", 1),
        "maxnreg": options.get("maxnreg"),
        "grf_mode": options.get("grf_mode", "default"),
        "warp_size": options.get("warp_size"),
        **{name: edges.get(name) for name in ("block_m", "block_n", "block_k")},
        "group_m": groups[0] if groups else None,
        "block": max(blocks, default=None),
        "configs": 1 if tuner is None else None if tuner.is_dynamic else len(tuner.configs),
    }


def _options(file: FileFacts, kernel: JitFunction, setting: Setting) -> dict[str, Value]:
    """Return launch options beyond warps that are written down; None: given, but not readable."""
    found: dict[str, Value] = {}
    for launch in file.contents.launches:
        if launch.kernel == kernel.name and (setting.is_config or launch.line == setting.line):
            for name, text in launch.keywords.items():
                found[name] = _literal(text, file)
            break
    if setting.is_config and kernel.autotune is not None:
        config = next(each for each in kernel.autotune.configs if each.line == setting.line)
        for name, value in config.options.items():
            found[name] = value if isinstance(value, int | float | str) else None
        if config.num_stages is not None:
            found["num_stages"] = config.num_stages
    return found


def _literal(text: str, file: FileFacts) -> Value:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = file.contents.constants.get(text)
    return value if isinstance(value, bool | int | float | str) else None


def _arange_names(file: FileFacts, kernel: JitFunction) -> Iterator[str]:
    for name in _with_helpers(file, kernel):
        for call in file.bodies[name].named("arange"):
            end = call.argument(1, "end")
            if isinstance(end, ast.Name):
                yield end.id


def shape_facts(workloads: Sequence[Workload]) -> dict[str, Value]:
    """Return what the timed workloads say; sizes are of the largest tensor among their inputs."""
    timed = [each for each in workloads if each.is_timed] or list(workloads)
    inputs = [(spec, find_dtype(spec.dtype)) for each in timed for spec in each.inputs]
    shapes = [spec.shape for spec, _ in inputs if spec.shape]
    floats = sorted((f for _, f in inputs if f and f.kind == "float"), key=lambda f: f.size_bytes)
    largest = max(shapes, key=_product, default=None)
    moved = [(each.flops, compulsory_bytes(each)) for each in timed]
    intensities = [flops / count for flops, count in moved if flops and count]
    return {
        "dtype": floats[-1].name if floats else None,
        "operand_bytes": floats[0].size_bytes if floats else None,
        "elements": _product(largest) if largest else None,
        "row_elements": max((shape[-1] for shape in shapes), default=None),
        "rows": _product(largest) // max(1, largest[-1]) if largest else None,
        "is_ragged": any(shape[-1] % 16 for shape in shapes) if shapes else None,
        "intensity": max(intensities, default=None),
        "workloads": len(timed) or None,
    }


def _product(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
