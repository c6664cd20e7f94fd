"""`xeforge kb record`: how often advice paid in the jobs of this machine."""

import sys
from typing import Annotated

import typer

from xeforge.app.console import say
from xeforge.app.console import tell
from xeforge.app.embedded import wins_here
from xeforge.app.kb_base import KbOption
from xeforge.app.kb_base import open_base
from xeforge.app.kb_base import open_devices
from xeforge.app.request import JsonOption
from xeforge.domain.wins import WinsByDevice
from xeforge.errors import BadRequest
from xeforge.intake.marks import nearest


def command(
    *,
    target: Annotated[
        str | None, typer.Option("--target", metavar="DEVICE", help="Of this device model only.")
    ] = None,
    kb: KbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how often each recipe won. With --json: what `kb why --record` reads, measured only."""
    from knowledge.win_records import dumps_wins

    base = open_base(kb)
    devices = open_devices(base)
    if target is not None and target not in devices:
        message = f"no device is called {target!r}{nearest(target, devices)}"
        raise BadRequest(message, field="--target", remedy="see `xeforge devices`")
    wins = wins_here()
    if target is not None:
        wins = {target: wins.get(target, {})}
    known, strange = _split(wins, base.ids, frozenset(devices))
    if as_json:
        sys.stdout.write(dumps_wins(known))
    else:
        _print(known)
    for each in strange:
        say(f"not shown: {each}; this knowledge base does not have it")


def _split(
    wins: WinsByDevice, recipes: frozenset[str], devices: frozenset[str]
) -> tuple[WinsByDevice, list[str]]:
    """Set apart what packs and device files that were changed since do not know any more."""
    known = {
        device: {recipe: each for recipe, each in records.items() if recipe in recipes}
        for device, records in wins.items()
        if device in devices
    }
    strange = [
        f"{recipe} on {device}"
        for device, records in wins.items()
        for recipe in records
        if device not in devices or recipe not in recipes
    ]
    return known, strange


def _print(wins: WinsByDevice) -> None:
    from knowledge.select import paid

    if not any(wins.values()):
        tell("no job of this machine has followed a recipe so far")
        return
    for device, records in wins.items():
        for recipe, each in records.items():
            tell(f"{recipe}: {paid(each, device)}")
    tell("won: measured to be faster on a card; estimates are no wins and rank nothing")
