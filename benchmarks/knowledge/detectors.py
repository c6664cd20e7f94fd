"""Precision and recall of the issue detectors over labelled kernels, and their time.

A label and a finding are the same when file and issue type agree; whether the lines agree too is
counted by itself.

    python -m benchmarks.knowledge.detectors --out detectors.json
"""

import argparse
import json
import re
import statistics
import time
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xeforge.domain.issue import ISSUE_TYPES
from xeforge.domain.submission import SourceFile
from xeforge.intake.issues import find_issues

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "tests" / "xeforge" / "intake" / "issues" / "labelled"
EXAMPLES: Final = ROOT / "examples"
_HEADER: Final = "# issues: "
_ROW: Final = re.compile(r"^\| `(\w+\.py)` \| (.+) \|$", re.MULTILINE)
_REPEATS: Final = 5

Labels = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Labelled:
    """One kernel with what is to be said about it.

    Attributes:
        path: The file.
        group: ``"own"``, ``"held_out"`` or ``"examples"``.
        labels: Issue type to the lines to blame.
    """

    path: Path
    group: str
    labels: Labels


@dataclass(frozen=True, slots=True)
class Score:
    """How well labels were met.

    Attributes:
        right: Labels found.
        wrong: Findings without label.
        missed: Labels not found.
        right_lines: Labels found, of which a line was blamed rightly.
    """

    right: int
    wrong: int
    missed: int
    right_lines: int

    @property
    def precision(self) -> float:
        """Share of findings that are labelled; one when nothing was found."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """Share of labels that were found; one when there are none."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def read_labels(text: str) -> Labels:
    """Read ``"dtype_precision 31; missing_autotune 50 60"``; ``"none"`` gives nothing.

    Raises:
        ValueError: A type outside the closed list, or no line.
    """
    found: dict[str, frozenset[int]] = {}
    for part in text.split(";") if text.strip() != "none" else ():
        name, *lines = part.split()
        if name not in ISSUE_TYPES or not lines:
            raise ValueError(f"{part!r}: an issue type of the closed list and its lines expected")
        found[name] = frozenset(int(each) for each in lines)
    return found


def labelled() -> tuple[Labelled, ...]:
    """Return every labelled kernel.

    Raises:
        ValueError: A file without labels, or with labels that cannot be read.
    """
    found = []
    for group, folder in (("own", FOLDER), ("held_out", FOLDER / "held_out")):
        for path in sorted(folder.glob("*.py")):
            first = path.read_text(encoding="utf-8").partition("\n")[0]
            if not first.startswith(_HEADER):
                raise ValueError(f"{path}: the first line must be {_HEADER!r} and the labels")
            found.append(Labelled(path, group, read_labels(first.removeprefix(_HEADER))))
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = {name: read_labels(text) for name, text in _ROW.findall(table)}
    found += [Labelled(EXAMPLES / name, "examples", labels) for name, labels in rows.items()]
    return tuple(found)


def findings(path: Path) -> Labels:
    """Return what the detectors say about a file, types outside the closed list left out."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, set[int]] = {}
    for issue in find_issues(SourceFile(path.name, text), None):
        if issue.type in ISSUE_TYPES:
            found.setdefault(issue.type, set()).add(issue.line or 0)
    return {name: frozenset(lines) for name, lines in found.items()}


def score(pairs: Iterable[tuple[Labels, Labels]], types: Iterable[str]) -> Score:
    """Compare labels with findings, for some issue types."""
    right = wrong = missed = right_lines = 0
    wanted = frozenset(types)
    for labels, found in pairs:
        for name in wanted & (labels.keys() | found.keys()):
            if name not in found:
                missed += 1
            elif name not in labels:
                wrong += 1
            else:
                right += 1
                right_lines += bool(labels[name] & found[name])
    return Score(right, wrong, missed, right_lines)


def seconds_for(path: Path) -> float:
    """Return the processor time of detection for one file, best of five."""
    source = SourceFile(path.name, path.read_text(encoding="utf-8"))
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        find_issues(source, None)
        times.append(time.process_time() - start)
    return min(times)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms"


def _as_json(found: Score) -> dict[str, float]:
    return {**asdict(found), "precision": found.precision, "recall": found.recall}


def main() -> None:
    """Print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--group", choices=("own", "held_out", "examples"), help="only these")
    parser.add_argument("--show", action="store_true", help="name every disagreement")
    asked = parser.parse_args()
    kernels = [each for each in labelled() if asked.group in {None, each.group}]
    found = {each.path: findings(each.path) for each in kernels}
    if asked.show:
        for each in kernels:
            _show(each, found[each.path])
    pairs = [(each.labels, found[each.path]) for each in kernels]
    by_type = {name: score(pairs, [name]) for name in ISSUE_TYPES}
    groups = {
        group: score([(e.labels, found[e.path]) for e in kernels if e.group == group], ISSUE_TYPES)
        for group in dict.fromkeys(each.group for each in kernels)
    }
    rows = {**by_type, **groups, "overall": score(pairs, ISSUE_TYPES)}
    print(f"{'':32}{'right':>6}{'wrong':>6}{'missed':>7}{'precision':>10}{'recall':>8}")
    for name, each in rows.items():
        if each.right + each.wrong + each.missed:
            numbers = f"{each.right:6}{each.wrong:6}{each.missed:7}"
            print(f"{name:32}{numbers}{each.precision:10.3f}{each.recall:8.3f}")
    times = {str(each.path.relative_to(ROOT)): seconds_for(each.path) for each in kernels}
    slowest = max(times, key=lambda name: times[name])
    overall = rows["overall"]
    print(f"lines blamed rightly: {overall.right_lines} of {overall.right}")
    print(
        f"{len(kernels)} kernels, processor time: median {_ms(statistics.median(times.values()))},"
    )
    print(f"slowest {_ms(times[slowest])} ({slowest})")
    result = {"scores": {name: _as_json(each) for name, each in rows.items()}, "seconds": times}
    asked.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _show(kernel: Labelled, found: Labels) -> None:
    for name in sorted(kernel.labels.keys() | found.keys()):
        wanted, given = sorted(kernel.labels.get(name, ())), sorted(found.get(name, ()))
        if wanted != given:
            print(f"{kernel.path.name}: {name}: labelled {wanted}, found {given}")


if __name__ == "__main__":
    main()
