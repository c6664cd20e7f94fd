"""Lowers described launches with triton-xpu, and compiles the result for Ponte Vecchio with ocloc.

Runs with the interpreter of the second environment: triton-xpu and the standard library, no
torch, no device. What the device can do is what the request declares.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xe_code

_ARCHITECTURES = {"bmg": 2}
_GRF_MODES = {"128": "small", "256": "large"}
"""Names of newer releases, which 3.3 would silently take for the default."""
_DIVISIBLE = [["tt.divisibility", 16]]
_NATIVE_DEVICE = "pvc"
_NATIVE_SECONDS = 60.0
_MESSAGE_LIMIT = 1000
_HEADER = "from __future__ import annotations\nimport triton\n"


class Drift(Exception):
    """This release of Triton cannot take what newer ones can; the message says what."""


def setup(_options: dict[str, Any]) -> None:
    """Direct Triton's cache to the child's own folder."""
    os.environ.setdefault("TRITON_CACHE_DIR", str(Path.cwd() / "cache"))


def lower(payload: dict[str, Any]) -> dict[str, Any]:
    """Lower one launch.

    Args:
        payload: ``launch`` as `launch_describer` describes it, and ``properties`` of the device
            as Triton's Intel back-end wants them.

    Returns:
        ``refused`` (why it cannot be lowered; empty: it was), ``lowered`` and ``native``.
    """
    try:
        compiled = _compiled(payload["launch"], payload["properties"])
        lowered = _lowered(compiled)
    except Exception as error:
        return {"refused": _words(error), "lowered": None, "native": None}
    return {"refused": "", "lowered": lowered, "native": _native(compiled)}


def _compiled(launch: dict[str, Any], properties: dict[str, Any]) -> Any:
    """Run the pipeline down to SPIR-V."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    if launch.get("refused"):
        raise Drift(launch["refused"])
    architecture = properties["name"]
    _declare_architecture(triton.backends.backends["intel"].compiler, architecture)
    scope = _scope(launch)
    arguments = launch["arguments"]
    source = ASTSource(
        fn=scope[launch["kernel"]],
        signature={each["name"]: _type(each["type"]) for each in arguments},
        constexprs={
            (place,): _value(each, scope)
            for place, each in enumerate(arguments)
            if each["type"] == "constexpr"
        },
        attrs={(place,): _DIVISIBLE for place, each in enumerate(arguments) if each.get("by_16")},
    )
    facts = {**properties, "architecture": _ARCHITECTURES[architecture]}
    lanes = min(properties["sub_group_sizes"])
    options = _options(launch["options"])
    return triton.compile(source, target=GPUTarget("xpu", facts, lanes), options=options)


def _declare_architecture(backend: Any, architecture: str) -> None:
    """Answer for the driver's helper and keep an installed ocloc from overruling the request.

    The back-end builds that helper in C++ against SYCL only to turn a number into a name. Where
    it finds ocloc, it asks that for extensions; an old one knows nothing of newer devices.
    """
    names = {number: name for name, number in _ARCHITECTURES.items()}
    helper = types.SimpleNamespace(parse_device_arch=lambda number: names.get(number, ""))
    scope = backend.__init__.__globals__  # the module is not in sys.modules
    scope["compile_module_from_src"] = lambda _source, _name: helper
    backend.device_props[architecture] = {}


def _scope(launch: Mapping[str, Any]) -> dict[str, Any]:
    """Make a module of the launch's functions and of what their names stand for."""
    parts = [_HEADER]
    for function in launch["functions"]:
        decorator = "@triton.jit(noinline=True)" if function["noinline"] else "@triton.jit"
        parts.append(f"\n\n{decorator}\n{function['source']}")
    path = Path.cwd() / "described.py"  # jit functions want to read their own file
    path.write_text("".join(parts), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise Drift("its functions make no module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    scope = module.__dict__
    named = launch["names"]
    # Defaults in signatures are looked up while the functions are made.
    scope.update({name: _global(each) for name, each in named.items() if "function" not in each})
    spec.loader.exec_module(module)
    aliases = {name: each["function"] for name, each in named.items() if "function" in each}
    scope.update({name: scope[function] for name, function in aliases.items()})
    return scope


def _global(plain: Mapping[str, Any]) -> Any:
    """Return what a name stands for; numbers as the constants that kernels may read."""
    import triton.language as tl

    if "module" in plain:
        try:
            return importlib.import_module(plain["module"])
        except ImportError as error:
            raise Drift(f"the kernel uses the module {plain['module']}: {error}") from None
    if "member" in plain:
        home, name = plain["member"]
        try:
            return getattr(importlib.import_module(home), name)
        except (ImportError, AttributeError):
            raise Drift(f"it has no {home}.{name}") from None
    value = _value(plain, {})
    return value if isinstance(value, tl.dtype) else tl.constexpr(value)


def _value(plain: Mapping[str, Any], scope: Mapping[str, Any]) -> Any:
    import triton.language as tl

    if "items" in plain:
        return tuple(_value(each, scope) for each in plain["items"])
    if "dtype" in plain:
        return tl.dtype(plain["dtype"])
    if "function" in plain:
        return scope[plain["function"]]
    if "value" in plain:
        return plain["value"]
    return _global(plain)


def _type(name: str) -> str:
    return "i1" if name == "u1" else name


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Translate launch options whose names have changed."""
    options = dict(given)
    if "grf_mode" in options:
        asked = str(options["grf_mode"])
        options["grf_mode"] = mode = _GRF_MODES.get(asked, asked)
        if mode not in {"small", "large", "auto", "default"}:
            raise Drift(f"it knows no grf_mode {asked!r}")
    return options


def _lowered(compiled: Any) -> dict[str, Any]:
    """Return what the intermediate code says."""
    metadata = compiled.metadata
    found = xe_code.read_lowered(compiled.asm["ttgir"], compiled.asm["llir"])
    if foreign := found.pop("foreign"):
        raise Drift(f"it calls another vendor's library: {', '.join(foreign)}")
    mode = metadata.grf_mode
    return {
        **found,
        "slm_bytes": int(metadata.shared),
        "sub_group_width": int(metadata.threads_per_warp),
        "num_warps": int(metadata.num_warps),
        "num_stages": int(metadata.num_stages),
        "grf_mode": mode if isinstance(mode, str) else "default",
        "spirv_bytes": len(compiled.asm["spv"]),
    }


def _native(compiled: Any) -> dict[str, Any] | None:
    """Have the SPIR-V compiled for Ponte Vecchio; None where there is no ocloc."""
    ocloc = shutil.which("ocloc")
    if ocloc is None:
        return None
    folder = Path.cwd() / "native"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "kernel.spv").write_bytes(compiled.asm["spv"])
    words = [ocloc, "compile", "-file", "kernel.spv", "-spirv_input", "-device", _NATIVE_DEVICE]
    words += ["-output", "kernel", "-out_dir", "out"]
    words += ["-internal_options", "-ze-allow-zebin -allow-zebin"]
    if flags := compiled.metadata.build_flags:
        words += ["-options", flags]
    try:
        done = subprocess.run(  # noqa: S603 the words are ours
            words,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=_NATIVE_SECONDS,
            check=False,
        )
        log = done.stdout + done.stderr
        made = sorted((folder / "out").glob("*.bin"))
        if done.returncode or len(made) != 1:
            return {"fault": f"ocloc ended with {done.returncode}: {log.strip()[-_MESSAGE_LIMIT:]}"}
        return {"fault": "", **xe_code.read_native(log, made[0].read_bytes())}
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"fault": f"{type(error).__name__}: {error}"[:_MESSAGE_LIMIT]}


def _words(error: BaseException) -> str:
    """Return the innermost cause in the compiler's words, without its excerpt of the source."""
    if isinstance(error, Drift):
        return str(error)
    while error.__cause__ is not None:
        error = error.__cause__
    said = getattr(error, "error_message", None) or str(error)
    return f"{type(error).__name__}: {' '.join(said.split())}"[:_MESSAGE_LIMIT]


OPS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"lower": lower}
