"""The Python around an emitted C file; parts in double angle brackets are filled in."""

MODULE = '''\
"""A fused kernel for CPUs: C with OpenMP, compiled on first use and kept by content.

<<NOTES>>
    model = Model()
    model.load_state_dict(reference.state_dict(), strict=False)
    output = model(*inputs)
"""

import ctypes
import functools
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import torch

# Path in the state dict, shape, dtype, whether it is a buffer.
STATE = <<STATE>>
# Name, path in the state dict (none for inputs), shape, dtype.
GIVEN = <<GIVEN>>
# Name, shape, dtype.
RESULTS = <<RESULTS>>
FLAGS = <<FLAGS>>
NEEDS = <<NEEDS>>
SOURCE = <<SOURCE>>


def cache_folder():
    """Return where libraries are kept: in $XEFORGE_HOME, else in the user's cache folder."""
    named = os.environ.get("XEFORGE_HOME")
    if named:
        return pathlib.Path(named) / "fusion_c"
    root = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(root) / "xeforge" / "fusion_c"


def check_processor():
    """Refuse a processor that lacks instructions which the C file is compiled for."""
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    listed = next((line.partition(":")[2] for line in lines if line.startswith("flags")), "")
    missing = sorted(set(NEEDS) - set(listed.split()))
    if missing:
        raise RuntimeError(f"this processor lacks {', '.join(missing)}")


@functools.cache
def compiled():
    """Return the entry of the library, compiled unless it is in the cache."""
    check_processor()
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise RuntimeError("no C compiler on the path; install one, e.g. apt-get install gcc")
    name = hashlib.sha256("\\0".join((SOURCE, compiler, *FLAGS)).encode()).hexdigest()[:24]
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"{name}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            source = pathlib.Path(scratch) / "plan.c"
            source.write_text(SOURCE, encoding="utf-8")
            made = pathlib.Path(scratch) / "plan.so"
            command = [compiler, *FLAGS, "-shared", "-fPIC", source, "-o", made, "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"the C file does not compile:\\n{done.stderr[:4000]}")
            made.replace(library)
    entry = getattr(ctypes.CDLL(str(library)), <<ENTRY>>)
    entry.restype = ctypes.c_int
    entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return entry


def pointers(tensors):
    return (ctypes.c_void_p * len(tensors))(*(each.data_ptr() for each in tensors))


class Model(torch.nn.Module):
    """Computes what the module that it was made of computes, at the same shapes."""

    def __init__(<<PARAMETERS>>):
        super().__init__()
        self._entry = compiled()
        for path, shape, dtype, is_buffer in STATE:
            self._place(path, torch.empty(shape, dtype=getattr(torch, dtype)), is_buffer)

    def _place(self, path, values, is_buffer):
        *owners, name = path.split(".")
        owner = self
        for each in owners:
            if not hasattr(owner, each):
                owner.add_module(each, torch.nn.Module())
            owner = getattr(owner, each)
        if is_buffer:
            owner.register_buffer(name, values)
        else:
            owner.register_parameter(name, torch.nn.Parameter(values, requires_grad=False))

    def _tensor(self, path):
        *owners, name = path.split(".")
        return getattr(functools.reduce(getattr, owners, self), name)

    def forward(self, *inputs):
        wanted = sum(not path for _, path, *_ in GIVEN)
        if len(inputs) != wanted:
            raise TypeError(f"{len(inputs)} inputs are given, {wanted} are wanted")
        passed = iter(inputs)
        given = []
        for name, path, shape, dtype in GIVEN:
            tensor = self._tensor(path) if path else next(passed)
            memory = tensor.untyped_storage().device.type
            found = (tuple(tensor.shape), str(tensor.dtype), memory)
            if found != (shape, f"torch.{dtype}", "cpu"):
                raise TypeError(f"{path or name}: {found}, wanted is {shape}, {dtype} on the cpu")
            given.append(tensor.detach().contiguous())
        results = [torch.empty(shape, dtype=getattr(torch, dtype)) for _, shape, dtype in RESULTS]
        if self._entry(pointers(given), pointers(results)):
            raise MemoryError("no memory for intermediates")
        return results[0] if len(results) == 1 else tuple(results)
<<TAIL>>'''
