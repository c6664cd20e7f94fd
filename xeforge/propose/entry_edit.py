"""Puts a choice in front of a kernel file's ``Model.forward``; the rest of the file stays."""

import ast
import math
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import libcst as cst

from xeforge.source.contents import read_contents
from xeforge.source.declarations import Constant

METHOD = "_fused_answer"
"""Name of the added method; a file that has it was made here."""
MADE_WITH = "_fused_made_with"
_IMPORTS = {"torch": "torch", "triton": "triton", "tl": "triton.language"}
_COMMENT = "# Kernels for exactly the inputs named below; all others take the path that was here."
_DOCSTRING = (
    '    """Return what fused kernels answer; None for inputs that they were not made for."""'
)


class CannotEnter(ValueError):
    """The file is entered in a way that nothing can be put in front of; the message says how."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a kernel file is entered.

    Attributes:
        source: The file.
        model: Name of the class.
        inputs: Arguments of ``forward``, in order.
        constructor: Arguments of ``__init__``, in order.
        defaults: Values of those that have a literal default.
        helper: What the file's ``get_init_inputs`` returns; None: not to be read off the source.
        missing: Import lines that the file lacks for emitted code.
        taken: All names that the file uses.
    """

    source: str
    model: str
    inputs: tuple[str, ...]
    constructor: tuple[str, ...]
    defaults: Mapping[str, object]
    helper: tuple[object, ...] | None
    missing: tuple[str, ...]
    taken: frozenset[str]

    def arguments(self, given: Sequence[object]) -> tuple[object, ...]:
        """Return all constructor arguments of a model that is made with the first few.

        Raises:
            CannotEnter: They do not fit, or cannot be written into a file.
        """
        rest = self.constructor[len(given) :]
        unknown = [name for name in rest if name not in self.defaults]
        if len(given) > len(self.constructor) or unknown:
            raise CannotEnter("constructor arguments of the spec do not fit the kernel's __init__")
        values = (*map(_as_made, given), *(self.defaults[name] for name in rest))
        if not all(map(_is_plain, values)):
            raise CannotEnter("constructor arguments are not all plain finite values")
        return values

    def own_arguments(self, reference: str) -> tuple[object, ...]:
        """Return what a model is constructed with where no spec says so.

        Args:
            reference: Text of the other file that may have ``get_init_inputs``.

        Raises:
            CannotEnter: It does not stand in the source, or the files do not agree.
        """
        contents = read_contents(reference, "reference.py", require_kernel=False)
        other = _helper_arguments(ast.parse(reference), contents.constants)
        found = {repr(each) for each in (self.helper, other) if each != ()}
        if "None" in found or len(found) > 1:
            raise CannotEnter(
                "what get_init_inputs() returns cannot be read off the source, or differs between "
                "kernel and reference"
            )
        return self.helper or other or ()

    def fresh(self) -> Callable[[str], str]:
        """Return what names new functions of the module."""
        taken = set(self.taken)

        def name(wanted: str) -> str:
            number, found = 1, wanted
            while found in taken:
                number += 1
                found = f"{wanted}_{number}"
            taken.add(found)
            return found

        return name


def read_entry(source: str) -> Entry:
    """Return how a kernel file is entered.

    Raises:
        CannotEnter: There is no class ``Model`` with an own plain ``forward``, or the file
            already has a choice in front of it.
        BadKernel: The file is not Python.
    """
    contents = read_contents(source, "kernel.py", require_kernel=False)
    tree = ast.parse(source)
    model = contents.model
    if model is None:
        raise CannotEnter("the kernel is no class Model")
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    methods = _methods(next((each for each in classes if each.name == model.name), None))
    if "forward" not in methods:
        raise CannotEnter(f"class {model.name} has no forward() of its own")
    if METHOD in methods:
        raise CannotEnter("its forward() chooses among fused kernels already")
    if model.init_parameters and "__init__" not in methods:
        raise CannotEnter(f"class {model.name} has no __init__() of its own")
    return Entry(
        source,
        model.name,
        _plain_names(methods["forward"]),
        _plain_names(methods["__init__"]) if "__init__" in methods else (),
        dict(_defaults(methods["__init__"])) if "__init__" in methods else {},
        _helper_arguments(tree, contents.constants),
        _missing_imports(tree),
        frozenset(_names(tree)),
    )


def with_choice(entry: Entry, text: str, method: str) -> str:
    """Return the file with functions added, and a method that ``forward`` asks first.

    Args:
        entry: The file.
        text: Functions of the module level.
        method: Body of the method: returns an answer or None.
    """
    module = cst.parse_module(entry.source)
    added = cst.parse_module(
        "\n".join([*entry.missing, *(() if not entry.missing else ("",)), "", text]),
        module.config_for_parsing,
    )
    body: list[cst.BaseCompoundStatement | cst.SimpleStatementLine] = []
    for each in module.body:
        if isinstance(each, cst.ClassDef) and each.name.value == entry.model:
            # What stands before the first statement of added text belongs to its header.
            head, *rest = added.body
            body += [head.with_changes(leading_lines=_gap(head)), *rest]
            body.append(_entered(each, entry, method, module.config_for_parsing))
        else:
            body.append(each)
    return module.with_changes(body=body).code


def _gap(node: cst.BaseStatement) -> Sequence[cst.EmptyLine]:
    """Return two empty lines and the comment that says what follows."""
    empty = cst.EmptyLine(indent=False)
    comment = cst.EmptyLine(comment=cst.Comment(_COMMENT))
    return (empty, empty, comment, *getattr(node, "leading_lines", ()))


def _entered(
    node: cst.ClassDef, entry: Entry, method: str, config: cst.PartialParserConfig
) -> cst.ClassDef:
    """Return the class with the method, and with questions to it."""
    if not isinstance(node.body, cst.IndentedBlock):
        raise CannotEnter(f"class {entry.model} is written on one line")
    asked = ", ".join(("self", *entry.inputs))
    lines = [
        f"def {METHOD}({asked}):",
        _DOCSTRING,
        *(f"    {each}" for each in method.splitlines()),
    ]
    chooser = cst.parse_statement("\n".join(lines) + "\n", config)
    call = f"fused = self.{METHOD}({', '.join(entry.inputs)})"
    asking = [
        cst.parse_statement(f"{call}\n", config),
        cst.parse_statement("if fused is not None:\n    return fused\n", config),
    ]
    kept = [cst.parse_statement(f"self.{MADE_WITH} = [{', '.join(entry.constructor)}]\n", config)]
    body: list[cst.BaseStatement] = []
    for each in node.body.body:
        if _is_function(each, "forward"):
            body += [chooser.with_changes(leading_lines=[cst.EmptyLine(indent=False)])]
            body.append(_inserted(each, asking, _after_docstring))
        elif _is_function(each, "__init__") and entry.constructor:
            body.append(_inserted(each, kept, _after_super))
        else:
            body.append(each)
    return node.with_changes(body=node.body.with_changes(body=body))


def _is_function(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == name


def _inserted(
    node: cst.BaseStatement,
    new: Sequence[cst.BaseStatement],
    place: Callable[[Sequence[cst.BaseStatement]], int],
) -> cst.BaseStatement:
    block = cst.ensure_type(node, cst.FunctionDef).body
    if not isinstance(block, cst.IndentedBlock):
        raise CannotEnter("a method is written on one line")
    at = place(block.body)
    body = [*block.body[:at], *new, *block.body[at:]]
    return node.with_changes(body=block.with_changes(body=body))


def _after_docstring(body: Sequence[cst.BaseStatement]) -> int:
    first = body[0]
    is_text = (
        isinstance(first, cst.SimpleStatementLine)
        and isinstance(first.body[0], cst.Expr)
        and isinstance(first.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )
    return int(is_text)


def _after_super(body: Sequence[cst.BaseStatement]) -> int:
    """Return the place behind the call of the base's constructor, else behind the docstring."""
    empty = cst.Module(())
    for place, each in enumerate(body):
        if ".__init__(" in empty.code_for_node(each) and isinstance(each, cst.SimpleStatementLine):
            return place + 1
    return _after_docstring(body)


def _methods(node: ast.ClassDef | None) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in (node.body if node else ()) if _is_plain_def(each)}


def _is_plain_def(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef)


def _plain_names(node: ast.FunctionDef) -> tuple[str, ...]:
    """Return the parameters without ``self``, all of which can be given by position."""
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise CannotEnter(f"{node.name}() takes more than plain positional arguments")
    return tuple(each.arg for each in arguments.args[1:])


def _defaults(node: ast.FunctionDef) -> Iterator[tuple[str, object]]:
    arguments = node.args
    named = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    for name, default in zip(named, arguments.defaults, strict=True):
        try:
            yield name.arg, ast.literal_eval(default)
        except ValueError:
            continue


def _helper_arguments(
    tree: ast.Module, constants: Mapping[str, Constant]
) -> tuple[object, ...] | None:
    """Read the list that ``get_init_inputs`` returns, names of literal constants included."""
    named = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    helper = next((each for each in named if each.name == "get_init_inputs"), None)
    if helper is None:
        return ()
    last = helper.body[-1]
    returned = last.value if isinstance(last, ast.Return) else None
    if len(helper.body) > 1 or helper.args.args or not isinstance(returned, ast.List | ast.Tuple):
        return None
    try:
        return tuple(
            constants[each.id] if isinstance(each, ast.Name) else ast.literal_eval(each)
            for each in returned.elts
        )
    except (KeyError, ValueError):
        return None


def _missing_imports(tree: ast.Module) -> tuple[str, ...]:
    """Return the imports that emitted code needs beyond the file's own."""
    names = {
        alias.asname or alias.name.partition(".")[0]: _imported(node, alias)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for name, module in _IMPORTS.items():
        if names.get(name, module) != module:
            raise CannotEnter(f"the kernel file calls something else {name}")
    return tuple(
        f"import {module}" if module == name else f"import {module} as {name}"
        for name, module in _IMPORTS.items()
        if name not in names
    )


def _imported(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    if isinstance(node, ast.ImportFrom):
        return f"{node.module}.{alias.name}"
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def _as_made(value: object) -> object:
    """Return a constructor argument as the bench gives it: lists, where specs have tuples."""
    return [_as_made(each) for each in value] if isinstance(value, tuple | list) else value


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return is_finite and isinstance(value, bool | int | float | str | None)
