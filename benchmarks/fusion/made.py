"""Captures modules as a user's are, and writes what the fusion compiler makes of each in a folder.

Needs the project; `card` then times the folders where there is none.
"""

from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.level2.capturing import capturing
from knowledge.load import find_device
from xeforge.domain.problem import TensorSpec
from xeforge.domain.problem import Workload
from xeforge.domain.submission import SourceFile
from xeforge.fusion.driver import Options
from xeforge.fusion.driver import compile_graph
from xeforge.fusion.front.graph import Graph


@dataclass(frozen=True, slots=True)
class Wanted:
    """A module to be compiled.

    Attributes:
        name: Of the folder.
        text: Of the reference file.
        inputs: Of its forward, in order.
        dtype: Torch name that its weights have.
    """

    name: str
    text: str
    inputs: tuple[TensorSpec, ...]
    dtype: str


def make(modules: Sequence[Wanted], folder: Path, target: str, tiles: int) -> None:
    """Write a folder for each module, as `benchmarks.fusion.card` reads it.

    Args:
        modules: Captured in eval mode.
        folder: Made where it is missing; what an earlier call wrote is replaced.
        target: Device of `knowledge/devices`.
        tiles: How many files of each plan: the first is what the compiler would choose.

    Raises:
        RuntimeError: A module was not captured.
    """
    device = find_device(target)
    for module, graph in _captured(modules):
        place = folder / module.name
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("fused_*.py"):
            old.unlink()
        (place / "ref.py").write_text(module.text, encoding="utf-8")
        (place / "dtype").write_text(module.dtype, encoding="utf-8")
        texts: dict[str, str] = {}
        for plan, built in enumerate(compile_graph(graph, device, Options(proofs=False)).built):
            for rank, text in enumerate(islice(built.sources(), tiles)):
                # Plans that come to the same kernel are timed once.
                texts.setdefault(text, f"fused_{plan}_{rank}.py")
        for text, file in texts.items():
            (place / file).write_text(text, encoding="utf-8")
        print(f"{module.name}: {', '.join(texts.values())}", flush=True)


def _captured(modules: Sequence[Wanted]) -> Iterator[tuple[Wanted, Graph]]:
    with capturing() as opened:
        for module in modules:
            workload = Workload("made", "made", module.inputs, (), module.dtype, {})
            file = SourceFile(f"{module.name}.py", module.text)
            found = opened.capture(file, workload, "eval").outcome
            if not isinstance(found, Graph):
                raise RuntimeError(f"{module.name} is not captured: {found}")  # noqa: TRY004
            yield module, found
