"""Reads the lists of example pairs, and turns pairs into what the bench runs."""

import json
from collections.abc import Iterable
from pathlib import Path

from knowledge.entries import PairEntry
from knowledge.entries import PairsEntry
from knowledge.recipes import Pair
from knowledge.recipes import Tensor
from knowledge.refusals import read_document
from knowledge.refusals import validated
from xeforge.errors import BadSpec
from xeforge.intake.marks import Document
from xeforge.intake.marks import nearest

ROOT = Path(__file__).parent
PACKS = ROOT / "packs"
EXAMPLES = ROOT / "examples"
PAIRS_FILE = "pairs.yaml"


def read_all_pairs(folders: Iterable[Path]) -> dict[str, Pair]:
    """Read the example pairs of all folders of packs.

    Raises:
        BadSpec: A list is wrong, or a name is taken twice.
    """
    found: dict[str, Pair] = {}
    for folder in folders:
        examples = EXAMPLES if folder == PACKS else folder / "examples"
        if not (examples / PAIRS_FILE).is_file():
            continue
        for pair in read_pairs(examples):
            if pair.name in found:
                other = found[pair.name]
                message = f"the pair {pair.name} is there already ({other.file}:{other.line})"
                remedy = "give it another name"
                raise BadSpec(message, file=pair.file, line=pair.line, remedy=remedy)
            found[pair.name] = pair
    return found


def read_pairs(folder: Path) -> tuple[Pair, ...]:
    """Read the list of pairs in a folder of examples.

    Raises:
        BadSpec: It is wrong, names a size that is not given, or a file is not there.
    """
    document = read_document(folder / PAIRS_FILE)
    return tuple(
        _pair(document, name, entry, folder)
        for name, entry in validated(PairsEntry, document).pairs.items()
    )


def _pair(document: Document, name: str, entry: PairEntry, folder: Path) -> Pair:
    place = ("pairs", name)
    for key, given in entry.inputs.items():
        for size in given.shape:
            for scale, sizes in (("small", entry.small), ("large", entry.large)):
                if size not in sizes:
                    message = f"the size {size!r} is not given under {scale}{nearest(size, sizes)}"
                    where = (*place, "inputs", key, "shape")
                    raise document.bad(where, message, remedy=f"add it to {scale}")
    files = [folder / f"{name}.{when}.py" for when in ("before", "after")]
    for path in files:
        if not path.is_file():
            remedy = f"write it into {folder}"
            raise document.bad(place, f"the file {path.name} is not there", remedy=remedy)
    return Pair(
        name=name,
        about=entry.about,
        inputs=tuple(Tensor(k, v.shape, v.dtype, v.fill) for k, v in entry.inputs.items()),
        small=entry.small,
        large=entry.large,
        rtol=entry.rtol,
        atol=entry.atol,
        before=files[0],
        after=files[1],
        file=document.file,
        line=document.line(place) or 1,
    )


_MODEL = """

class Model(torch.nn.Module):
    def forward(self, {names}):
        return run({names})
"""


def as_kernels(pair: Pair) -> tuple[str, str]:
    """Return both sources as kernel files with a class ``Model``."""
    wrapper = _MODEL.format(names=", ".join(each.name for each in pair.inputs))
    before, after = (each.read_text(encoding="utf-8") for each in (pair.before, pair.after))
    return before + wrapper, after + wrapper


def as_spec(pair: Pair) -> str:
    """Return the inputs of a pair at its small sizes as a spec; JSON is YAML."""
    inputs = {
        each.name: {"shape": list(each.shape), "dtype": each.dtype}
        | ({"inits": ["abs"]} if each.fill == "positive" else {})
        for each in pair.inputs
    }
    variant = {"params": list(inputs), "dims": dict(pair.small), "rtol": 0.05, "atol": 0.05}
    return json.dumps({"inputs": inputs, "bench-gpu": [variant]})
