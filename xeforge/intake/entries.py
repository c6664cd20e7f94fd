"""One entry of a variant, resolved to one or several workloads."""

import math
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import Final

from xeforge.domain.dtype import DTYPES
from xeforge.domain.dtype import DType
from xeforge.domain.problem import Argument
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.errors import BadSpec
from xeforge.intake.arguments import EntryDims
from xeforge.intake.arguments import coerced
from xeforge.intake.arguments import init_arguments
from xeforge.intake.arguments import read_dims
from xeforge.intake.expression import evaluate
from xeforge.intake.marks import Path
from xeforge.intake.marks import dotted
from xeforge.intake.marks import nearest
from xeforge.intake.schema import InputEntry
from xeforge.intake.schema import Layout
from xeforge.intake.schema import VariantEntry
from xeforge.intake.tensors import input_dtypes
from xeforge.intake.tensors import read_dtype
from xeforge.intake.tensors import read_tensor

INPUT_BYTES_LIMIT: Final = 64 * 2**30
"""Most bytes of all inputs of one entry together."""
DEFAULT_RTOL: Final = 1e-2
DEFAULT_ATOL: Final = 1e-5
"""Tolerances of Xe-Forge and AI-Bench where a spec gives none."""
MEMORY_FORMATS: Final = (
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "preserve_format",
)
_PLAIN_FORMATS: Final = frozenset({"contiguous_format", "preserve_format"})


@dataclass(frozen=True, slots=True)
class Resolved:
    """One workload and what resolving it decided.

    Attributes:
        workload: Without the choice of variants: `is_timed` is still True.
        path: Entry in the spec.
        notes: Decisions worth telling.
        too_large: Why it cannot be run; None: it can.
    """

    workload: Workload
    path: Path
    notes: tuple[str, ...]
    too_large: BadSpec | None


def resolve_variant(layout: Layout, variant: str) -> Iterator[Resolved]:
    """Yield the workloads of a variant; an entry with a list of dims yields one for each.

    Raises:
        BadSpec: The entry contradicts itself or the inputs.
    """
    index = 0
    for path, entry in layout.variants[variant]:
        options: list[tuple[Path, Any]] = [((*path, "dims"), entry.dims)]
        if isinstance(entry.dims, list):
            options = [((*path, "dims", i), each) for i, each in enumerate(entry.dims)]
            if not options:
                raise layout.document.bad(path, "dims is an empty list", remedy="give one mapping")
        for dims_path, given in options:
            dims = EntryDims(read_dims(layout.document, dims_path, given), dims_path)
            yield _Entry(layout, path, entry, dims).resolve(f"{variant}[{index}]", variant)
            index += 1


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry with one choice of dims."""

    layout: Layout
    path: Path
    entry: VariantEntry
    dims: EntryDims

    def resolve(self, name: str, variant: str) -> Resolved:
        document, entry = self.layout.document, self.entry
        dtype = None
        if entry.dtype is not None:
            dtype = read_dtype(document, (*self.path, "dtype"), entry.dtype)
        notes: list[str] = []
        inputs: tuple[TensorSpec, ...] = ()
        if self.layout.inputs is None:
            self._refuse_params()
        else:
            inputs, note = self._inputs(self.layout.inputs, dtype)
            notes += [f"{name}: {each}" for each in note]
        init_args: tuple[Argument, ...] | None = None
        init_dims: tuple[str, ...] = ()
        if self.layout.inits is not None:
            init_args, init_dims = init_arguments(document, self.layout.inits, self.dims)
        rtol, atol = self._tolerance("rtol"), self._tolerance("atol")
        workload = Workload(
            name=name,
            variant=variant,
            inputs=inputs,
            init_args=init_args,
            dtype=_module_dtype(dtype, inputs),
            dims=self.dims.values,
            init_dims=init_dims,
            rtol=DEFAULT_RTOL if rtol is None else rtol,
            atol=DEFAULT_ATOL if atol is None else atol,
            flops=self._formula("flop", entry.flop),
            moved_bytes=self._moved_bytes(),
            memory_format=self._memory_format(),
            weight=self._weight(),
            from_file=self.layout.inputs is None,
        )
        return Resolved(workload, self.path, tuple(notes), self._too_large(name, inputs))

    def _refuse_params(self) -> None:
        if self.entry.params is not None:
            raise self.layout.document.bad(
                (*self.path, "params"),
                "the entry lists params, but the spec declares no inputs",
                remedy="declare them under inputs:, or leave params out to use get_inputs()",
            )

    def _inputs(
        self, declared: Mapping[str, InputEntry], dtype: DType | None
    ) -> tuple[tuple[TensorSpec, ...], list[str]]:
        document = self.layout.document
        params = self.entry.params
        if not params:
            raise document.bad(
                self.path,
                "the entry lists no params",
                remedy=f"add params: [{', '.join(declared)}], in the order of forward()",
            )
        place = (*self.path, "params")
        for index, each in enumerate(params):
            if each not in declared:
                raise document.bad(
                    (*place, index),
                    f"input {each!r} is not declared{nearest(each, declared)}",
                    remedy=f"add it under inputs: (declared: {', '.join(declared)})",
                )
            if each in params[:index]:
                raise document.bad(
                    (*place, index),
                    f"input {each!r} is listed twice",
                    remedy="declare a second input with the same shape",
                )
        dtypes, note = input_dtypes(document, declared, params, dtype, self.path)
        tensors = tuple(
            read_tensor(document, each, declared[each], dtypes[each], self.dims) for each in params
        )
        notes = [] if note is None else [note]
        formats = {each.dtype for each in tensors}
        if len(formats) > 1:
            kinds = ", ".join(f"{each.name} {each.dtype}" for each in tensors)
            notes.append(f"per-input dtypes are honoured: {kinds}")
        return tensors, notes

    def _formula(self, key: str, given: Any) -> float | None:
        if given is None:
            return None
        path = (*self.path, key)
        document = self.layout.document
        if not isinstance(given, str | int | float):
            raise document.bad(path, "a number or a formula is expected", remedy="write a formula")
        value = evaluate(
            coerced(given),
            self.dims.values,
            field=dotted(path),
            file=document.file,
            line=document.line(path),
        )
        if value < 0:
            raise document.bad(path, f"the value {value} is negative", remedy="mend the formula")
        return float(value)

    def _moved_bytes(self) -> float | None:
        if self.entry.mem_bytes is not None and self.entry.moved is not None:
            raise self.layout.document.bad(
                (*self.path, "bytes"),
                "mem_bytes and bytes mean the same",
                remedy="keep one of them",
            )
        if self.entry.moved is not None:
            return self._formula("bytes", self.entry.moved)
        return self._formula("mem_bytes", self.entry.mem_bytes)

    def _tolerance(self, key: str) -> float | None:
        given = getattr(self.entry, key)
        return None if given is None else self._number(key, given, "not negative", lambda v: v >= 0)

    def _weight(self) -> float:
        given = self.entry.weight
        return 1.0 if given is None else self._number("weight", given, "positive", lambda v: v > 0)

    def _number(self, key: str, given: Any, wanted: str, fits: Any) -> float:
        value = coerced(given)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or not fits(value):
            raise self.layout.document.bad(
                (*self.path, key),
                f"{given!r} is no {key}: a finite number that is {wanted} is expected",
                remedy="give a number such as 0.01",
            )
        return float(value)

    def _memory_format(self) -> str | None:
        given = self.entry.memory_format
        if given is not None and given not in MEMORY_FORMATS:
            raise self.layout.document.bad(
                (*self.path, "memory_format"),
                f"unknown memory format {given!r}{nearest(given, MEMORY_FORMATS)}",
                remedy=f"one of {', '.join(MEMORY_FORMATS)}",
            )
        return None if given in _PLAIN_FORMATS else given

    def _too_large(self, name: str, inputs: tuple[TensorSpec, ...]) -> BadSpec | None:
        total = sum(math.prod(each.shape) * DTYPES[each.dtype].size_bytes for each in inputs)
        if total <= INPUT_BYTES_LIMIT:
            return None
        largest = max(inputs, key=lambda each: math.prod(each.shape))
        return self.layout.document.bad(
            self.dims.path,
            f"the inputs of {name} take {total / 1e9:,.1f} GB, more than the "
            f"{INPUT_BYTES_LIMIT / 1e9:,.1f} GB allowed",
            remedy=f"make {largest.name} smaller: it has the shape {list(largest.shape)}",
        )


def _module_dtype(entry: DType | None, inputs: tuple[TensorSpec, ...]) -> str | None:
    """A module can only be cast to a floating dtype; without one, the first input decides."""
    if entry is not None and entry.kind == "float":
        return entry.name
    for each in inputs:
        if DTYPES[each.dtype].kind == "float":
            return each.dtype
    return None
