"""Child of test_examples.py: runs kernel files in Triton's interpreter against their references.

Reads a JSON list of ``[kernel path, reference path, spec path, variant]`` on stdin, writes a JSON
list with one record per spec entry on stdout. A bfloat16 entry runs in float32, since the
interpreter multiplies the raw codes of bfloat16 tensors.
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"

import torch
import triton
import yaml
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class InterpreterDriver(DriverBase):
    """Lets ``@triton.autotune`` choose a configuration where there is no device."""

    def __init__(self):
        pass

    @classmethod
    def is_active(cls):
        return True

    def map_python_to_cpp_type(self, ty):
        return ty

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def get_benchmarker(self):
        def call_once(fn, quantiles=None, **_):
            fn()
            return [1.0] * len(quantiles) if quantiles else 1.0

        return call_once

    def get_empty_cache_for_benchmark(self):
        return torch.empty(1)

    def clear_cache(self, cache):
        pass


def load(path, name):
    """Import a file under a name of its own."""
    module_spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    module_spec.loader.exec_module(module)
    return module


def number(value):
    """Read a YAML number; PyYAML takes ``1e-5`` for text."""
    return float(value) if isinstance(value, str) else value


def check_entry(kernel, reference, spec, entry):
    """Compare one spec entry with the reference in float64."""
    dims = {name: number(value) for name, value in entry["dims"].items()}
    dtype = getattr(torch, entry["dtype"].replace("bfloat16", "float32"))
    init_args = [dims[next(iter(each.values()))] for each in spec.get("inits", [])]
    generator = torch.Generator().manual_seed(7)
    shapes = [[dims[d] for d in spec["inputs"][name]["shape"]] for name in entry["params"]]
    inputs = [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]

    torch.manual_seed(1)
    expected_model = reference.Model(*init_args)
    torch.manual_seed(2)
    model = kernel.Model(*init_args).to(dtype)
    model.load_state_dict(expected_model.to(dtype).state_dict())
    given = [each.clone() for each in inputs]
    started = time.perf_counter()
    got = model(*inputs)
    seconds = time.perf_counter() - started
    plain = expected_model(*inputs)
    expected = expected_model.double()(*[each.double() for each in inputs])

    error = (got.double() - expected).abs()
    limit = number(entry["atol"]) + number(entry["rtol"]) * expected.abs()
    return {
        "wrong": int((~(error <= limit)).sum()),
        "worst": float(error.max()),
        "reference_worst": float((plain.double() - expected).abs().max()),
        "dtype_kept": got.dtype == plain.dtype,
        "shape_kept": got.shape == plain.shape,
        "strides_kept": got.stride() == plain.stride(),
        "inputs_kept": all(torch.equal(a, b) for a, b in zip(given, inputs, strict=True)),
        "seconds": seconds,
    }


def main():
    """Check everything that was asked for."""
    triton.runtime.driver.set_active(InterpreterDriver())
    answers = []
    for number_, (kernel_path, reference_path, spec_path, variant) in enumerate(
        json.load(sys.stdin)
    ):
        kernel = load(kernel_path, f"kernel_{number_}")
        reference = load(reference_path, f"reference_{number_}")
        spec = yaml.safe_load(Path(spec_path).read_text(encoding="utf-8"))
        with torch.no_grad():
            for index, entry in enumerate(spec[variant]):
                record = check_entry(kernel, reference, spec, entry)
                answers.append({"kernel": kernel_path, "entry": f"{variant}[{index}]", **record})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
