"""Finds kernels, launches and functions in the concrete syntax tree of a kernel file."""

from collections.abc import Iterator
from collections.abc import Mapping
from functools import cached_property
from functools import lru_cache

import libcst as cst
from libcst.metadata import MetadataWrapper
from libcst.metadata import PositionProvider

from xeforge.errors import BadKernel
from xeforge.source.syntax_tree import Jit
from xeforge.source.syntax_tree import Launch
from xeforge.source.syntax_tree import Place
from xeforge.source.syntax_tree import children
from xeforge.source.syntax_tree import code
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text
from xeforge.source.syntax_tree import walk


class KernelTree:
    """The tree of one file; immutable, shared by everyone who reads the same source.

    Attributes:
        module: The whole file.
        jits: Jit functions by name, in file order.
        places: All plain functions and methods.
        launches: All launches of jit functions of this file, in file order.
        classes: Module-level classes by name.
    """

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self.jits: Mapping[str, Jit] = {
            each.name.value: _read_jit(each)
            for each in module.body
            if isinstance(each, cst.FunctionDef) and _is_jit(each)
        }
        self.classes: Mapping[str, cst.ClassDef] = {
            each.name.value: each for each in module.body if isinstance(each, cst.ClassDef)
        }
        plain = (each for each in _places(module) if each.node.name.value not in self.jits)
        self.places: tuple[Place, ...] = tuple(plain)
        self.launches: tuple[Launch, ...] = tuple(self._launches())

    @cached_property
    def _positions(self) -> Mapping[cst.CSTNode, object]:
        return MetadataWrapper(self.module, unsafe_skip_copy=True).resolve(PositionProvider)

    def line(self, node: cst.CSTNode) -> int:
        """Return the one-based line where a node of this tree starts; 0 when it is not in it."""
        start = getattr(self._positions.get(node), "start", None)
        return 0 if start is None else int(start.line)

    def function(self, name: str) -> Place | None:
        """Return a module-level function by name."""
        found = (each for each in self.places if each.outer is None and each.owner is None)
        return next((each for each in found if each.node.name.value == name), None)

    def place(self, node: cst.FunctionDef | None) -> Place | None:
        """Return what is known about a function definition."""
        return next((each for each in self.places if each.node is node), None)

    def method(self, owner: cst.ClassDef, name: str) -> Place | None:
        """Return a method of a class by name."""
        found = (each for each in self.places if each.owner is owner and each.outer is None)
        return next((each for each in found if each.node.name.value == name), None)

    def launches_of(self, kernel: str) -> tuple[Launch, ...]:
        """Return all launches of one jit function."""
        return tuple(each for each in self.launches if each.kernel == kernel)

    def _launches(self) -> Iterator[Launch]:
        yield from self._launches_in(self.module, None, None)

    def _launches_in(
        self, node: cst.CSTNode, function: cst.FunctionDef | None, owner: cst.ClassDef | None
    ) -> Iterator[Launch]:
        if isinstance(node, cst.FunctionDef):
            if node.name.value in self.jits and self.jits[node.name.value].node is node:
                return
            function = node
        if isinstance(node, cst.ClassDef):
            owner = node
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Subscript):
            name = last_name(node.func.value)
            if name in self.jits and isinstance(node.func.value, cst.Name):
                yield _read_launch(self.jits[name], node, node.func, function, owner)
        for child in children(node):
            yield from self._launches_in(child, function, owner)


@lru_cache(maxsize=128)
def parse_tree(source: str) -> KernelTree:
    """Parse a kernel file; the same source gives the same tree object.

    Raises:
        BadKernel: The file is not Python.
    """
    try:
        module = cst.parse_module(source)
    except cst.ParserSyntaxError as error:
        raise BadKernel(
            f"not valid Python: {error.message}",
            line=error.raw_line,
            remedy="mend the syntax error",
        ) from error
    return KernelTree(module)


def assignments(function: cst.FunctionDef, name: str) -> tuple[cst.BaseExpression | None, ...]:
    """Return every value bound to a name inside a function, nested functions left out.

    None stands for a binding whose value cannot be named: ``for``, ``with``, ``+=``, unpacking.
    """
    return _bound_names(function).get(name, ())


@lru_cache(maxsize=512)
def _bound_names(
    function: cst.FunctionDef,
) -> Mapping[str, tuple[cst.BaseExpression | None, ...]]:
    found: dict[str, list[cst.BaseExpression | None]] = {}
    for node in _own_nodes(function.body):
        for name, value in bindings(node):
            found.setdefault(name, []).append(value)
    return {name: tuple(values) for name, values in found.items()}


def bindings(node: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """Yield the names a node binds with their values; None when a value cannot be named."""
    if isinstance(node, cst.Assign):
        for target in node.targets:
            yield from _unpack(target.target, node.value)
    elif isinstance(node, cst.AnnAssign | cst.NamedExpr):
        yield from _unpack(node.target, node.value)
    elif isinstance(node, cst.AugAssign | cst.For | cst.CompFor):
        yield from _unpack(node.target, None)
    elif isinstance(node, cst.AsName) and isinstance(node.name, cst.BaseExpression):
        yield from _unpack(node.name, None)


def _unpack(
    target: cst.CSTNode, value: cst.BaseExpression | None
) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    if isinstance(target, cst.Name | cst.Attribute):
        yield text(target), value
    elif isinstance(target, cst.Tuple | cst.List):
        values: list[cst.BaseExpression | None] = [None] * len(target.elements)
        if isinstance(value, cst.Tuple | cst.List) and len(value.elements) == len(values):
            values = [each.value for each in value.elements]
        for element, part in zip(target.elements, values, strict=True):
            yield from _unpack(element.value, part)


def _own_nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in children(node):
        if not isinstance(child, cst.FunctionDef | cst.ClassDef | cst.Lambda):
            yield from _own_nodes(child)


def _is_jit(node: cst.FunctionDef) -> bool:
    return any(last_name(_called(each.decorator)) == "jit" for each in node.decorators)


def _called(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.func if isinstance(node, cst.Call) else node


def _read_jit(node: cst.FunctionDef) -> Jit:
    parameters = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
    calls = [each.decorator for each in node.decorators if isinstance(each.decorator, cst.Call)]
    return Jit(
        name=node.name.value,
        node=node,
        parameters=tuple(each.name.value for each in parameters),
        constexprs=frozenset(
            each.name.value
            for each in parameters
            if each.annotation is not None
            and text(each.annotation.annotation).strip("'\"").endswith("constexpr")
        ),
        defaults={each.name.value: each.default for each in parameters if each.default is not None},
        autotune=next((each for each in calls if last_name(each.func) == "autotune"), None),
        heuristics=tuple(each for each in calls if last_name(each.func) == "heuristics"),
    )


def _places(
    node: cst.CSTNode,
    outer: cst.FunctionDef | None = None,
    owner: cst.ClassDef | None = None,
) -> Iterator[Place]:
    for child in children(node):
        if isinstance(child, cst.FunctionDef):
            yield Place(child, outer, owner)
            yield from _places(child, child, owner)
        elif isinstance(child, cst.ClassDef):
            yield from _places(child, outer, child)
        else:
            yield from _places(child, outer, owner)


def _read_launch(
    jit: Jit,
    call: cst.Call,
    subscript: cst.Subscript,
    function: cst.FunctionDef | None,
    owner: cst.ClassDef | None,
) -> Launch:
    arguments: dict[str, cst.BaseExpression] = {}
    is_complete = True
    plain: list[cst.Arg] = []
    for each in call.args:
        if each.keyword is not None:
            arguments[each.keyword.value] = each.value
        elif each.star == "**":
            extra = _dict_entries(each.value, function)
            is_complete = is_complete and extra is not None
            arguments.update(extra or {})
        else:
            plain.append(each)
    slots = [name for name in jit.parameters if name not in arguments]
    for name, value in zip(slots, _spread(plain, slots, jit), strict=False):
        if value is None:
            is_complete = False
            break
        arguments[name] = value
    return Launch(jit.name, call, _index(subscript), function, owner, arguments, is_complete)


def _spread(
    plain: list[cst.Arg], slots: list[str], jit: Jit
) -> Iterator[cst.BaseExpression | None]:
    """Yield positional arguments with ``*x.stride()`` written out; None: unknown from here on."""
    stars = sum(1 for each in plain if each.star)
    missing = len([each for each in slots if each not in jit.defaults]) - (len(plain) - stars)
    for each in plain:
        if not each.star:
            yield each.value
        elif missing % stars == 0 and text(each.value).endswith((".stride()", ".shape")):
            base = code(each.value).removesuffix("()")
            form = "{}({})" if base.endswith("stride") else "{}[{}]"
            for position in range(missing // stars):
                yield cst.parse_expression(form.format(base, position))
        else:
            yield None


def _index(subscript: cst.Subscript) -> cst.BaseExpression:
    parts = [each.slice for each in subscript.slice]
    values = [each.value for each in parts if isinstance(each, cst.Index)]
    if len(values) == 1:
        return values[0]
    return cst.Tuple([cst.Element(value) for value in values])


def _dict_entries(
    node: cst.BaseExpression, function: cst.FunctionDef | None
) -> dict[str, cst.BaseExpression] | None:
    if isinstance(node, cst.Name) and function is not None:
        values = assignments(function, node.value)
        if len(values) != 1 or values[0] is None:
            return None
        node = values[0]
    if isinstance(node, cst.Dict):
        pairs = [each for each in node.elements if isinstance(each, cst.DictElement)]
        keys = [each.key for each in pairs]
        if len(pairs) == len(node.elements) and all(isinstance(k, cst.SimpleString) for k in keys):
            return {text(each.key).strip("'\""): each.value for each in pairs}
    is_call = isinstance(node, cst.Call) and text(node.func) == "dict"
    args = node.args if isinstance(node, cst.Call) and is_call else ()
    if is_call and all(each.keyword is not None for each in args):
        return {each.keyword.value: each.value for each in args if each.keyword}
    return None


def uses(node: cst.CSTNode, name: str) -> int:
    """Count how often a plain name is mentioned below a node."""
    return sum(1 for each in walk(node) if isinstance(each, cst.Name) and each.value == name)
