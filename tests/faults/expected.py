"""What must be said about each kernel of this folder, as data.

Paths are relative to this folder. ``README.md`` shows the same as a table; ``test_faults.py``
keeps the two equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Expected:
    """What `xeforge verify` must answer for one kernel file.

    Attributes:
        reference: File name in ``references``; None: there is none.
        spec: File name in ``specs``; None: the kernel file's own helpers.
        exit_codes: Acceptable exit codes; more than one where the place of discovery may vary.
        issues: Issue types of which at least one must be reported; empty: none may be, except
            those about speed.
        severity: Of that issue: ``error``, ``warning`` or ``speed``; empty: refused with a message.
        line: Text that occurs on the line to be blamed and nowhere else; empty: no place is named.
        words: Each must occur in the message or the issue, in any case of letters.
        is_right_as_declared: Whether the kernel computes what the reference computes on the
            spec's own shapes and arguments; None: it cannot be run safely, or does not end.
        only_on_device: Cannot show in Triton's interpreter, which runs programs one by one.
    """

    reference: str | None
    spec: str | None
    exit_codes: tuple[int, ...]
    issues: tuple[str, ...] = ()
    severity: str = ""
    line: str = ""
    words: tuple[str, ...] = ()
    is_right_as_declared: bool | None = None
    only_on_device: bool = False

    @property
    def reference_path(self) -> Path | None:
        """Where the reference lies."""
        return None if self.reference is None else FOLDER / "references" / self.reference

    @property
    def spec_path(self) -> Path | None:
        """Where the spec lies."""
        return None if self.spec is None else FOLDER / "specs" / self.spec


def _wrong(
    reference: str, spec: str, *issues: str, line: str = "", declared: bool | None = False
) -> Expected:
    return Expected(reference, spec, (4,), issues, "error", line, (), declared)


FAULTS: Mapping[str, Expected] = {
    "unwritten_tail.py": _wrong("double.py", "vector.yaml", "unwritten"),
    "grid_ignores_autotune.py": _wrong(
        "double.py",
        "vector.yaml",
        "grid_block_mismatch",
        "unwritten",
        line="double_kernel[(triton.cdiv(n, 256),)]",
    ),
    "argument_ignored.py": _wrong(
        "scaled_relu.py",
        "gain.yaml",
        "constructor_argument",
        "unused_constructor_argument",
        declared=True,
    ),
    "argument_wrong_slot.py": _wrong(
        "affine.py", "affine.yaml", "constructor_argument", declared=True
    ),
    "constant_for_argument.py": _wrong(
        "unit_rms.py", "eps.yaml", "constructor_argument", declared=True
    ),
    "out_of_bounds_read.py": _wrong(
        "row_sum.py",
        "matrix.yaml",
        "memory_safety",
        line="tl.load(x_ptr + row * n_columns + columns)",
        declared=True,
    ),
    "out_of_bounds_write.py": _wrong(
        "negate.py",
        "vector.yaml",
        "memory_safety",
        line="tl.store(y_ptr + offs, -x)",
        declared=None,
    ),
    "wrong_values.py": _wrong("double.py", "vector.yaml", "incorrect"),
    "wrong_shape.py": _wrong("row_sum.py", "matrix.yaml", "contract"),
    "wrong_dtype.py": _wrong("double.py", "vector.yaml", "contract"),
    "returns_none.py": _wrong("double.py", "vector.yaml", "contract", "ran"),
    "mutates_input.py": _wrong("double.py", "vector.yaml", "mutation"),
    "raises_in_forward.py": _wrong(
        "double.py",
        "vector.yaml",
        "ran",
        line="assert x.dtype == torch.bfloat16",
        declared=None,
    ),
    "kernel_not_called.py": _wrong("double.py", "vector.yaml", "own_kernels", declared=True),
    "other_parameters.py": _wrong(
        "other_parameters.py", "linear.yaml", "state", "incorrect", declared=None
    ),
    "naive_softmax.py": Expected(
        "softmax.py", "matrix.yaml", (0,), ("nan",), "warning", "", ("large",), True
    ),
    "naive_tanh.py": Expected(
        "tanh.py", "vector.yaml", (0,), ("nan",), "warning", "", ("large",), True
    ),
    "hard_coded_xpu.py": Expected(
        "double.py",
        "vector.yaml",
        (0,),
        ("hard_coded_device",),
        "warning",
        'x = x.to("xpu")',
        ("xpu",),
    ),
    "accumulates.py": Expected(
        "column_sum.py",
        "matrix.yaml",
        (0, 4),
        ("determinism", "stale", "incorrect"),
        "",
        "",
        (),
        True,
    ),
    "random_results.py": Expected(
        "same.py", "vector.yaml", (0, 4), ("determinism",), "", "", (), True
    ),
    "racy.py": Expected(
        "column_sum.py",
        "tall.yaml",
        (0, 4),
        ("determinism", "incorrect"),
        "error",
        "",
        (),
        True,
        only_on_device=True,
    ),
    "host_sync.py": Expected(
        "scale_by_first.py",
        "vector.yaml",
        (0,),
        ("device_host_sync",),
        "speed",
        "x[0].item()",
        (),
        True,
    ),
    "weights_copied.py": Expected(
        "linear.py",
        "linear.yaml",
        (0,),
        ("repack_in_forward", "dtype_input_conversion"),
        "speed",
        "self.weight.t().contiguous().float()",
        (),
        True,
    ),
}
"""Kernels that can be read and imported; the audit must find what is wrong with them."""

REFUSED: Mapping[str, Expected] = {
    "no_model.py": Expected("double.py", "vector.yaml", (2,), words=("Model",)),
    "no_kernel.py": Expected("double.py", "vector.yaml", (2,), words=("jit",)),
    "raises_on_import.py": Expected(
        "double.py", "vector.yaml", (2,), words=("a_module_that_does_not_exist",)
    ),
    "exits_on_import.py": Expected("double.py", "vector.yaml", (2,)),
    "raises_in_constructor.py": Expected("double.py", "vector.yaml", (2,), words=("width",)),
    "inputs_raise.py": Expected(None, None, (2,), words=("the data set is not on this machine",)),
    "hangs_on_import.py": Expected("double.py", "vector.yaml", (2,)),
    "hangs_on_host.py": Expected("double.py", "vector.yaml", (2, 4)),
    "hangs_in_kernel.py": Expected("double.py", "vector.yaml", (2, 4)),
}
"""Kernel files that are valid Python but cannot be used: a message, an exit code, no traceback."""

BAD_REFERENCES: Mapping[str, Expected] = {
    "raises.py": Expected("raises.py", "vector.yaml", (2,), words=("does not know how to double",)),
    "no_model.py": Expected("no_model.py", "vector.yaml", (2,), words=("Model",)),
}
"""References that cannot be used, each with ``honest_words.py`` as the kernel."""

HONEST: Mapping[str, Expected] = {
    name: Expected(reference, spec, (0,), is_right_as_declared=True)
    for name, reference, spec in (
        ("honest_words.py", "double.py", "vector.yaml"),
        ("honest_host_functions.py", "double.py", "vector.yaml"),
        ("honest_view.py", "double_transposed.py", "matrix.yaml"),
        ("honest_in_place.py", "double_in_place.py", "vector.yaml"),
        ("honest_two_outputs.py", "sum_max.py", "matrix.yaml"),
        ("honest_same_nan.py", "log.py", "vector.yaml"),
        ("honest_gather.py", "gather.py", "gather.yaml"),
        ("honest_self_parameter.py", "double.py", "vector.yaml"),
        ("honest_non_ascii.py", "double.py", "vector.yaml"),
    )
}
"""Kernels that look odd and are right: no error and no warning may be reported."""
