"""`xeforge kb`: the knowledge base, its checks, why it advises what it does, and what it won."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from xeforge.app import kb_record
from xeforge.app import kb_why
from xeforge.app.console import output_console
from xeforge.app.console import tell
from xeforge.app.exit_codes import ExitCode
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.kb_base import KbOption
from xeforge.app.kb_base import open_base
from xeforge.app.kb_base import open_devices
from xeforge.app.request import JsonOption
from xeforge.domain.evidence import CaseStatus
from xeforge.domain.submission import SourceFile
from xeforge.domain.submission import Submission
from xeforge.errors import BadRequest
from xeforge.intake.marks import nearest
from xeforge.intake.read import read
from xeforge.intake.stages import read_stages
from xeforge.verify.inputs import plan_cases

if TYPE_CHECKING:
    from knowledge.lint import Runner
    from knowledge.recipes import KnowledgeBase
    from knowledge.recipes import Pair

app = typer.Typer(help="Look into the knowledge base, and check it.", no_args_is_help=True)

_KINDS = ("recipes", "constraints", "devices", "packs", "examples")


@app.callback()
def group() -> None:
    """Look into the knowledge base, and check it."""


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
    base = open_base(folders)
    return (
        f"clean: {len(base.packs)} packs, {len(base.recipes)} recipes, {len(base.rulings)} "
        f"constraints, {len(base.pairs)} examples, {len(open_devices(base))} devices"
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
    base = open_base(kb)
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
                for name, each in open_devices(base).items()
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
    base = open_base(kb)
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
    for name, device in open_devices(base).items():
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
        for name, each in _everything(open_base(kb)).items()
        if all(word in f"{name} {json.dumps(each, default=str)}".casefold() for word in wanted)
    ]
    if as_json:
        sys.stdout.write(json.dumps(hits, indent=2) + "\n")
        return
    for hit in hits:
        output_console.print(f"[bold]{escape(hit['name'])}[/]: {escape(hit['says'])}")
    tell(f"{len(hits)} found")


app.command("why")(kb_why.command)
app.command("record")(kb_record.command)
