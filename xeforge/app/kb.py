"""`xeforge kb`: the knowledge base, its checks, and why it says what it says of a kernel."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any
from typing import TypeAlias

import typer
from rich.markup import escape
from rich.table import Table

from xeforge.app.console import output_console
from xeforge.app.console import tell
from xeforge.app.exit_codes import ExitCode
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.request import JsonOption
from xeforge.app.request import KernelArgument
from xeforge.app.request import ReferenceOption
from xeforge.app.request import SpecOption
from xeforge.app.request import TargetOption
from xeforge.app.request import VariantOption
from xeforge.app.request import to_problem
from xeforge.domain.device import Device
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.issue import Issue
from xeforge.domain.submission import SourceFile
from xeforge.domain.submission import Submission
from xeforge.errors import BadRequest
from xeforge.intake.issues import find_issues
from xeforge.intake.marks import nearest
from xeforge.intake.read import read
from xeforge.intake.stages import read_stages
from xeforge.source.facts import read_facts
from xeforge.verify.gates.constraints import Judged
from xeforge.verify.gates.constraints import judged
from xeforge.verify.gates.sites import sites_of
from xeforge.verify.inputs import plan_cases

if TYPE_CHECKING:
    from knowledge.lint import Runner
    from knowledge.recipes import KnowledgeBase
    from knowledge.recipes import Pair
    from knowledge.select import Selection

app = typer.Typer(help="Look into the knowledge base, and check it.", no_args_is_help=True)

KbOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--kb", metavar="DIR", help="Folder with packs of your own; may be repeated."),
]
_KINDS = ("recipes", "constraints", "devices", "packs", "examples")


@app.callback()
def group() -> None:
    """Look into the knowledge base, and check it."""


def _base(folders: list[Path] | None) -> "KnowledgeBase":
    from knowledge.packs import load_base

    return load_base(*(each.resolve() for each in folders or ()))


def _devices(base: "KnowledgeBase") -> dict[str, Device]:
    """Return all devices with the rules of this base, a user's own included."""
    from knowledge.load import read_devices
    from knowledge.load import with_rules

    return {name: with_rules(each, base.rulings) for name, each in read_devices().items()}


@app.command("lint")
def lint_command(
    *,
    kb: KbOption = None,
    run: Annotated[
        bool,
        typer.Option(
            "--run", help="Run examples in the sandbox, a few seconds each; with --kb yours only."
        ),
    ] = False,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check all packs, devices and examples, your own included. Exit code 2: faults."""
    from knowledge.lint import lint

    folders = [each.resolve() for each in kb or ()]
    if run:
        with _runner(allow_unsandboxed=allow_unsandboxed) as runner:
            faults = lint(*folders, run=runner)
    else:
        faults = lint(*folders)
    if as_json:
        sys.stdout.write(json.dumps([asdict(each) for each in faults], indent=2) + "\n")
    else:
        for fault in faults:
            tell(str(fault))
        tell(_counted(folders) if not faults else f"{len(faults)} faults")
    raise typer.Exit(ExitCode.BAD_INPUT if faults else ExitCode.FASTER)


def _counted(folders: list[Path]) -> str:
    base = _base(folders)
    return (
        f"clean: {len(base.packs)} packs, {len(base.recipes)} recipes, {len(base.rulings)} "
        f"constraints, {len(base.pairs)} examples, {len(_devices(base))} devices"
    )


@contextmanager
def _runner(*, allow_unsandboxed: bool) -> "Iterator[Runner]":
    """Return what runs a pair as the bench runs a kernel: inside the walls, in the interpreter."""
    from knowledge.pairs import as_kernels
    from knowledge.pairs import as_spec
    from xeforge.app.embedded import open_evaluator

    def run(pair: "Pair") -> str:
        before, after = as_kernels(pair)
        submission = Submission(
            kernel=SourceFile(str(pair.before), before),
            reference=None,
            spec=SourceFile(pair.file, as_spec(pair)),
            variants=(),
            target="nvidia-h200",
            backend="cpu",
        )
        problem = read(submission, device_names=("nvidia-h200",))
        case = plan_cases(problem, purpose="candidate", interpreted=True, seed=0)[0]
        with open_evaluator(problem, allow_unsandboxed=allow_unsandboxed) as evaluator:
            found = evaluator.examine(problem, after, [case]).cases[0]
        if found.status is not CaseStatus.RAN:
            return f"{found.status}: {found.message}"
        wrong = sum(each.wrong_count for each in found.outputs)
        return f"{wrong} elements differ" if wrong else ""

    yield run


@app.command("list")
def list_command(
    what: Annotated[str, typer.Argument(metavar="WHAT", help=", ".join(_KINDS))] = "recipes",
    *,
    kb: KbOption = None,
    stage: Annotated[str | None, typer.Option("--stage", help="Recipes of this stage.")] = None,
    issue: Annotated[str | None, typer.Option("--issue", help="Recipes that cure this.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List recipes, constraints, devices, packs or examples."""
    base = _base(kb)
    rows = _rows(what, base)
    stages, _ = read_stages([stage] if stage else [])
    if what == "recipes":
        by_id = {each.id: each for each in base.recipes}
        rows = [
            row
            for row in rows
            if (not stages or by_id[row["id"]].stage in stages)
            and (issue is None or issue in by_id[row["id"]].cures)
        ]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    table = Table(*(rows[0] if rows else ["nothing"]))
    for row in rows:
        table.add_row(*(escape(each) for each in row.values()))
    output_console.print(table)


def _rows(what: str, base: "KnowledgeBase") -> list[dict[str, str]]:
    match what:
        case "recipes":
            return [
                {
                    "id": each.id,
                    "stage": each.stage,
                    "cures": ", ".join(sorted(each.cures)),
                    "known": each.strength,
                    "effect": each.effect.strength,
                }
                for each in base.recipes
            ]
        case "constraints":
            return [
                {
                    "id": each.rule.id,
                    "scope": each.rule.scope,
                    "requires": each.rule.require,
                    "breaking it": "refused" if each.rule.refuses else "told",
                    "known": each.rule.strength,
                }
                for each in base.rulings
            ]
        case "devices":
            return [
                {"name": name, "title": each.title, "architecture": each.architecture}
                for name, each in _devices(base).items()
            ]
        case "packs":
            return [
                {"pack": each.name, "recipes": str(len(each.recipes)), "about": each.about}
                for each in base.packs.values()
            ]
        case "examples":
            return [{"example": each.name, "about": each.about} for each in base.pairs.values()]
    raise BadRequest(
        f"there are no {what!r}{nearest(what, _KINDS)}", remedy=f"one of {', '.join(_KINDS)}"
    )


@app.command("show")
def show_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Recipe, constraint, device, example.")
    ],
    *,
    kb: KbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one recipe, constraint, device, pack or example with its evidence."""
    base = _base(kb)
    known = _everything(base)
    if name not in known:
        raise BadRequest(
            f"nothing is called {name!r}{nearest(name, known)}",
            remedy="`xeforge kb list` and `xeforge kb search WORDS` say what there is",
        )
    if as_json:
        sys.stdout.write(json.dumps(known[name], indent=2, default=str) + "\n")
        return
    for key, value in known[name].items():
        text = value if isinstance(value, str) else json.dumps(value, default=str)
        if text not in ("", "null", "[]", "{}"):
            output_console.print(f"[bold]{key}[/]: {escape(text)}", soft_wrap=True)


def _everything(base: "KnowledgeBase") -> dict[str, dict[str, Any]]:
    """Return everything that has a name, as plain values."""
    found: dict[str, dict[str, Any]] = {}
    for name, device in _devices(base).items():
        rules = [each.id for each in device.constraints]
        found[name] = {**asdict(device), "constraints": rules}
    for pair in base.pairs.values():
        texts = {p.name: p.read_text(encoding="utf-8") for p in (pair.before, pair.after)}
        found[pair.name] = {"about": pair.about, "small": pair.small, "large": pair.large, **texts}
    for ruling in base.rulings:
        place = f"{ruling.file}:{ruling.line}"
        found[ruling.rule.id] = {**asdict(ruling.rule), "place": place}
    for recipe in base.recipes:
        plain = {**asdict(recipe), "cures": sorted(recipe.cures), "undoes": sorted(recipe.undoes)}
        found[recipe.id] = plain
    return found


@app.command("search")
def search_command(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="All must occur.")],
    *,
    kb: KbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find what mentions all the words, in any order and case."""
    wanted = [word.casefold() for word in words]
    hits = [
        {"name": name, "says": str(each.get("says") or each.get("about") or each.get("title", ""))}
        for name, each in _everything(_base(kb)).items()
        if all(word in f"{name} {json.dumps(each, default=str)}".casefold() for word in wanted)
    ]
    if as_json:
        sys.stdout.write(json.dumps(hits, indent=2) + "\n")
        return
    for hit in hits:
        output_console.print(f"[bold]{escape(hit['name'])}[/]: {escape(hit['says'])}")
    tell(f"{len(hits)} found")


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


@app.command("why")
def why_command(
    kernel: KernelArgument,
    *,
    spec: SpecOption = None,
    reference: ReferenceOption = None,
    variant: VariantOption = None,
    target: TargetOption = None,
    stages: Annotated[str | None, typer.Option("--stages", help="Comma-separated.")] = None,
    budget_tokens: Annotated[int, typer.Option("--budget-tokens", min=1)] = 2000,
    record: Annotated[
        Path | None, typer.Option("--record", help="JSON of wins and trials.")
    ] = None,
    kb: KbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which advice fits a kernel, in which order and why, and what was left out."""
    from knowledge.select import Question
    from knowledge.select import read_records
    from knowledge.select import select

    base = _base(kb)
    problem = to_problem(
        kernel, spec=spec, reference=reference, variants=variant, device="cpu", target=target
    )
    device = _devices(base)[problem.target]
    issues = find_issues(problem.kernel, problem.reference, vendor=device.vendor)
    sites = sites_of(
        read_facts(problem.kernel.text, problem.kernel.path), device, problem.workloads
    )
    asked, _ = read_stages(stages.split(",") if stages else ())
    question = Question(
        sites,
        issues,
        stages=frozenset(asked),
        records=read_records(record, base) if record else {},
        budget_tokens=budget_tokens,
    )
    rules = tuple(each for each in judged(device.constraints, sites) if each.holds is False)
    answer = Why(device, issues, select(base, question), rules)
    if as_json:
        sys.stdout.write(json.dumps(_plain(answer), indent=2) + "\n")
    else:
        _print(answer)


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
