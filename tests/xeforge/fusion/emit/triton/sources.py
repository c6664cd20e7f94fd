"""Emitted files for tests: small graphs of every family."""

import warnings

from tests.xeforge.fusion.graphs import Recorder
from tests.xeforge.fusion.graphs import program_of
from xeforge.fusion.affine import axis
from xeforge.fusion.emit.triton.file import emit
from xeforge.fusion.emit.triton.target import find_target
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.functions import FUNCTIONS
from xeforge.fusion.functions import call
from xeforge.fusion.functions import cast
from xeforge.fusion.functions import dtype_of
from xeforge.fusion.fuse.machine import H200
from xeforge.fusion.fuse.search import search
from xeforge.fusion.ir import Access
from xeforge.fusion.ir import Array
from xeforge.fusion.ir import Axis
from xeforge.fusion.ir import Const
from xeforge.fusion.ir import Program
from xeforge.fusion.ir import Read
from xeforge.fusion.ir import Stmt
from xeforge.fusion.plan import Group
from xeforge.fusion.plan import Plan

TARGET = find_target("cuda:90")
NUMBERS = {"softplus": (1.5, 20.0), "leaky_relu": (0.01,), "elu": (1.2, 1.1, 0.9)}


def tensors_of(recorder):
    """Return the graph's tensors with a path for each parameter."""
    paths = {each.name: f"part.{each.name}" for each in recorder.parameters}
    given = (*recorder.inputs, *recorder.parameters)
    return [
        Tensor(each.name, each.shape, each.dtype, each.role, each.value, paths.get(each.name, ""))
        for each in given
    ]


def plan_of(recorder, *outputs, name="fused"):
    """Return a plan of the search."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = program_of(recorder, *outputs)
    return next(each.plan for each in search(program, H200) if each.name == name)


def emitted(recorder, *outputs, target=TARGET, tiles=None, tail=""):
    """Return the file of the fused plan."""
    return emit(plan_of(recorder, *outputs), tensors_of(recorder), target, tiles, tail=tail)


def shapes_of(recorder):
    """Return sizes and dtype of each input."""
    return [[list(each.shape), each.dtype] for each in recorder.inputs]


def product(dtype="float16", sizes=(256, 128, 64), after=("gelu",)):
    """Return a linear layer with a bias, and what follows it."""
    rows, columns, depth = sizes
    recorder = Recorder(dtype)
    value = recorder.input(rows, depth)
    weight, bias = recorder.parameter(columns, depth), recorder.parameter(columns)
    value = recorder.op("linear", value, weight, bias)
    for name in after:
        if name == "softmax":
            value = recorder.op("softmax", value, -1)
        elif name == "group_norm":
            value = recorder.op("group_norm", value, 4, None, None, 1e-5, False)
        else:
            value = recorder.op(name, value)
    return recorder, value


def rows(dtype="float16", sizes=(64, 512)):
    """Return a softmax."""
    recorder = Recorder(dtype)
    return recorder, recorder.op("softmax", recorder.input(*sizes), -1)


def columns(dtype="float16", sizes=(512, 4096), op="softmax"):
    """Return a fold down the columns of a matrix."""
    recorder = Recorder(dtype)
    return recorder, recorder.op(op, recorder.input(*sizes), 0)


def riders(dtype="float16"):
    """Return a fold of a matrix, and one of a vector in its launch."""
    recorder = Recorder(dtype)
    matrix = recorder.op("sum", recorder.input(64, 8192), [0])
    return recorder, matrix, recorder.op("amax", recorder.parameter(500), [0])


def points(dtype="float16", sizes=(64, 1024)):
    """Return a chain of element-wise functions."""
    recorder = Recorder(dtype)
    value = recorder.op("mish", recorder.op("gelu", recorder.input(*sizes)))
    return recorder, recorder.op("mul", value, 0.5)


def nest(dtype="float16"):
    """Return a pool: windows that overlap are nobody's rows."""
    recorder = Recorder(dtype)
    return recorder, recorder.op("max_pool2d", recorder.input(2, 3, 9, 9), [3, 3], [2, 2], [1, 1])


def expression(name, dtype):
    """Return the function of the first input, and of the second one where it takes two."""
    function = FUNCTIONS[name]
    first, second = (Read(Access(each, (axis("i"),)), dtype) for each in ("a", "b"))
    more = tuple(Const(each, dtype) for each in NUMBERS.get(name, ()))
    if function.rule == "logic":
        zero = Const(0.0, dtype)
        both = (call("gt", first, zero), call("lt", second, zero))
        found = call(name, *both[: function.arity])
    elif function.rule == "choose":
        found = call(name, call("lt", first, second), first, second)
    else:
        found = call(name, *(first, *(more or (second,)))[: function.arity])
    return cast(found, dtype) if dtype_of(found) == "bool" else found


def all_functions(dtype, size):
    """Return one statement for each function."""
    names = [each.name for each in FUNCTIONS.values() if each.rule != "cast"]
    arrays = [Array(each, (size,), dtype, "input") for each in ("a", "b")]
    statements = []
    for name in names:
        arrays.append(Array(f"{name}_0", (size,), dtype, "output"))
        output = Access(f"{name}_0", (axis("i"),))
        statements.append(Stmt(f"{name}_0", (Axis("i", size),), output, expression(name, dtype)))
    outputs = tuple(each.name for each in statements)
    return Program(tuple(arrays), tuple(statements), ("a", "b"), outputs)


def one_kernel_of_all(dtype):
    """Return a file with one kernel that applies every function."""
    program = all_functions(dtype, 64)
    group = Group(
        "every", "pointwise", {"point": (Axis("i", 64),)}, program.statements, program.outputs
    )
    return emit(Plan(program, (group,)), (), TARGET)
