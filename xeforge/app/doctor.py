"""`xeforge doctor`: what works here, what is missing, the command that mends it."""

import json
import platform
import shutil
import sys
from dataclasses import asdict
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version
from pathlib import Path

import typer

from xeforge.app.console import output_console
from xeforge.app.embedded import home
from xeforge.app.exit_codes import ExitCode
from xeforge.app.request import JsonOption
from xeforge.errors import BadRequest
from xeforge.errors import XeForgeError


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the diagnosis.

    Attributes:
        part: What was looked at.
        works: Whether it works here.
        detail: Version, or what happened.
        remedy: The command that mends it; empty when it works or nothing can be done.
        is_required: Whether the main job needs it.
    """

    part: str
    works: bool
    detail: str
    remedy: str = ""
    is_required: bool = False


def command(*, as_json: JsonOption = False) -> None:
    """Say what works here, what is missing and the command that mends it.

    Exit codes: 0 the main job can run, 5 something it needs is missing.
    """
    rows = [*_python(), *_tools(), _home(), *_sandbox(), *_bench()]
    if as_json:
        sys.stdout.write(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    else:
        for row in rows:
            mark = "[green]ok[/]     " if row.works else "[red]missing[/]"
            remedy = f"  -> {row.remedy}" if row.remedy else ""
            output_console.print(f"{mark} {row.part}: {row.detail}{remedy}", soft_wrap=True)
    is_fit = all(row.works for row in rows if row.is_required)
    raise typer.Exit(ExitCode.FASTER if is_fit else ExitCode.PLATFORM_FAULT)


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
    from bench_workers.sandbox.layers import available_layers

    return [
        Row(f"isolation: {each.name}", each.is_active, each.detail, each.remedy)
        for each in available_layers()
    ]


def _bench() -> list[Row]:
    """Start a real child: the interpreter always, and the card where there is one."""
    from bench_workers.cards import list_cards

    rows = []
    for backend in ("cuda", "xpu"):
        try:
            cards = list_cards(backend)
        except XeForgeError as error:
            rows.append(Row(backend, False, str(error)))
            continue
        detail = ", ".join(card.product for card in cards) or "no card"
        rows.append(Row(backend, bool(cards), detail))
    has_nodes = any(Path("/dev").glob("nvidia[0-9]*"))
    if has_nodes and not rows[0].works:
        rows[0] = Row("cuda", False, rows[0].detail, "install a CUDA build of torch")
    return rows
