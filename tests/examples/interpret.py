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


def draw(declared, dims, dtype, generator):
    """Draw one input as its spec entry says."""
    shape = [dims[each] for each in declared["shape"]]
    if declared["dtype"].startswith("int"):
        low, high = (dims.get(each, each) for each in declared["range"])
        return torch.randint(low, high, shape, generator=generator)
    return torch.randn(shape, generator=generator).to(dtype)


def widened(tensors):
    """Return copies in float64; whole numbers stay as they are."""
    return [each.double() if each.is_floating_point() else each.clone() for each in tensors]


def as_tuple(result):
    """Return outputs as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def check_entry(kernel, reference, spec, entry):
    """Compare one spec entry with the reference in float64."""
    dims = {name: number(value) for name, value in entry["dims"].items()}
    dtype = getattr(torch, entry["dtype"].replace("bfloat16", "float32"))
    init_args = [dims[next(iter(each.values()))] for each in spec.get("inits", [])]
    generator = torch.Generator().manual_seed(7)
    inputs = [draw(spec["inputs"][name], dims, dtype, generator) for name in entry["params"]]

    torch.manual_seed(1)
    expected_model = reference.Model(*init_args)
    torch.manual_seed(2)
    model = kernel.Model(*init_args).to(dtype)
    model.load_state_dict(expected_model.to(dtype).state_dict())
    copies = [[each.clone() for each in inputs] for _ in range(2)]
    wide = widened(inputs)
    started = time.perf_counter()
    got = as_tuple(model(*inputs))
    seconds = time.perf_counter() - started
    plain = as_tuple(expected_model(*copies[0]))
    expected = as_tuple(expected_model.double()(*wide))

    errors = [(a.double() - b).abs() for a, b in zip(got, expected, strict=True)]
    limits = [number(entry["atol"]) + number(entry["rtol"]) * each.abs() for each in expected]
    agree = [
        (error <= limit) | (a.isnan() & b.isnan())
        for error, limit, a, b in zip(errors, limits, got, expected, strict=True)
    ]
    return {
        "wrong": sum(int((~each).sum()) for each in agree),
        "worst": max(float(each.max()) for each in errors),
        "reference_worst": max(
            float((a.double() - b).abs().max()) for a, b in zip(plain, expected, strict=True)
        ),
        "dtype_kept": [each.dtype for each in got] == [each.dtype for each in plain],
        "shape_kept": [each.shape for each in got] == [each.shape for each in plain],
        "strides_kept": [each.stride() for each in got] == [each.stride() for each in plain],
        "inputs_kept": [torch.equal(a, b) for a, b in zip(inputs, copies[1], strict=True)]
        == [torch.equal(a, b) for a, b in zip(copies[0], copies[1], strict=True)],
        "seconds": seconds,
    }


def main():
    """Check everything that was asked for."""
    triton.runtime.driver.set_active(InterpreterDriver())
    # Fresh memory is filled with NaN, so that what a kernel leaves unwritten shows.
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    answers = []
    for number_, (kernel_path, reference_path, spec_path, variant) in enumerate(
        json.load(sys.stdin)
    ):
        kernel = load(kernel_path, f"kernel_{number_}")
        reference = load(reference_path, f"reference_{number_}")
        spec = yaml.safe_load(Path(spec_path).read_text(encoding="utf-8"))
        for index, entry in enumerate(spec[variant]):
            try:
                with torch.no_grad():
                    record = check_entry(kernel, reference, spec, entry)
            except Exception as error:  # noqa: BLE001 - the file under test may raise anything
                record = {"raised": f"{type(error).__name__}: {error}"}
            answers.append({"kernel": kernel_path, "entry": f"{variant}[{index}]", **record})
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
