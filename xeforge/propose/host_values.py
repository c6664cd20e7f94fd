"""Follows sizes, formats and layouts through ``Model`` for one workload, without running it.

Whatever is not certain is unknown: both branches of an undecided ``if`` count, a name bound in a
loop is unknown, an expression evaluated twice with different results is unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from functools import lru_cache
from typing import Any

import libcst as cst

from xeforge.domain.dtype import find_dtype
from xeforge.domain.problem import Argument
from xeforge.domain.problem import Workload
from xeforge.propose.host_arithmetic import COMPARISONS
from xeforge.propose.host_arithmetic import FUNCTIONS
from xeforge.propose.host_arithmetic import OPERATORS
from xeforge.propose.host_arithmetic import is_dtype
from xeforge.propose.host_arithmetic import operated
from xeforge.propose.host_arithmetic import sizes
from xeforge.propose.host_tensors import CASTS
from xeforge.propose.host_tensors import METHODS
from xeforge.propose.host_tensors import HostTensor
from xeforge.propose.host_tensors import Value
from xeforge.propose.host_tensors import fresh
from xeforge.propose.host_tensors import row_major
from xeforge.source.kernel_tree import KernelTree
from xeforge.source.syntax_tree import Place
from xeforge.source.syntax_tree import last_name
from xeforge.source.syntax_tree import text

Env = dict[str, Value]
_MOST_DEPTH = 6
_ALLOCATIONS = frozenset({"empty", "zeros", "ones", "rand", "randn", "full", "new_empty"})
_ALLOCATIONS_METHODS = frozenset({"new_empty", "new_zeros", "new_ones", "new_full"})
_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like"})


@dataclass(slots=True, eq=False)
class HostFacts:
    """What was found out about one workload.

    Attributes:
        values: Value of each expression that was evaluated, by node.
        returned: What ``forward`` returns.
    """

    values: dict[cst.CSTNode, Value] = field(default_factory=dict)
    returned: Value = None

    def value(self, node: cst.CSTNode | None) -> Value:
        """Return the value of an expression; None when not known."""
        return None if node is None else self.values.get(node)


def follow_forward(tree: KernelTree, workload: Workload) -> HostFacts:
    """Follow ``Model.forward`` on the inputs of a workload."""
    key = (workload.inputs, workload.init_args, workload.dtype, workload.memory_format)
    return _follow(tree, key)


@lru_cache(maxsize=256)
def _follow(tree: KernelTree, key: tuple[Any, ...]) -> HostFacts:
    specs, init_args, dtype, memory_format = key
    facts = HostFacts()
    model = tree.classes.get("Model")
    forward = None if model is None else tree.method(model, "forward")
    if model is None or forward is None:
        return facts
    runner = _Runner(tree, facts)
    runner.module_constants()
    given = [_as_value(each) for each in init_args or ()]
    if init_args is None:
        given = list(runner.helper("get_init_inputs"))
    init = tree.method(model, "__init__")
    if init is not None:
        runner.call_place(init, [None, *given], {})
    for name, value in list(runner.attributes.items()):
        is_moved = isinstance(value, HostTensor) and value.is_parameter and dtype is not None
        if is_moved and isinstance(value, HostTensor):
            found = find_dtype(value.dtype or "float32")
            if found is not None and found.kind == "float":
                runner.attributes[name] = replace(value, dtype=dtype)
    inputs: list[Value] = []
    for each in specs:
        is_plain = "transpose" not in each.transforms and memory_format is None
        strides = row_major(each.shape) if is_plain else None
        inputs.append(HostTensor(each.shape, each.dtype, strides))
    if not specs:
        inputs = list(runner.helper("get_inputs"))
    facts.values.clear()
    facts.returned = runner.call_place(forward, [None, *inputs], {})
    return facts


def _as_value(argument: Argument) -> Value:
    return tuple(_as_value(each) for each in argument) if isinstance(argument, tuple) else argument


@dataclass(slots=True)
class _Runner:
    tree: KernelTree
    facts: HostFacts
    depth: int = 0
    attributes: Env = field(default_factory=dict)
    constants: Env = field(default_factory=dict)
    returned: list[Value] = field(default_factory=list)

    def module_constants(self) -> None:
        for statement in self.tree.module.body:
            if isinstance(statement, cst.SimpleStatementLine):
                self.statement(statement, self.constants)

    def helper(self, name: str) -> tuple[Value, ...]:
        place = self.tree.function(name)
        found = None if place is None else self.call_place(place, [], {})
        return found if isinstance(found, tuple) else ()

    def call_place(self, place: Place, given: list[Value], named: Env) -> Value:
        if self.depth >= _MOST_DEPTH:
            return None
        params = (*place.node.params.posonly_params, *place.node.params.params)
        env: Env = {}
        for each in (*params, *place.node.params.kwonly_params):
            default = None if each.default is None else self.value(each.default, {})
            env[each.name.value] = named.get(each.name.value, default)
        for parameter, value in zip(params, given, strict=False):
            env[parameter.name.value] = value
        inner = _called(self)
        inner.block(place.node.body, env)
        results = set(inner.returned)
        return inner.returned[0] if len(results) == 1 else None

    def block(self, body: cst.BaseSuite, env: Env) -> None:
        for each in body.body:
            self.statement(each, env)

    def statement(self, node: cst.CSTNode, env: Env) -> None:
        if isinstance(node, cst.SimpleStatementLine):
            for part in node.body:
                self.simple(part, env)
        elif isinstance(node, cst.If):
            self.branch(node, env)
        elif isinstance(node, cst.For | cst.While):
            self.loop(node, env)
        elif isinstance(node, cst.With):
            self.block(node.body, env)

    def branch(self, node: cst.If, env: Env) -> None:
        test = self.value(node.test, env)
        other = node.orelse
        if test is not False:
            first = dict(env)
            self.block(node.body, first)
        else:
            first = env
        second = dict(env)
        if test is not True and isinstance(other, cst.If):
            self.branch(other, second)
        elif test is not True and other is not None:
            self.block(other.body, second)
        if test is True or test is False:
            env.update(first if test is True else second)
            return
        for name in first.keys() | second.keys():
            env[name] = first.get(name) if first.get(name) == second.get(name) else None

    def loop(self, node: cst.For | cst.While, env: Env) -> None:
        inside = dict(env)
        if isinstance(node, cst.For):
            self.bind(node.target, None, inside)
        before = dict(inside)
        self.block(node.body, inside)
        for name, value in inside.items():
            if before.get(name) != value:
                env[name] = None

    def simple(self, node: cst.CSTNode, env: Env) -> None:
        if isinstance(node, cst.Assign):
            value = self.value(node.value, env)
            for target in node.targets:
                self.bind(target.target, value, env)
        elif isinstance(node, cst.AnnAssign) and node.value is not None:
            self.bind(node.target, self.value(node.value, env), env)
        elif isinstance(node, cst.AugAssign):
            self.value(node.value, env)
            self.bind(node.target, None, env)
        elif isinstance(node, cst.Expr):
            self.value(node.value, env)
        elif isinstance(node, cst.Return):
            self.returned.append(None if node.value is None else self.value(node.value, env))

    def bind(self, target: cst.BaseExpression, value: Value, env: Env) -> None:
        if isinstance(target, cst.Name):
            env[target.value] = value
        elif isinstance(target, cst.Attribute) and text(target.value) == "self":
            self.attributes[target.attr.value] = value
        elif isinstance(target, cst.Tuple | cst.List):
            parts = value if isinstance(value, tuple) else ()
            fits = len(parts) == len(target.elements)
            for number, each in enumerate(target.elements):
                self.bind(each.value, parts[number] if fits else None, env)

    def value(self, node: cst.BaseExpression, env: Env) -> Value:
        found = self.evaluate(node, env)
        if node in self.facts.values and self.facts.values[node] != found:
            found = None
        self.facts.values[node] = found
        return found

    def evaluate(self, node: cst.BaseExpression, env: Env) -> Value:
        for kinds, evaluate in _EXPRESSIONS:
            if isinstance(node, kinds):
                return evaluate(self, node, env)
        return None

    def name(self, node: cst.Name, env: Env) -> Value:
        words: Env = {"True": True, "False": False}
        if node.value in words:
            return words[node.value]
        return env[node.value] if node.value in env else self.constants.get(node.value)

    def number(self, node: cst.Integer | cst.Float, _: Env) -> Value:
        return int(node.value, 0) if isinstance(node, cst.Integer) else float(node.value)

    def word(self, node: cst.SimpleString, _: Env) -> Value:
        return str(node.evaluated_value)

    def parts(self, node: cst.Tuple | cst.List, env: Env) -> Value:
        found: list[Value] = []
        for each in node.elements:
            value = self.value(each.value, env)
            if isinstance(each, cst.StarredElement):
                if not isinstance(value, tuple):
                    return None
                found.extend(value)
            else:
                found.append(value)
        return tuple(found)

    def repeated(self, node: cst.ListComp | cst.GeneratorExp, env: Env) -> Value:
        loop = node.for_in
        times = self.value(loop.iter, env)
        if loop.inner_for_in is not None or loop.ifs or not isinstance(times, tuple):
            return None
        turns = []
        for each in times:
            inside = dict(env)
            self.bind(loop.target, each, inside)
            turns.append(self.evaluate(node.elt, inside))
        return tuple(turns)

    def binary(self, node: cst.BinaryOperation, env: Env) -> Value:
        left, right = self.value(node.left, env), self.value(node.right, env)
        if isinstance(left, HostTensor) or isinstance(right, HostTensor):
            one = left if isinstance(left, HostTensor) else right
            is_scaled = not (isinstance(left, HostTensor) and isinstance(right, HostTensor))
            return one if is_scaled and isinstance(one, HostTensor) else HostTensor()
        for kind, operate in OPERATORS:
            if isinstance(node.operator, kind):
                return operated(operate, left, right)
        return None

    def unary(self, node: cst.UnaryOperation, env: Env) -> Value:
        value = self.value(node.expression, env)
        if isinstance(node.operator, cst.Not):
            return (not value) if isinstance(value, bool | int) else None
        is_minus = isinstance(node.operator, cst.Minus) and isinstance(value, int | float)
        return -value if is_minus and isinstance(value, int | float) else None

    def compared(self, node: cst.Comparison, env: Env) -> Value:
        left = self.value(node.left, env)
        rights = [self.value(each.comparator, env) for each in node.comparisons]
        if len(rights) != 1 or left is None or rights[0] is None:
            return None
        for kind, compare in COMPARISONS:
            if isinstance(node.comparisons[0].operator, kind):
                found = operated(compare, left, rights[0])
                return bool(found) if found is not None else None
        return None

    def chosen(self, node: cst.IfExp, env: Env) -> Value:
        test = self.value(node.test, env)
        first, second = self.value(node.body, env), self.value(node.orelse, env)
        if isinstance(test, bool):
            return first if test else second
        return first if first == second else None

    def item(self, node: cst.Subscript, env: Env) -> Value:
        base = self.value(node.value, env)
        parts = node.slice
        if not isinstance(base, tuple) or len(parts) != 1:
            return None
        where = parts[0].slice
        if isinstance(where, cst.Index):
            index = self.value(where.value, env)
            fits = isinstance(index, int) and -len(base) <= index < len(base)
            return base[index] if fits and isinstance(index, int) else None
        if isinstance(where, cst.Slice) and where.step is None:
            lower = self.value(where.lower, env) if where.lower is not None else 0
            upper = self.value(where.upper, env) if where.upper is not None else len(base)
            if isinstance(lower, int) and isinstance(upper, int):
                return base[lower:upper]
        return None

    def attribute(self, node: cst.Attribute, env: Env) -> Value:
        if text(node.value) == "self":
            return self.attributes.get(node.attr.value)
        if text(node.value) == "torch":
            found = find_dtype(node.attr.value)
            return None if found is None else found.name
        base = self.value(node.value, env)
        if isinstance(base, HostTensor):
            name = node.attr.value
            if name in {"T", "mT"}:
                return METHODS["transpose"](base, (-2, -1))
            return {"shape": base.shape, "dtype": base.dtype, "data": base}.get(name)
        return None

    def call(self, node: cst.Call, env: Env) -> Value:
        given = [self.value(each.value, env) for each in node.args if each.keyword is None]
        named = {
            each.keyword.value: self.value(each.value, env) for each in node.args if each.keyword
        }
        name = text(node.func)
        if isinstance(node.func, cst.Attribute):
            base = self.value(node.func.value, env)
            if isinstance(base, HostTensor):
                return self.method(base, node.func.attr.value, given, named)
            if text(node.func.value) in {"self", "Model"}:
                return self.own_method(node.func.attr.value, given, named)
        if name in FUNCTIONS and all(each is not None for each in given):
            return operated(FUNCTIONS[name], *given)
        if name.startswith(("torch.", "nn.", "torch.nn.")):
            return self.torch(last_name(node.func), given, named)
        place = self.tree.function(name)
        return None if place is None else self.call_place(place, given, named)

    def own_method(self, name: str, given: list[Value], named: Env) -> Value:
        model = self.tree.classes.get("Model")
        place = None if model is None else self.tree.method(model, name)
        if place is None:
            return None
        is_static = any(
            last_name(each.decorator) == "staticmethod" for each in place.node.decorators
        )
        return self.call_place(place, given if is_static else [None, *given], named)

    def method(self, base: HostTensor, name: str, given: list[Value], named: Env) -> Value:
        if name == "to":
            wanted = named.get("dtype", next((e for e in given if is_dtype(e)), None))
            return replace(base, dtype=wanted) if isinstance(wanted, str) else base
        if name in CASTS:
            return replace(base, dtype=CASTS[name])
        if name in _ALLOCATIONS_METHODS:
            dtype = named.get("dtype", base.dtype)
            return fresh(sizes(given), dtype if isinstance(dtype, str) else None)
        if name in METHODS:
            return METHODS[name](base, tuple(given))
        return HostTensor() if name.startswith(("expand", "unsqueeze", "squeeze", "mul")) else None

    def torch(self, name: str, given: list[Value], named: Env) -> Value:
        if name in {"Parameter", "Buffer"} and given and isinstance(given[0], HostTensor):
            return replace(given[0], is_parameter=True)
        if name in _LIKE and given and isinstance(given[0], HostTensor):
            wanted = named.get("dtype", given[0].dtype)
            strides = None if given[0].shape is None else given[0].strides
            return HostTensor(given[0].shape, wanted if isinstance(wanted, str) else None, strides)
        if name in _ALLOCATIONS:
            shape = named.get("size", sizes(given[:1] if name == "full" else given))
            wanted = named.get("dtype", "float32")
            return fresh(shape, wanted if isinstance(wanted, str) else None)
        return None


def _called(runner: _Runner) -> _Runner:
    return _Runner(
        runner.tree, runner.facts, runner.depth + 1, runner.attributes, runner.constants, []
    )


_Evaluate = Callable[[_Runner, Any, Env], Value]
_EXPRESSIONS: tuple[tuple[tuple[type[cst.CSTNode], ...], _Evaluate], ...] = (
    ((cst.Name,), _Runner.name),
    ((cst.Integer, cst.Float), _Runner.number),
    ((cst.SimpleString,), _Runner.word),
    ((cst.Tuple, cst.List), _Runner.parts),
    ((cst.ListComp, cst.GeneratorExp), _Runner.repeated),
    ((cst.BinaryOperation,), _Runner.binary),
    ((cst.UnaryOperation,), _Runner.unary),
    ((cst.Comparison,), _Runner.compared),
    ((cst.IfExp,), _Runner.chosen),
    ((cst.Subscript,), _Runner.item),
    ((cst.Attribute,), _Runner.attribute),
    ((cst.Call,), _Runner.call),
)
