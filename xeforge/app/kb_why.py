"""`xeforge kb why`: which advice fits a kernel, ranked, and what was left out and why."""

import json
import sys
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any

import typer

from xeforge.app.console import tell
from xeforge.app.embedded import wins_here
from xeforge.app.kb_base import KbOption
from xeforge.app.kb_base import open_base
from xeforge.app.kb_base import open_devices
from xeforge.app.request import JsonOption
from xeforge.app.request import KernelArgument
from xeforge.app.request import ReferenceOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.domain.device import Device
from xeforge.domain.issue import Issue
from xeforge.domain.wins import WinRecord
from xeforge.intake.issues import find_issues
from xeforge.intake.stages import read_stages
from xeforge.source.facts import read_facts
from xeforge.verify.gates.constraints import Judged
from xeforge.verify.gates.constraints import judged
from xeforge.verify.gates.sites import sites_of

if TYPE_CHECKING:
    from knowledge.recipes import KnowledgeBase
    from knowledge.select import Selection


@dataclass(frozen=True, slots=True)
class Why:
    """What `xeforge kb why` answers.

    Attributes:
        device: Model it was asked for.
        issues: What detectors found.
        selection: Advice, and what was left out.
        rules: Constraints that are broken, or that could not be judged.
    """

    device: Device
    issues: tuple[Issue, ...]
    selection: "Selection"
    rules: tuple[Judged, ...]


def command(
    kernel: KernelArgument,
    *,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    target: TargetOption = None,
    stages: Annotated[str | None, typer.Option("--stages", help="Comma-separated.")] = None,
    budget_tokens: Annotated[int, typer.Option("--budget-tokens", min=1)] = 2000,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", metavar="FILE", help="JSON of wins and trials, instead of this machine's."
        ),
    ] = None,
    kb: KbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which advice fits a kernel, in which order and why, and what was left out."""
    from knowledge.select import Question
    from knowledge.select import select

    base = open_base(kb)
    problem = to_problem(
        kernel, spec=spec, reference=reference, variants=variant, device="cpu", target=target
    )
    devices = open_devices(base)
    device = devices[problem.target]
    issues = find_issues(problem.kernel, problem.reference, vendor=device.vendor)
    sites = sites_of(
        read_facts(problem.kernel.text, problem.kernel.path), device, problem.workloads
    )
    asked, _ = read_stages(stages.split(",") if stages else ())
    question = Question(
        sites,
        issues,
        stages=frozenset(asked),
        records=_wins(record, device, base, devices),
        budget_tokens=budget_tokens,
    )
    rules = tuple(each for each in judged(device.constraints, sites) if each.holds is False)
    answer = Why(device, issues, select(base, question), rules)
    if as_json:
        sys.stdout.write(json.dumps(_plain(answer), indent=2) + "\n")
    else:
        _print(answer)


def _wins(
    record: Path | None, device: Device, base: "KnowledgeBase", devices: Iterable[str]
) -> Mapping[str, WinRecord]:
    """Return how often advice paid on a device: by a file's word, else in the jobs of here."""
    from knowledge.win_records import read_wins

    if record is None:
        return wins_here().get(device.name, {})
    return read_wins(record, device=device.name, recipes=base.ids, devices=devices)


def _plain(answer: Why) -> dict[str, Any]:
    selection = answer.selection
    return {
        "device": answer.device.name,
        "issues": [asdict(each) for each in answer.issues],
        "chosen": [
            {
                "recipe": each.recipe.id,
                "score": round(each.score, 3),
                "tokens": each.tokens,
                "because": each.because,
                "says": each.recipe.says,
            }
            for each in selection.chosen
        ],
        "tokens": selection.tokens,
        "budget": selection.budget,
        "left_out": [asdict(each) for each in selection.left_out],
        "broken_rules": [
            {"rule": each.constraint.id, "line": each.site.line, "refuses": each.constraint.refuses}
            for each in answer.rules
        ],
    }


def _print(answer: Why) -> None:
    from knowledge.select import render

    selection = answer.selection
    tell(f"{len(answer.issues)} issues for {answer.device.title}")
    for each in answer.issues:
        tell(f"  line {each.line or '-'}: {each.type}")
    for rule in answer.rules:
        word = "refused" if rule.constraint.refuses else "told"
        tell(f"  line {rule.site.line}: {word}: {rule.constraint.says} ({rule.constraint.id})")
    for number, chosen in enumerate(selection.chosen, start=1):
        tell(f"{number}. {render(chosen.recipe)}")
        tell(f"  Why here: {chosen.because} (score {chosen.score:.2f}, {chosen.tokens} tokens)")
    tell(f"{selection.tokens} of {selection.budget} tokens; left out:")
    kinds: dict[str, list[str]] = {}
    for left in selection.left_out:
        kinds.setdefault(left.kind, []).append(f"{left.recipe}: {left.reason}")
    for kind, reasons in kinds.items():
        tell(f"  {kind}: {len(reasons)}")
        for reason in reasons if kind not in ("no issue", "stage") else ():
            tell(f"    {reason}")
