"""`xeforge doctor`: what works here, what is missing, the command that mends it."""

import json
import platform
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version
from pathlib import Path
from typing import Annotated
from typing import TypeAlias

import typer

from xeforge.app.acceptance import accept as acceptance
from xeforge.app.acceptance import read_acceptance
from xeforge.app.acceptance import show
from xeforge.app.choose import BACKENDS
from xeforge.app.console import output_console
from xeforge.app.console import say
from xeforge.app.diagnosis import Row
from xeforge.app.diagnosis import isolation_rows
from xeforge.app.embedded import home
from xeforge.app.exit_codes import ExitCode
from xeforge.app.files import check_writable
from xeforge.app.isolation import UnsandboxedOption
from xeforge.app.request import JsonOption
from xeforge.app.request import TargetOption
from xeforge.app.structure import structure_row
from xeforge.domain.acceptance import Acceptance
from xeforge.domain.codec import dumps
from xeforge.errors import BadRequest
from xeforge.errors import PlatformError
from xeforge.errors import XeForgeError

_BUILDS = {
    "cuda": "install a CUDA build of torch and the NVIDIA driver",
    "xpu": "install the XPU build of torch and Intel's compute runtime (level-zero)",
}
_NONE_NEEDED = "none needed: kernels are interpreted, speed is estimated"


AcceptOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--accept", metavar="xpu|cuda", help="Try everything on this machine's card."),
]
ReadOption: TypeAlias = Annotated[
    Path | None, typer.Option("--read", metavar="FILE", help="Show what --accept wrote.")
]
AcceptanceOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="File of --accept. Default: xeforge-acceptance-xpu.json."),
]


def command(
    *,
    accept: AcceptOption = None,
    read: ReadOption = None,
    output: AcceptanceOption = None,
    target: TargetOption = None,
    allow_unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say what works here, what is missing and the command that mends it.

    Exit codes: 0 the main job can run, 5 something it needs is missing. With --accept and --read:
    0 every check of the card passed, 5 not all or no card, 2 the file is none of ours.
    """
    if read is not None:
        raise typer.Exit(_shown(read_acceptance(read), as_json=as_json))
    if accept is not None:
        path = check_writable(output or Path(f"xeforge-acceptance-{accept}.json"))
        found = acceptance(accept, target, allow_unsandboxed=allow_unsandboxed)
        path.write_text(dumps(found, indent=1) + "\n", encoding="utf-8")
        code = _shown(found, as_json=as_json)
        say(f"written to {path}: send it along when you report how the card does")
        raise typer.Exit(code)
    rows = [*_python(), *_tools(), _home(), *_sandbox(), *_cards(), structure_row()]
    if as_json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    else:
        for row in rows:
            absent = "[red]missing[/]" if row.is_required else "[yellow]absent[/] "
            mark = "[green]ok[/]     " if row.works else absent
            remedy = f"  -> {row.remedy}" if row.remedy else ""
            output_console.print(f"{mark} {row.part}: {row.detail}{remedy}", soft_wrap=True)
    is_fit = all(row.works for row in rows if row.is_required)
    raise typer.Exit(ExitCode.FASTER if is_fit else ExitCode.PLATFORM_FAULT)


def _shown(found: Acceptance, *, as_json: bool) -> ExitCode:
    """Print an acceptance; return the code of its verdict."""
    if as_json:
        sys.stdout.write(dumps(found) + "\n")
    else:
        show(found)
    return ExitCode.FASTER if found.passed else ExitCode.PLATFORM_FAULT


def _python() -> list[Row]:
    rows = [Row("python", True, platform.python_version(), is_required=True)]
    for name in ("torch", "triton"):
        try:
            rows.append(Row(name, True, version(name), is_required=True))
        except PackageNotFoundError:
            remedy = "pip install 'xeforge[kernels]'"
            rows.append(Row(name, False, "not installed", remedy, is_required=True))
    return rows


def _tools() -> list[Row]:
    """Look for programs that the bench starts."""
    packages = {"gcc": "gcc", "bwrap": "bubblewrap", "unshare": "util-linux"}
    rows = []
    for program, package in packages.items():
        path = shutil.which(program)
        remedy = "" if path else f"apt-get install {package}"
        rows.append(Row(program, path is not None, path or "not found", remedy))
    return rows


def _home() -> Row:
    try:
        folder = home()
    except BadRequest as error:
        return Row("job folder", False, str(error), "set XEFORGE_HOME", is_required=True)
    free = shutil.disk_usage(folder).free / 2**30
    return Row("job folder", True, f"{folder}, {free:.0f} GiB free", is_required=True)


def _sandbox() -> list[Row]:
    hidden: list[Path] = []
    with suppress(BadRequest):  # told in a row of its own
        hidden.append(home())
    try:
        return isolation_rows(tuple(hidden))
    except PlatformError as error:
        words = str(error.message)
        return [Row("isolation in force", False, words, error.remedy or "", is_required=True)]


def _cards() -> list[Row]:
    """Ask torch for the cards behind the device nodes, in children."""
    from bench_workers.cards import list_cards
    from bench_workers.cards import nodes

    rows = []
    for backend in BACKENDS:
        if backend == "cpu":
            continue
        try:
            cards, problem = list_cards(backend), ""
        except XeForgeError as error:
            cards, problem = (), str(error)
        found = ", ".join(card.product for card in cards)
        if cards:
            rows.append(Row(backend, True, found))
        else:
            rows.append(_no_card(backend, problem, nodes=[str(each) for each in nodes(backend)]))
    return rows


def _no_card(backend: str, problem: str, *, nodes: list[str]) -> Row:
    """Say why there is no card, and what to do about it, if anything."""
    if problem:
        return Row(backend, False, problem, f"xeforge doctor --accept {backend} says more")
    if nodes:
        words = f"device nodes are there ({nodes[0]}), but torch sees no card"
        return Row(backend, False, words, _BUILDS[backend])
    return Row(backend, False, "no card in this machine", _NONE_NEEDED)
