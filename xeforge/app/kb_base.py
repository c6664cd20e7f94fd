"""The knowledge base as the subcommands of `xeforge kb` use it."""

from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated
from typing import TypeAlias

import typer

from xeforge.domain.device import Device

if TYPE_CHECKING:
    from knowledge.recipes import KnowledgeBase

KbOption: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option("--kb", metavar="DIR", help="Folder with packs of your own; may be repeated."),
]


def open_base(folders: list[Path] | None) -> "KnowledgeBase":
    """Return our packs with those of the folders."""
    from knowledge.packs import load_base

    return load_base(*(each.resolve() for each in folders or ()))


def open_devices(base: "KnowledgeBase") -> dict[str, Device]:
    """Return all devices with the rules of this base, a user's own included."""
    from knowledge.load import read_devices
    from knowledge.load import with_rules

    return {name: with_rules(each, base.rulings) for name, each in read_devices().items()}
