"""Runs the kept files of one language and prints how far each is from float64.

A process of its own, because Triton's interpreter is chosen when triton is loaded.
"""

import json
import sys
import tempfile
from pathlib import Path

from benchmarks.fusion import emitted
from tests.xeforge.fusion.golden.cases import GRAPHS
from tests.xeforge.fusion.golden.cases import case
from tests.xeforge.fusion.golden.cases import path_of


def main():
    """Print the largest error of each file, in units of the largest value."""
    language = sys.argv[1]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in GRAPHS:
            given = case(name)
            text = path_of(name, language).read_text(encoding="utf-8")
            paths = {each.name: each.path for each in given.graph.parameters}
            outputs = emitted.run(text, Path(folder), f"golden_{name}", given.values, paths)
            found[name] = max(map(_error, outputs, given.wanted))
    json.dump(found, sys.stdout)


def _error(got, wanted):
    wanted = wanted.double().numpy()
    if got.shape != wanted.shape:
        return float("inf")
    return float(abs(got - wanted).max() / abs(wanted).max())


if __name__ == "__main__":
    main()
