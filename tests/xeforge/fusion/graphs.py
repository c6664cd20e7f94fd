"""Small graphs written by hand, with what Torch computes for them."""

import math

import numpy as np
import torch

from xeforge.fusion.front.graph import Graph
from xeforge.fusion.front.graph import Node
from xeforge.fusion.front.graph import Ref
from xeforge.fusion.front.graph import Tensor
from xeforge.fusion.interpret import interpret
from xeforge.fusion.lower.program import lower


class Recorder:
    """Builds a graph by running it: each node is the operator of that name in Torch."""

    def __init__(self, dtype="float64", seed=0):
        self.dtype = dtype
        self.random = torch.Generator().manual_seed(seed)
        self.tensors = {}
        self.inputs = []
        self.parameters = []
        self.nodes = []

    def input(self, *shape, low=-2.0, high=2.0, role="input", dtype=None):
        dtype = getattr(torch, dtype or self.dtype)
        name = f"x{len(self.tensors)}"
        values = torch.rand(shape, generator=self.random, dtype=torch.float64)
        self.tensors[name] = (values * (high - low) + low).to(dtype)
        tensor = Tensor(name, tuple(shape), str(dtype).removeprefix("torch."), role)
        (self.inputs if role == "input" else self.parameters).append(tensor)
        return Ref(name)

    def parameter(self, *shape, **kwargs):
        return self.input(*shape, role="parameter", **kwargs)

    def constant(self, value):
        name = f"c{len(self.tensors)}"
        self.tensors[name] = torch.tensor(value, dtype=getattr(torch, self.dtype))
        self.parameters.append(Tensor(name, (), self.dtype, "constant", value=value))
        return Ref(name)

    def torch_dtype(self, name):
        return getattr(torch, name)

    def value(self, ref):
        return self.tensors[ref.name]

    def op(self, op, *args, aten=None, index=None, **kwargs):
        done = getattr(torch.ops.aten, aten or op)(*map(self._given, args), **kwargs)
        result = done if index is None else done[index]
        name = f"{op}_{len(self.tensors)}"
        self.tensors[name] = result
        dtype = str(result.dtype).removeprefix("torch.")
        listed = tuple(tuple(each) if isinstance(each, list) else each for each in args)
        node = Node(name, op, listed, kwargs, tuple(result.shape), dtype, index=index)
        self.nodes.append(node)
        return Ref(name)

    def _given(self, value):
        if isinstance(value, Ref):
            return self.value(value)
        if isinstance(value, list | tuple):
            return [self._given(each) for each in value]
        return value

    def graph(self, *outputs, mode="eval"):
        names = tuple(each.name for each in outputs)
        return Graph(tuple(self.inputs), tuple(self.parameters), tuple(self.nodes), names, mode)

    def given(self):
        kept = [each.name for each in (*self.inputs, *self.parameters) if each.value is None]
        return {name: self.tensors[name].to(torch.float64).numpy() for name in kept}


def program_of(recorder, *outputs):
    return lower(recorder.graph(*outputs))


def check(recorder, *outputs, exact=True, tolerance=1e-12):
    """Lower, interpret, compare with Torch; return the program."""
    program = program_of(recorder, *outputs)
    found = interpret(program, recorder.given(), exact=exact)
    for name, output in zip(program.outputs, outputs, strict=True):
        wanted = recorder.value(output).to(torch.float64).numpy()
        got = np.asarray(found[name], np.float64)
        assert got.shape == wanted.shape
        finite = np.abs(wanted[np.isfinite(wanted)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)
        assert not math.isnan(scale)
    return program
