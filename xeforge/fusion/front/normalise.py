"""From what the exporter says to a `Graph`: one value per name, no writes, no idle operators.

Before:  c = clone(x); d = dropout(c, 0.2, False); r = relu_(d); i, j = max(r, 1); return i
After:   r = relu(x); i = max(r, 1)[0]; return i
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import Any

from xeforge.errors import BadRequest
from xeforge.fusion.front.covered import ASSERTIONS
from xeforge.fusion.front.covered import DROPOUTS
from xeforge.fusion.front.covered import FRESH_COPIES
from xeforge.fusion.front.covered import MAY_SHARE
from xeforge.fusion.front.covered import RENAMED
from xeforge.fusion.front.covered import SAME_VALUE
from xeforge.fusion.front.covered import TRANSPOSITIONS
from xeforge.fusion.front.exported import Call
from xeforge.fusion.front.exported import Exported
from xeforge.fusion.front.graph import Arg
from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Mode
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.front.graph import check_graph
from xeforge.fusion.front.judge import judge_graph
from xeforge.fusion.front.judge import judge_tensors
from xeforge.fusion.front.memory import Foreign
from xeforge.fusion.front.memory import Places
from xeforge.fusion.front.memory import Stale
from xeforge.fusion.front.permutation import permutation
from xeforge.fusion.front.refusal import Reason
from xeforge.fusion.front.refusal import Refusal
from xeforge.fusion.front.refusal import Refused

_TAKE_APART = "getitem"
_BROADCAST = "broadcast_tensors"
_IDLE_KEYWORDS = frozenset({"device", "layout", "memory_format", "non_blocking", "pin_memory"})
_RESHAPES = frozenset(
    {"expand", "expand_as", "flatten", "reshape", "squeeze", "unflatten", "view", "view_as"}
)
_TRAINING, _RUNNING_MEAN, _RUNNING_VARIANCE = 5, 3, 4


def normalise(exported: Exported, mode: Mode) -> Graph | Refused:
    """Return the graph, or all reasons why there is none.

    Raises:
        BadRequest: The export contradicts itself: it is not what an honest child sends.
    """
    rewriting = _Rewriting(exported)
    rewriting.run()
    outputs = rewriting.outputs()
    refusals = [*judge_tensors(exported), *rewriting.refusals]
    nodes = _live(rewriting.nodes, outputs)
    updated = tuple(dict.fromkeys(rewriting.updated)) if mode == "train" else ()
    read = {name for node in nodes for name in node.reads()} | {*outputs, *updated}
    graph = Graph(
        inputs=exported.inputs,
        parameters=tuple(each for each in exported.tensors if each.name in read),
        nodes=nodes,
        outputs=outputs,
        mode=mode,
        updated=updated,
        unread=tuple(each for each in exported.tensors if each.name not in read and each.path),
    )
    refusals += judge_graph(graph, rewriting.random)
    if refusals:
        ordered = sorted(refusals, key=lambda each: each.line or 0)
        return Refused(tuple(dict.fromkeys(ordered)))
    check_graph(graph)
    return graph


def _live(nodes: Mapping[str, Node], outputs: tuple[str, ...]) -> tuple[Node, ...]:
    """Keep what some output needs."""
    wanted = set(outputs)
    kept: list[Node] = []
    for node in reversed(tuple(nodes.values())):
        if node.name in wanted:
            kept.append(node)
            wanted.update(node.reads())
    return tuple(reversed(kept))


@dataclass(slots=True)
class _Rewriting:
    """One walk over the calls."""

    exported: Exported
    nodes: dict[str, Node] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    random: set[str] = field(default_factory=set)
    updated: list[str] = field(default_factory=list)
    _places: Places = field(default_factory=Places)
    _several: dict[str, tuple[Call, tuple[Arg, ...], dict[str, Arg]]] = field(default_factory=dict)
    _given: dict[str, Tensor] = field(default_factory=dict)

    def run(self) -> None:
        """Visit each call once."""
        for tensor in (*self.exported.inputs, *self.exported.tensors):
            self._given[tensor.name] = tensor
            self._places.give(tensor)
        for call in self.exported.calls:
            try:
                self._visit(call)
            except Stale as stale:
                self._refuse_write(call, f"reads {stale}, whose memory was changed since")
                self._stand_in(call)
            except Foreign as foreign:
                self._refuse_write(call, f"changes {foreign}, which is given to the module")
                self._stand_in(call)
            except KeyError as error:
                raise BadRequest(f"{error} is read before it is made", field=call.name) from None

    def outputs(self) -> tuple[str, ...]:
        """Return the values that ``forward`` returns."""
        names = []
        for name in self.exported.outputs:
            try:
                names.append("" if name is None else self._places.value(name))
            except Stale:
                text = f"returns {name}, whose memory was changed since"
                self.refusals.append(Refusal(Reason.UPDATED_IN_PLACE, text))
            except KeyError:
                raise BadRequest(f"{name!r} is made by no call", field="outputs") from None
        if "" in names or not names:
            text = "forward returns something that is neither a tensor nor a flat tuple of some"
            self.refusals.append(Refusal(Reason.ARGUMENT, text))
        return tuple(name for name in names if name)

    def _refuse_write(self, call: Call, text: str) -> None:
        refusal = Refusal(Reason.UPDATED_IN_PLACE, f"{call.op} {text}", call.op, call.line)
        self.refusals.append(refusal)

    def _stand_in(self, call: Call) -> None:
        """Enter the result of a refused call, so that later ones are read all the same."""
        self._places.make(call.name, call.name)
        result = call.results[0]
        self.nodes[call.name] = Node(
            call.name, _plain_name(call), (), {}, result.shape, result.dtype, call.line
        )

    def _visit(self, call: Call) -> None:
        op = _plain_name(call)
        if op in ASSERTIONS:
            return
        if op == _TAKE_APART:
            self._take_apart(call)
            return
        if call.writes and op not in SAME_VALUE:
            self._write(call, op)
            return
        args = tuple(map(self._places.resolve, call.args))
        kwargs = _useful(self._places.resolve_all(call.kwargs))
        self._note_statistics(op, args, call)
        if call.is_several:
            self._several[call.name] = (call, args, kwargs)
        elif not self._is_idle(op, call):
            self._add(call, op, args, kwargs)
            self._place(call, op, call.name)

    def _take_apart(self, call: Call) -> None:
        match call.args:
            case (Ref(name), int(index)) if name in self._several:
                whole, args, kwargs = self._several[name]
            case _:
                raise BadRequest("getitem of what has one result", field=call.name)
        if whole.op == _BROADCAST:
            self._visit(_expansion(call, whole, index))
            return
        if whole.is_random:
            self.random.add(call.name)
        self._add(call, _plain_name(whole), args, kwargs, index)
        if whole.views:
            self._places.view(call.name, call.name, whole.views[0])
        else:
            self._places.make(call.name, call.name)

    def _write(self, call: Call, op: str) -> None:
        """Make a new value of one that was to be overwritten."""
        target = call.writes[0]
        if self._is_count_of_batches(target, op):
            self.updated.append(target)
            self._places.make(call.name, target)
            return
        is_plain = len(call.writes) == 1 and call.args[:1] == (Ref(target),)
        if not (is_plain and call.op.endswith("_")):
            owner = self._places.owner(target)
            raise Foreign(target if owner is None else owner.name)
        args = tuple(map(self._places.resolve, call.args))
        kwargs = _useful(self._places.resolve_all(call.kwargs))
        first = args[0]
        if self._is_idle_dropout(op, call) and isinstance(first, Ref):
            self._places.write(call.name, target, first.name)
            return
        self._places.write(call.name, target, call.name)
        self._add(call, op, args, kwargs)

    def _is_count_of_batches(self, name: str, op: str) -> bool:
        tensor = self._given.get(name)
        is_buffer = tensor is not None and tensor.role == "buffer" and not tensor.shape
        is_counter = tensor is not None and tensor.path.endswith("num_batches_tracked")
        return op == "add" and is_buffer and is_counter

    def _note_statistics(self, op: str, args: tuple[Arg, ...], call: Call) -> None:
        """Remember which running statistics a norm updates; only batch norms may."""
        if op not in {"batch_norm", "instance_norm"} or len(args) <= _TRAINING:
            return
        running = args[_RUNNING_MEAN], args[_RUNNING_VARIANCE]
        names = [each.name for each in running if isinstance(each, Ref)]
        if args[_TRAINING] is True and names:
            if op == "batch_norm":
                self.updated += names
            else:
                self._refuse_write(call, f"updates {names[0]}")

    def _is_idle(self, op: str, call: Call) -> bool:
        """Enter a call that gives back what it is given; say whether it does."""
        source = call.args[0] if call.args else None
        if not isinstance(source, Ref) or len(call.results) != 1:
            return False
        value = self._places.value(source.name)
        if op in SAME_VALUE or self._is_idle_dropout(op, call):
            self._enter_idle(call, op, source.name, value)
            return True
        before, after = self._shape_and_dtype(value), call.results[0]
        is_same = before == (after.shape, after.dtype)
        order = permutation(op, call.args, len(after.shape)) if op in TRANSPOSITIONS else None
        is_still = order == tuple(range(len(after.shape)))
        if is_same and (op == "to" or op in _RESHAPES or is_still):
            self._enter_idle(call, op, source.name, value)
            return True
        return False

    @staticmethod
    def _is_idle_dropout(op: str, call: Call) -> bool:
        return op in DROPOUTS and (call.args[2:3] == (False,) or call.args[1:2] in ((0,), (0.0,)))

    def _enter_idle(self, call: Call, op: str, source: str, value: str) -> None:
        if call.op in FRESH_COPIES:
            self._places.make(call.name, value)
        elif op in SAME_VALUE - MAY_SHARE or op in DROPOUTS:
            self._places.same(call.name, source)
        else:
            self._places.view(call.name, value, source)

    def _shape_and_dtype(self, value: str) -> tuple[tuple[int, ...], str]:
        found = self.nodes.get(value) or self._given[value]
        return found.shape, found.dtype

    def _add(
        self,
        call: Call,
        op: str,
        args: tuple[Arg, ...],
        kwargs: dict[str, Arg],
        index: int | None = None,
    ) -> None:
        if call.is_random and op != "scaled_dot_product_attention":
            self.random.add(call.name)
        if len(call.results) != 1:
            text = f"the result of {op} is a number that depends on values"
            self.refusals.append(Refusal(Reason.DATA_DEPENDENT, text, op, call.line))
            return
        shape, dtype = call.results[0].shape, call.results[0].dtype
        if op == "to":
            args, kwargs = (args[0], dtype), {}
        elif op in TRANSPOSITIONS:
            op, args = "permute", (args[0], permutation(op, args, len(shape)))
        self.nodes[call.name] = Node(call.name, op, args, kwargs, shape, dtype, call.line, index)

    def _place(self, call: Call, op: str, value: str) -> None:
        shared = call.views or (_names(call.args) if op in MAY_SHARE else ())
        if shared:
            self._places.view(call.name, value, shared[0])
        else:
            self._places.make(call.name, value)


def _expansion(call: Call, whole: Call, index: int) -> Call:
    """Return one result of a common broadcast as what it is: an expansion of one argument."""
    match whole.args:
        case (tuple() as given,) if 0 <= index < len(given) and len(call.results) == 1:
            source, shape = given[index], call.results[0].shape
        case _:
            raise BadRequest("a broadcast of no tensors", field=call.name)
    views = (source.name,) if isinstance(source, Ref) else ()
    return replace(call, op="expand", args=(source, shape), views=views)


def _plain_name(call: Call) -> str:
    """Return the operator without the mark of writing, under its one name."""
    op = call.op[:-1] if call.op.endswith("_") and call.writes else call.op
    return RENAMED.get((op, call.overload)) or RENAMED.get((op, "")) or op


def _useful(kwargs: dict[str, Arg]) -> dict[str, Arg]:
    return {key: each for key, each in kwargs.items() if key not in _IDLE_KEYWORDS}


def _names(args: tuple[Arg, ...]) -> tuple[str, ...]:
    flat: list[Any] = [*args]
    flat += [item for each in args if isinstance(each, tuple) for item in each]
    return tuple(each.name for each in flat if isinstance(each, Ref))
