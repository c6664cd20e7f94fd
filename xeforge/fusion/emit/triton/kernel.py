"""What an emitter of one family hands to the file: a kernel and how it is launched."""

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import TypeAlias

from xeforge.fusion.emit.triton.text import call_lines

Setting: TypeAlias = int | str | bool


@dataclass(frozen=True, slots=True)
class Config:
    """Launch settings of one kernel.

    Attributes:
        blocks: Value of each constexpr parameter.
        num_warps, num_stages: As Triton means them on the target.
    """

    blocks: Mapping[str, int]
    num_warps: int
    num_stages: int = 1


@dataclass(frozen=True, slots=True)
class HostDescriptor:
    """A tensor descriptor that the host makes and passes.

    Attributes:
        array: That it describes from its first element on.
        shape, strides, block: In elements; the last stride is 1.
    """

    array: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Source and launch of one kernel.

    Attributes:
        name: Of the jit function.
        summary: One line for its docstring; empty: none.
        lines: Of the body.
        arguments: Arrays and the parameter of each, in order.
        configs: One, or several to choose from by measuring.
        grid: Number of programs; text in terms of ``meta`` where it depends on the config.
        helpers: Names of functions of ours that it calls.
        key: Of the choice among configs.
        scratch: Buffers beyond the arrays of the program: parameter, shape text, Torch dtype.
        needs_allocator: Whether it makes tensor descriptors on the device.
        is_persistent: Whether the grid is the number of multiprocessors.
        descriptors: Made by the host, by parameter; they follow the arrays.
    """

    name: str
    summary: str
    lines: Sequence[str]
    arguments: Mapping[str, str]
    configs: Sequence[Config]
    grid: str
    helpers: frozenset[str] = field(default_factory=frozenset)
    needs_allocator: bool = False
    is_persistent: bool = False
    descriptors: Mapping[str, HostDescriptor] = field(default_factory=dict)


def kernel_source(kernel: Kernel) -> list[str]:
    """Return the definition, with the choice of configs where there are several."""
    lines = ["", ""]
    if len(kernel.configs) > 1:
        lines += _autotuned(kernel.configs)
    constants = [f"{name}: tl.constexpr" for name in kernel.configs[0].blocks]
    lines += ["@triton.jit"]
    lines += call_lines(
        f"def {kernel.name}", (*kernel.arguments.values(), *kernel.descriptors, *constants), ":"
    )
    if kernel.summary:
        lines += [f'    """{kernel.summary}"""']
    return lines + [f"    {line}" if line else "" for line in kernel.lines]


def _autotuned(configs: Sequence[Config]) -> list[str]:
    lines = ["@triton.autotune(", "    configs=["]
    for each in configs:
        blocks = ", ".join(f'"{name}": {value}' for name, value in each.blocks.items())
        settings = f"num_warps={each.num_warps}, num_stages={each.num_stages}"
        lines.append(f"        triton.Config({{{blocks}}}, {settings}),")
    return [*lines, "    ],", "    key=[],", ")"]
