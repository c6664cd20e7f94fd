"""The host's part of an emitted file: the class that holds the weights and launches the kernels."""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from xeforge.fusion.emit.triton.kernel import Kernel
from xeforge.fusion.emit.triton.text import Names
from xeforge.fusion.emit.triton.text import call_lines
from xeforge.fusion.emit.triton.words import CannotEmit
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Program

GIVEN = '''

def _given(name, tensor, shape, dtype):
    """Return a tensor as the kernels need it: dense, and starting where descriptors can."""
    if tuple(tensor.shape) != shape or tensor.dtype != dtype:
        found = f"{tuple(tensor.shape)} of {tensor.dtype}"
        raise ValueError(f"{name} is {found}; these kernels take {shape} of {dtype}")
    tensor = tensor.contiguous()
    if tensor.storage_offset() * tensor.element_size() % 16:
        tensor = tensor.clone()
    return tensor'''

ANY_ARGUMENTS = "*_arguments, **_options"


def model_source(
    program: Program,
    tensors: Sequence[Tensor],
    kernels: Sequence[Kernel],
    parameters: str = ANY_ARGUMENTS,
) -> list[str]:
    """Return the class ``Model`` with its parameters and ``forward``.

    Args:
        program: Its inputs are the arguments of ``forward``.
        tensors: Of the graph.
        kernels: In order.
        parameters: Of the constructor, as source text without ``self``; they are not used.
    """
    head = ", ".join(filter(None, ("self", parameters)))
    state = [each for each in tensors if each.path]
    paths = {each.name: each.path for each in state}
    lines = ["", "", "class Model(nn.Module):", f'    """{_summary(program)}"""', ""]
    lines += [f"    def __init__({head}):", "        super().__init__()"]
    lines += [f"        {line}" for line in _state(state)]
    lines += [""]
    names = Names()
    variables = {name: names.fresh(name) for name in program.inputs}
    lines += [f"    def forward({', '.join(['self', *variables.values()])}):"]
    body = [
        *_given(program, paths, variables, names),
        *_launches(program, kernels, variables, names),
    ]
    return lines + [f"        {line}" for line in body]


def _summary(program: Program) -> str:
    arrays = program.arrays_by_name()
    made = (f"{name} {list(arrays[name].shape)}" for name in program.outputs)
    text = f"Computes {', '.join(made)}; weights are read at each call."
    limit = 90
    return text if len(text) <= limit else "Launches one kernel after the other."


def _state(tensors: Sequence[Tensor]) -> Iterator[str]:
    """Yield what makes parameters and buffers under their names in the state."""
    made: set[str] = set()
    for tensor in tensors:
        owner = "self"
        *folders, name = tensor.path.split(".")
        for place, folder in enumerate(folders):
            path = ".".join(folders[: place + 1])
            if path not in made:
                yield _member(owner, folder, "nn.Module()", is_module=True)
                made.add(path)
            owner = _attribute(owner, folder)
        dtype = f"dtype=torch.{tensor.dtype}"
        empty = f"torch.empty({tensor.shape}, {dtype})"
        if tensor.role == "parameter":
            # Only floats have gradients; whole numbers cannot even ask for one.
            option = "" if tensor.dtype.startswith(("float", "bfloat")) else ", requires_grad=False"
            yield _member(owner, name, f"nn.Parameter({empty}{option})", is_module=False)
        else:
            yield f'{owner}.register_buffer("{name}", {empty})'


def _member(owner: str, name: str, value: str, *, is_module: bool) -> str:
    if name.isidentifier():
        return f"{owner}.{name} = {value}"
    method = "add_module" if is_module else "register_parameter"
    return f'{owner}.{method}("{name}", {value})'


def _attribute(owner: str, name: str) -> str:
    return f"{owner}.{name}" if name.isidentifier() else f'getattr({owner}, "{name}")'


def _given(
    program: Program, paths: Mapping[str, str], variables: dict[str, str], names: Names
) -> Iterator[str]:
    """Yield checks of inputs and parameters, and give the latter a variable."""
    for array in program.arrays:
        if array.role == "input":
            place = variables[array.name]
        elif array.role == "parameter":
            if array.name not in paths:
                raise CannotEmit(f"{array.name} is a constant, and its values are not known here")
            place = "self"
            for part in paths[array.name].split("."):
                place = _attribute(place, part)
            variables[array.name] = names.fresh(array.name)
        else:
            continue
        name = variables[array.name]
        words = (f'"{name}"', place, str(array.shape), f"torch.{array.dtype}")
        yield from call_lines(f"{name} = _given", words)


def _launches(
    program: Program, kernels: Sequence[Kernel], variables: dict[str, str], names: Names
) -> Iterator[str]:
    """Yield allocations, launches in order, and what is returned."""
    arrays = program.arrays_by_name()
    given = [name for name in variables if arrays[name].role in {"input", "parameter"}]
    if not given:
        raise CannotEmit("the program is given nothing, so no device is known")
    yield f"device = {variables[given[0]]}.device"
    if any(kernel.needs_allocator for kernel in kernels):
        yield "# Descriptors made on the device need a little memory at each launch."
        yield "triton.set_allocator("
        yield "    lambda size, align, stream: torch.empty(size, dtype=torch.int8, device=device)"
        yield ")"
    for kernel in kernels:
        described = (each.array for each in kernel.descriptors.values())
        for name in (*kernel.arguments, *described):
            if name not in variables:
                variables[name] = names.fresh(name)
                yield f"{variables[name]} = {_empty(arrays[name])}"
        yield from _launch(kernel, variables)
    returned = [variables[name] for name in program.outputs]
    yield f"return {returned[0] if len(returned) == 1 else '(' + ', '.join(returned) + ')'}"


def _empty(array: Array) -> str:
    return f"torch.empty({array.shape}, dtype=torch.{array.dtype}, device=device)"


def _launch(kernel: Kernel, variables: Mapping[str, str]) -> Iterator[str]:
    words: list[str] = [variables[name] for name in kernel.arguments]
    for each in kernel.descriptors.values():
        sizes = (list(each.shape), list(each.strides), list(each.block))
        words.append(f"TensorDescriptor({variables[each.array]}, {', '.join(map(str, sizes))})")
    if len(kernel.configs) == 1:
        config = kernel.configs[0]
        words += [f"{name}={value}" for name, value in config.blocks.items()]
        words += [f"num_warps={config.num_warps}"]
        if config.num_stages > 1:
            words += [f"num_stages={config.num_stages}"]
    is_chosen = len(kernel.configs) > 1
    grid = f"lambda meta: ({kernel.grid},)" if is_chosen else f"({kernel.grid},)"
    yield from call_lines(f"{kernel.name}[{grid}]", words)


def used_helpers(kernels: Iterable[Kernel]) -> set[str]:
    """Return the names of all functions of ours that kernels call."""
    return {name for kernel in kernels for name in kernel.helpers}
