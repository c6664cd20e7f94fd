"""Compiles what emitted files launch, for targets that are not here.

A process of its own: reads ``{"targets": [[backend, arch, warp_size], ...], "files": [{"source",
"shapes": [[sizes, dtype], ...]}, ...]}`` from standard input and writes one list of results per
file. Tensors are on the CPU and hold nothing; launches are recorded, and then compiled.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor

POINTERS = {
    torch.float64: "*fp64",
    torch.float32: "*fp32",
    torch.float16: "*fp16",
    torch.bfloat16: "*bf16",
    torch.int64: "*i64",
    torch.int32: "*i32",
    torch.bool: "*i1",
}
DIVISIBLE = [["tt.divisibility", 16]]
OPTIONS = ("num_warps", "num_stages")


class Recorder:
    """Stands where a kernel stood and keeps its launches."""

    def __init__(self, kernel, launches):
        self.kernel = kernel
        self.launches = launches

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.launches.append((self.kernel, args, kwargs))


def configurations(kernel):
    """Yield the jit function with each set of constants and options to choose from."""
    if hasattr(kernel, "configs"):
        for each in kernel.configs:
            yield kernel.fn, {**each.kwargs, **{name: getattr(each, name) for name in OPTIONS}}
    else:
        yield kernel, {}


def compiled(kernel, args, kwargs, target):
    """Compile one launch under each of its configurations; return a fact or two about each."""
    found = []
    for function, chosen in configurations(kernel):
        given = {**kwargs, **chosen}
        options = {name: given.pop(name) for name in OPTIONS if name in given}
        values = {**dict(zip(function.arg_names, args, strict=False)), **given}
        signature, constants, facts = {}, {}, {}
        for place, name in enumerate(function.arg_names):
            value = values[name]
            if isinstance(value, torch.Tensor):
                signature[name] = POINTERS[value.dtype]
                facts[(place,)] = DIVISIBLE
            elif isinstance(value, TensorDescriptor):
                element = POINTERS[value.base.dtype][1:]
                signature[name] = f"tensordesc<{element}{list(value.block_shape)}>"
            else:
                signature[name] = "constexpr"
                constants[(place,)] = value
        source = ASTSource(function, signature, constants, facts)
        built = triton.compile(source, target=GPUTarget(*target), options=options)
        stage = {"cuda": "ptx", "hip": "amdgcn"}[target[0]]
        found.append(
            {
                "kernel": function.__name__,
                "options": {**options, **{k: v for k, v in given.items() if isinstance(v, int)}},
                "shared": built.metadata.shared,
                "tensor_core": any(
                    word in built.asm[stage] for word in ("wgmma", "mma.sync", "v_mfma", "v_wmma")
                ),
                "is_vectorised": "ld.global.v4" in built.asm[stage],
            }
        )
    return found


def launched(source, shapes, folder, name):
    """Return the launches of one call of the model."""
    place = Path(folder) / f"{name}.py"
    place.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    launches = []
    for key, value in list(vars(module).items()):
        if key.endswith("_kernel"):
            setattr(module, key, Recorder(value, launches))
    inputs = [torch.empty(sizes, dtype=getattr(torch, dtype)) for sizes, dtype in shapes]
    module.Model()(*inputs)
    return launches


def main():
    facts = SimpleNamespace(multi_processor_count=132)
    torch.cuda.get_device_properties = lambda _device=None: facts
    request = json.load(sys.stdin)
    answer = []
    with tempfile.TemporaryDirectory() as folder:
        for number, each in enumerate(request["files"]):
            launches = launched(each["source"], each["shapes"], folder, f"emitted_{number}")
            answer.append(
                [
                    {"target": target, "found": compiled(*launch, target)}
                    for launch in launches
                    for target in request["targets"]
                ]
            )
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
