"""Module text for fused kernels: shared jit functions, a host function for each set of sizes."""

import ast
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from xeforge.propose.emitted_file import Edit
from xeforge.propose.emitted_file import EmittedFile
from xeforge.propose.emitted_file import Given
from xeforge.propose.emitted_file import appended
from xeforge.propose.emitted_file import edited
from xeforge.propose.emitted_file import launched_by
from xeforge.propose.emitted_file import line_starts
from xeforge.propose.emitted_file import renamed
from xeforge.propose.shared_kernels import form_of
from xeforge.propose.shared_kernels import share

Fresh = Callable[[str], str]
"""Returns a module-level name that nothing has, like the wanted one."""

_FITS = '''
def {fits}(tensors, wanted):
    """Say whether tensors are dense, aligned, together and exactly of these shapes and formats."""
    for tensor, (shape, dtype) in zip(tensors, wanted):
        if not isinstance(tensor, torch.Tensor) or tensor.device != tensors[0].device:
            return False
        if tuple(tensor.shape) != shape or tensor.dtype != dtype or not tensor.is_contiguous():
            return False
        if tensor.storage_offset() * tensor.element_size() % 16:
            return False
    return True
'''


@dataclass(frozen=True, slots=True)
class FusedPath:
    """Kernels for one set of sizes, and when they may be taken.

    Attributes:
        label: What the sizes belong to, e.g. ``"bench-gpu[0]"``.
        file: As emitted.
        arguments: Constructor arguments that are written into the kernels, all that there are.
        training: Mode of the module that they hold for; None: either.
    """

    label: str
    file: EmittedFile
    arguments: tuple[object, ...]
    training: bool | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """What goes into a file beside its own code.

    Attributes:
        text: Jit functions and host functions of the module level.
        method: Body of the method that chooses, as text without indentation.
    """

    text: str
    method: str


def kernel_forms(file: EmittedFile) -> frozenset[str]:
    """Return what identifies the kernels of a file up to the numbers in them."""
    helpers = "\n".join(file.helpers.values())
    return frozenset(f"{helpers}\n{form_of(text)}" for text in file.kernels.values())


def block_of(
    paths: Sequence[FusedPath], inputs: Sequence[str], made_with: str, fresh: Fresh
) -> Block:
    """Return the text of all paths; kernels that differ in numbers alone are one function.

    Args:
        paths: In the order in which they are tried.
        inputs: Arguments of the file's own ``forward``, which the emitted ones stand for in order.
        made_with: Expression for the constructor arguments inside the method; empty where there
            are none.
        fresh: Names functions.
    """
    jit, files = _shared([each.file for each in paths], fresh)
    fits = fresh("_fused_fits")
    hosts: list[str] = []
    choices: list[str] = []
    for path, file in zip(paths, files, strict=True):
        name = fresh(f"_fused_{_word(path.label)}")
        hosts.append(_host(name, path.label, file))
        own = dict(zip(file.arguments, inputs, strict=True))
        tests = [*_asked(path, made_with), f"{fits}(given, wanted)"]
        choices += _chosen(
            [own.get(each.place, each.place) for each in file.given], file.given, tests, name
        )
    functions = [*jit, _FITS.format(fits=fits), *hosts]
    text = "\n\n\n".join(each.strip("\n") for each in functions)
    return Block(text, "\n".join([*choices, "return None"]))


def _shared(files: Sequence[EmittedFile], fresh: Fresh) -> tuple[list[str], list[EmittedFile]]:
    """Return jit functions, and the files as they launch these."""
    helpers: dict[str, str] = {}
    renamed_files = [_with_helpers(each, helpers, fresh) for each in files]
    groups: dict[tuple[str, str], list[int]] = {}
    for place, file in enumerate(renamed_files):
        for name, text in file.kernels.items():
            groups.setdefault((name, form_of(text)), []).append(place)
    kernels = []
    bodies = [each.body for each in renamed_files]
    for (name, _), places in groups.items():
        shared = share([renamed_files[place].kernels[name] for place in places])
        new = fresh(f"fused_{name}")
        kernels.append(renamed(shared.text, {name: new}))
        for place, values in zip(places, shared.values, strict=True):
            bodies[place] = _launching(bodies[place], name, new, values)
    launched = [
        EmittedFile({}, {}, file.arguments, file.given, body)
        for file, body in zip(renamed_files, bodies, strict=True)
    ]
    return [*helpers.values(), *kernels], launched


def _with_helpers(file: EmittedFile, known: dict[str, str], fresh: Fresh) -> EmittedFile:
    """Give helpers the names of equal ones that are known; add those that are not."""
    names: dict[str, str] = {}
    for name, text in file.helpers.items():
        twins = (
            new for new, there in known.items() if renamed(text, {**names, name: new}) == there
        )
        names[name] = next(twins, "") or fresh(f"fused_{name.lstrip('_')}")
        known.setdefault(names[name], renamed(text, names))
    kernels = {name: renamed(text, names) for name, text in file.kernels.items()}
    return EmittedFile({}, kernels, file.arguments, file.given, file.body)


def _launching(body: str, old: str, new: str, values: Mapping[str, str]) -> str:
    """Return host code that launches a kernel under another name, with more arguments.

    Block sizes come out of a tuple, which a search of settings does not change: which masks a
    kernel has was decided with them.
    """
    text = _in_function(body)
    starts = line_starts(text)
    edits: list[Edit] = []
    for stmt in ast.walk(ast.parse(text)):
        if not (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)):
            continue
        call = stmt.value
        if launched_by(call) != old:
            continue
        blocks = [each for each in call.keywords if _is_block(each)]
        for place, each in enumerate(blocks):
            edits.append((*_extent(each.value, starts), f"blocks[{place}]"))
        _, end = _extent([*call.args, *(each.value for each in call.keywords)][-1], starts)
        edits.append(appended(text, end, [f"{name}={value}" for name, value in values.items()]))
        if blocks:
            sizes = ", ".join(ast.unparse(each.value) for each in blocks)
            tuple_text = f"blocks = ({sizes}{',' if len(blocks) == 1 else ''})"
            start = starts[stmt.lineno - 1]
            edits.append((start, start, f"{' ' * stmt.col_offset}{tuple_text}\n"))
    return _unindented(renamed(edited(text, edits), {old: new}))


def _is_block(word: ast.keyword) -> bool:
    is_number = isinstance(word.value, ast.Constant) and type(word.value.value) is int
    return is_number and word.arg not in _TUNABLE


def _extent(node: ast.expr, starts: Sequence[int]) -> tuple[int, int]:
    """Return first and last offset of an expression."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end


_INDENT = 4
_TUNABLE = ("num_warps", "num_stages", "GROUP_M")
"""Settings that masks do not depend on."""


def _in_function(body: str) -> str:
    """Return statements of a function as a module, since ``return`` stands nowhere else."""
    return "def host():\n" + _indented(body)


def _indented(body: str) -> str:
    return "\n".join(f"{' ' * _INDENT}{line}" if line else "" for line in body.splitlines())


def _unindented(text: str) -> str:
    return "\n".join(line[_INDENT:] for line in text.splitlines()[1:])


def _host(name: str, label: str, file: EmittedFile) -> str:
    head = f"def {name}({', '.join(each.name for each in file.given)}):"
    return (
        f'{head}\n    """Launch the kernels that were made for {label}."""\n{_indented(file.body)}'
    )


def _asked(path: FusedPath, made_with: str) -> list[str]:
    """Return what must hold beside the tensors."""
    tests = [f"{made_with} == {list(path.arguments)!r}"] if made_with else []
    if path.training is not None:
        tests.append("self.training" if path.training else "not self.training")
    return tests


def _chosen(
    places: Sequence[str], given: Sequence[Given], tests: Sequence[str], call: str
) -> Iterator[str]:
    """Yield the statements that take one path."""
    yield f"given = ({', '.join(places)}{',' if len(places) == 1 else ''})"
    yield "wanted = ("
    yield from (f"    ({each.shape}, {each.dtype})," for each in given)
    yield ")"
    yield f"if {' and '.join(tests)}:"
    yield f"    return {call}(*given)"


def _word(label: str) -> str:
    """Return a label as a part of a name."""
    return "_".join("".join(c if c.isalnum() else " " for c in label).split()) or "sizes"
