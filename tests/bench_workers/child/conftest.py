"""One child with Triton's interpreter mended, shared by all tests of this folder."""

from pathlib import Path

import pytest

from bench_workers.sandbox.launch import launch
from bench_workers.sandbox.layers import best_layer
from bench_workers.sandbox.policy import default_policy

KERNELS = Path(__file__).parent / "kernels"
_PREAMBLE = """
from pathlib import Path
import torch
import interpret, loading, protocol, recorder
interpret.install()
recorder.install()

def file(name):
    path = Path.cwd() / f"{name}.py"
    protocol.CANDIDATE_FILES.add(str(path))
    return loading.load(name, payload["kernels"][name], Path.cwd()).module
"""


@pytest.fixture(scope="session")
def interpreter():
    """Run lines in the child and return what they leave in `answer`."""
    texts = {path.stem: path.read_text() for path in KERNELS.glob("*.py")}
    options = {"environment": {"TRITON_INTERPRET": "1"}, "preload": ["torch", "triton"]}
    with launch("echo", default_policy("cpu", layer=best_layer()), options=options) as child:

        def run(lines, **payload):
            source = _PREAMBLE + lines
            return child.request(
                "run", {"source": source, "kernels": texts, **payload}, deadline_seconds=120
            )

        yield run
