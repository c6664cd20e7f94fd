"""Small graphs, one of each family, whose kernels are kept as files and run."""

from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from knowledge.load import find_device
from tests.xeforge.fusion.graphs import Recorder
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph

FOLDER = Path(__file__).parent / "files"
TARGETS = {"triton": "nvidia-h200", "c": "generic-cpu"}


@dataclass(frozen=True)
class Case:
    """A graph with what Torch computes for it.

    Attributes:
        graph: As a capture gives it.
        values: Tensor by name of each input and parameter.
        wanted: Outputs in float64.
    """

    graph: object
    values: dict
    wanted: list


def _linear(recorder, *, bias=True):
    parts = [recorder.input(40, 48), recorder.parameter(32, 48, low=-0.2, high=0.2)]
    return recorder.op("linear", *parts, *([recorder.parameter(32)] if bias else []))


def linear_gelu(recorder):
    return recorder.op("gelu", _linear(recorder))


def linear_softmax(recorder):
    return recorder.op("softmax", _linear(recorder), -1, False, aten="_softmax")


def linear_group_norm(recorder):
    weight, bias = recorder.parameter(32), recorder.parameter(32)
    return recorder.op("group_norm", _linear(recorder), 4, weight, bias, 1e-5)


def linear_log_sum_exp(recorder):
    return recorder.op("logsumexp", _linear(recorder), [1])


def batched_product(recorder):
    product = recorder.op("bmm", recorder.input(3, 24, 40), recorder.input(3, 40, 16))
    return recorder.op("relu", product)


def chained_products(recorder):
    first = recorder.op("relu", _linear(recorder, bias=False))
    return recorder.op("linear", first, recorder.parameter(24, 32, low=-0.2, high=0.2))


def folded_product(recorder):
    """The product itself is not needed: algebra folds the weight first."""
    return recorder.op("sum", _linear(recorder), [1], True)


def softmax(recorder):
    return recorder.op("softmax", recorder.input(12, 100), -1, False, aten="_softmax")


def layer_norm(recorder):
    weight, bias = recorder.parameter(96), recorder.parameter(96)
    return recorder.op("layer_norm", recorder.input(12, 96), [96], weight, bias, 1e-5)


def column_sum(recorder):
    return recorder.op("sum", recorder.input(300, 70), [0])


def mean_of_all(recorder):
    x = recorder.input(60, 50)
    return recorder.op("mean", recorder.op("mul", x, x))


def chain(recorder):
    x, y = recorder.input(20, 50), recorder.input(50)
    return recorder.op("add", recorder.op("tanh", recorder.op("mul", x, y)), x)


GRAPHS = {
    each.__name__: each
    for each in (
        linear_gelu,
        linear_softmax,
        linear_group_norm,
        linear_log_sum_exp,
        batched_product,
        chained_products,
        folded_product,
        softmax,
        layer_norm,
        column_sum,
        mean_of_all,
        chain,
    )
}


def case(name):
    """Build a graph and compute it in Torch."""
    recorder = Recorder("float32", seed=len(name))
    output = GRAPHS[name](recorder)
    graph = recorder.graph(output)
    parameters = tuple(replace(each, path=each.name) for each in graph.parameters)
    exact = Recorder("float64", seed=len(name))
    wanted = _in_double(name, exact, recorder)
    values = {each.name: recorder.tensors[each.name] for each in (*graph.inputs, *parameters)}
    return Case(replace(graph, parameters=parameters), values, [wanted])


def _in_double(name, exact, recorder):
    """Compute the graph in float64 on the same values."""
    drawn = Recorder.input

    def same(self, *shape, **words):
        ref = drawn(self, *shape, **words)
        self.tensors[ref.name] = recorder.tensors[ref.name].double()
        return ref

    exact.input = same.__get__(exact)
    return exact.value(GRAPHS[name](exact))


def text_of(name, language):
    """Compile a graph; return the file of the plan that the search puts first."""
    device = find_device(TARGETS[language])
    made = compile_graph(case(name).graph, device, Options(proofs=False))
    return made.built[0].source


def path_of(name, language):
    """Return where the file of a graph is kept; no .py, so that no linter takes it for ours."""
    return FOLDER / f"{name}.{language}.golden"
